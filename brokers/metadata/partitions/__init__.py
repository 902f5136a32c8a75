"""Rules about the state of a partition (Kafka's PartitionChangeBuilder, LeaderElection and ReplicaPlacer).

- `partition_changes`: all that follows when replicas, in-sync sets or brokers change; `elections`: who leads
- `observer_promotion`; `replica_rules`: what settings say of replicas; `replica_placer`: on which brokers they lie
- `new_partitions`: partitions at their beginning
"""
