"""A client of Kafka's protocol without its socket, for nodes, links and commands.

- `connection`: one connection: requests to bytes, bytes to responses; it begins with ApiVersions (KIP-35)
- `api_versions`: the APIs that a broker serves, and the highest common version of each
- `response_buffer`: received bytes to whole frames
- `frame_memory`: the memory of big ones
"""
