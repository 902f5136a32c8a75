"""`causeway group`: consumer groups and their offsets, as `kafka-consumer-groups` does.

- `command`: list, describe and delete groups, delete offsets; `reset`: the command that moves offsets
- `strategies`: where a reset moves an offset to; `plans`: resets as CSV, in Kafka's columns
- `description`: groups with members, offsets and lag, as tables and as JSON
- `members`: groups with their members, by either protocol; `assignment`: what a member of a classic one reads
- `requests`: the other Kafka requests about groups and offsets
- `brokers`: connections to coordinators and leaders
- `options`: topics and partitions as options name them
"""
