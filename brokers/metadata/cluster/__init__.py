"""Rules about the nodes of a region (Kafka's ClusterControlManager).

- `broker_registration`, `controller_registration`; `broker_fencing`: heartbeats, fencing, unregistration
- `departures`: what a broker that comes or goes does to its partitions; `features`: finalized levels (KIP-584)
"""
