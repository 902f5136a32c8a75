"""Composes one node of a region from its parts, and routes events to them.

- `broker`: the core of a node; routes each event to the part that owns its rule
- `broker_lifecycle` (Kafka's BrokerLifecycleManager), `controller_registration` (ControllerRegistrationManager)
- `metadata_publisher` (BrokerMetadataPublisher): what the controller decided, put in force here
- `replica_lifecycle`: which partitions this node holds (the metadata side of Kafka's ReplicaManager)
- `log_dir_assignments` (AssignmentsManager), `log_dir_moves` (ReplicaAlterLogDirsManager)
- `parts`: makes every part and gives each the ports that it uses; `request_handlers`: one line an API;
  `read_only`: those that change nothing
- `controller_router`: what only the active controller decides is handled here, or forwarded to it
- `local_controller`: this node as a controller; `own_registration`: what the image says of this process
- `region_member`: the life of a node among others, or alone; `replication_host`: what replication uses
- `log_dir_space`: the free space of the log directories, and what is refused for lack of it
- `log_cleaner`: which logs are compacted, and when; `cleaner_settings`: with what
- `log_maintenance`: retention and checkpoints by the clock (Kafka's LogManager)
- `broker_probes`: the active controller asks whether a silent broker's process is gone
- `region_port`: how upper layers in the same process use the node; `mirror_writes`: what links write through it;
  `offset_writes`: the group offsets that they write and delete; `group_states`: which groups have members;
  `group_readers`: which of them read a topic

How a CreateTopics request reaches its decision, in six steps:

1. `brokers.shell.connection` makes a `Request` of the bytes.
2. `broker` looks its handler up, by listener and API key.
3. `controller_router` handles it here where this node is the active controller. Else `brokers.membership.forwarding`
   puts it into an Envelope for the node that is, where `brokers.api.envelope` takes it out and goes on with step 4.
4. `brokers.api.create_topics` makes a command of it.
5. `local_controller` keeps the continuation for the result.
6. `brokers.metadata.log.raft_manager` lets `brokers.metadata.controller` decide, which applies the rule
   (`brokers.metadata.topics.topic_creation`), and appends the records to the metadata log.

And back: once they are committed and this node's logs are open `metadata_publisher` reports the result to
`local_controller`, the handler makes the response, and the connection, or the Envelope, carries it. The node that
forwarded the request passes the response on once its own image has the records and its own logs are open.
"""
