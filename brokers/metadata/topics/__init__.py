"""Rules about topics.

- `creation`, `deletion`, `partition_growth`, `mirrors` (topics that a link writes): one kind of command each
- `assignments`: the replicas of new partitions; `names`: which names are legal
"""
