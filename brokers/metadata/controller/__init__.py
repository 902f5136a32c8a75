"""The controller (Kafka's QuorumController): an image and a command to the records that change the image.

- `controller`: passes each command to its rule; `active_controller`: decides before the disk has written, and reports
  results once they are committed
- `broker_heartbeat_manager`: the brokers' sessions
- `configuration_control`, `producer_id_control`: rules as in Kafka's managers of these names
- `operation_log`: what was changed at whose request; `operation_descriptions`: what it says of each command
- `document_control`: the rule for documents, opaque records that links keep in the metadata log
"""
