"""The I/O of links, with asyncio, gRPC and HTTP.

- `streams`: open streams by number, frames out and in; `long_frames`: those that come in parts
- `options`: gRPC's settings
- `link_server`: accepts streams; `client`: opens them; `discovery`: finds a region's listeners
- `admin_server`: takes commands; `admin_forwarding`: passes them on to the link coordinator;
  `command_quotas`: how many, and how long, at a time
- `rest/`: takes the same commands over HTTP
- `administrator`: a blocking client of it, for the command line
- `older_nodes`: what a node of an earlier release means by its answers
"""
