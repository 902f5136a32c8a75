"""Everything of a federation that awaits or blocks.

- `node`: a region's process; `limits`: what its settings allow peers
- `link_metrics`: the metrics of its links
- `orphan_files`: the orphan stores of its log directories, over `admin.listener`
- `broker_connection`: a blocking connection to a broker
"""
