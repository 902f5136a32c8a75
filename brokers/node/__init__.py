"""Composes one node of a region from its parts, and routes events to them.

- `broker`: the core of a node; makes every part and gives each the ports that it uses
- `broker_lifecycle` (Kafka's BrokerLifecycleManager), `controller_registration` (ControllerRegistrationManager)
- `metadata_publisher` (BrokerMetadataPublisher): what the controller decided, put in force here
- `replica_lifecycle`: which partitions this node holds (the metadata side of Kafka's ReplicaManager)
- `log_dir_assignments` (AssignmentsManager), `log_dir_moves` (ReplicaAlterLogDirsManager)
- `group_log`: the group coordinator's records in `__consumer_offsets`
- `log_maintenance`: retention and checkpoints by the clock (Kafka's LogManager)
- `broker_probes`: the active controller asks whether a silent broker's process is gone
- `region_port`: how upper layers in the same process use the node
"""
