"""Rules about topics.

- `topic_creation`, `topic_deletion`, `partition_creation` (CreatePartitions)
- `mirror_topics`: topics that a link writes, their writer and their leader epochs
- `assignments`: the replicas of new partitions; `topic_names`: valid names
"""
