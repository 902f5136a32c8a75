"""Rules about the nodes of a region (Kafka's ClusterControlManager).

- `broker_registration`, `controller_registration`; `broker_fencing`: heartbeats, fencing, unregistration
- `leader_and_isr_updates`: a broker's partitions when it is fenced or unfenced; `feature_control`: finalized levels
"""
