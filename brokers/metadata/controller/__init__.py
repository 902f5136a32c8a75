"""The controller (Kafka's QuorumController): an image and a command to the records that change the image.

- `controller`: hands each command to its rule; `active_controller`: decides ahead of the disk, tells what is committed
- `broker_heartbeats`: when each broker was heard of last (BrokerHeartbeatManager)
- `config_changes`, `documents`, `producer_ids`: rules that no other package has
"""
