"""A node's settings.

- `broker_config`: every key with its type and default, and what follows from several of them
- `config_checks`: settings that are right one by one and wrong together
- `endpoints`: the addresses in settings; `replica_placement`: the JSON of placement constraints
"""
