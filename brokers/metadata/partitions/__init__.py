"""Rules about the state of a partition (Kafka's PartitionChangeBuilder, LeaderElection and ReplicaPlacer).

- `partition_changes`: completes a change of replicas, in-sync sets or brokers; `leader_elector`: elects leaders
- `observer_promotion`; `replica_rules`: a topic's configuration for replicas; `replica_placer`: brokers for replicas
- `new_partitions`: the records of new partitions
"""
