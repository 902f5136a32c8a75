"""The controller's commands, by subject; `->` in a docstring names the result of a command.

- `topic_commands`, `mirror_commands`, `config_commands`, `broker_commands`, `replica_commands`
- `producer_id_commands`; `document_commands`: opaque records that links keep in the metadata log
- `operation_commands`: what the operator log gets of a change that is made beside the controller
- `commands`: the union of them; `controller_result`: the records and the response that a rule returns for a command
"""
