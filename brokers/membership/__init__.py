"""A node among the others of its region: cores that know nothing of the node around them.

- `broker_state`: registered, fenced, serving, leaving (the states of Kafka's BrokerLifecycleManager)
- `controller_channel`: the way to the active controller (NodeToControllerChannelManager); `encoding`: its commands
- `envelopes`: a client's request on its way to the controller, with its principal (KIP-590)
- `controlled_shutdown`: a leader stops appending before another leads
- `broker_liveness`: the active controller tells a broker that is gone from one that is slow
- `log_dirs`: this broker's log directories and what lies in them
"""
