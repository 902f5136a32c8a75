"""A client of Kafka's protocol without its socket: whatever asks a broker, this one's nodes included, is built on it.

- `connection`: one connection: requests become bytes, bytes become responses; ApiVersions comes first (KIP-35)
- `api_versions`: what a broker serves, and the version of each API that both sides know
- `response_buffer`: received bytes become whole frames
"""
