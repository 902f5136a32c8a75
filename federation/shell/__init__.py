"""Everything of a federation that awaits or blocks.

- `node`: a region's process
- `broker_connection`: a blocking connection to a broker
"""
