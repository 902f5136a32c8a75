"""Everything of a federation that awaits or blocks.

- `node`: a region's process
- `orphan_files`: the orphan stores of its log directories, over `admin.listener`
- `broker_connection`: a blocking connection to a broker
"""
