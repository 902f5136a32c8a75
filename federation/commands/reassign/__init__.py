"""`causeway region reassign`: the files, options and steps of `kafka-reassign-partitions`.

- `command` and `generate`: the commands; `plan`: Kafka's JSON; `checks`: the checks before a move
- `requests`: the Kafka requests to any broker; `throttles`: replication throttles (KIP-73)
- `log_dirs`: the requests about log directories (KIP-113); `log_dir_moves`: moves between log directories
"""
