"""A node among the others of its region: cores that know nothing of the node around them.

- `broker_state`: registered, fenced, serving, leaving (the states of Kafka's BrokerLifecycleManager)
- `controller_channel`: this node's own requests to the active controller (NodeToControllerChannelManager)
- `forwarding`: clients' requests and submitted commands, forwarded to it (ForwardingManager, KIP-590)
- `envelopes`: a forwarded request as bytes, with its principal
- `operation_recorder`: entries of the operator log for what this broker does itself
- `controlled_shutdown`: a leader stops appending before another leads
- `broker_liveness`: the active controller tells a broker that is gone from one that is slow
- `log_dirs`: this broker's log directories and what lies in them
"""
