"""Everything of a federation that awaits or blocks.

- `node`: a region's process
- `broker_connection`: one connection to a broker, asked in Kafka's protocol
"""
