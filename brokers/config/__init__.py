"""A node's settings.

- `broker_config`: every key with its type and default, and what follows from several of them
- `listener_settings`: the keys of a node's listeners; `listeners`: a listener's name, security protocol and addresses
- `config_checks`: checks across settings; `listener_checks`: those of listeners
- `endpoints`: the other addresses in settings; `replica_placement`: the JSON of placement constraints
"""
