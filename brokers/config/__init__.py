"""A node's settings.

- `broker_config`: every key with its type and default, and what follows from several of them
- `quorum_settings`, `group_settings`, `log_settings`: those of the quorum, of groups, and defaults of topics;
  `log_cleaner_settings`: those of compaction
- `listener_settings`: the keys of a node's listeners; `listeners`: a listener's name, security protocol and addresses
- `link_limits`: what links may take of a node; `peer_limits`: what peers may ask of it at once
- `operation_settings`: those of the operator log, and of topics that clients create by asking for them
- `disk_settings`, `disk_watermarks`: how much of a disk is kept free
- `config_checks`: checks across settings; `listener_checks`: those of listeners
- `given_settings`: from what a file gives to the fields; `kafka_keys`: Kafka's keys that are no fields, and with
  `key_reasons` why
- `properties`: Kafka's `server.properties`; `typed_settings`: its texts as values; `config_providers`: values that
  stand elsewhere
- `endpoints`: the other addresses in settings; `replica_placement`: the JSON of placement constraints
"""
