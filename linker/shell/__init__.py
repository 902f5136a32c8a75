"""The I/O of links, with asyncio and gRPC.

- `streams`: open streams by number, frames out and in; `options`: gRPC's settings, the same at both ends
- `server`: accepts streams and administration; `client`: opens streams; `discovery`: finds a region's `admin.listener`
- `administrator`: a blocking client of a region's administration, for commands
"""
