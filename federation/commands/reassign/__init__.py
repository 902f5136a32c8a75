"""`causeway region reassign`: the files, options and steps of `kafka-reassign-partitions`.

`command` has the commands, `plan` Kafka's JSON and what it means, `checks` what must hold before a move, `requests` the
Kafka requests to any broker, `throttles` the replication throttles (KIP-73), `log_dirs` the requests for log dirs
(KIP-113), `log_dir_moves` the moves between them.
"""
