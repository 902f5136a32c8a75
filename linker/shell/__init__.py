"""The I/O of links, with asyncio and gRPC.

- `streams`: open streams by number, frames out and in; `options`: gRPC's settings
- `link_server`: accepts streams; `client`: opens them; `discovery`: finds a region's listeners
- `admin_server`: takes commands; `admin_forwarding`: passes them on to the link coordinator
- `administrator`: a blocking client of it, for the command line
"""
