"""Composes one node of a region from its parts, and routes events to them.

- `broker`: the core of a node; routes each event to the part that owns its rule
- `broker_lifecycle` (Kafka's BrokerLifecycleManager), `controller_registration` (ControllerRegistrationManager)
- `metadata_publisher` (BrokerMetadataPublisher): what the controller decided, put in force here
- `replica_lifecycle`: which partitions this node holds (the metadata side of Kafka's ReplicaManager)
- `log_dir_assignments` (AssignmentsManager), `log_dir_moves` (ReplicaAlterLogDirsManager)
- `parts`: makes every part and gives each the ports that it uses; `request_handlers`: one line an API
- `local_controller`: this node as a controller; `own_registration`: what the image says of this process
- `region_member`: the life of a node among others, or alone; `replication_host`: what replication uses
- `log_maintenance`: retention and checkpoints by the clock (Kafka's LogManager)
- `broker_probes`: the active controller asks whether a silent broker's process is gone
- `region_port`: how upper layers in the same process use the node
"""
