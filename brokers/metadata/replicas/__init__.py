"""Rules about replicas (Kafka's ReplicationControlManager).

- `alter_partition`: in-sync sets; `leader_elections` (ElectLeaders), `reassignments` (KIP-455)
- `directory_assignments` (KIP-858); `internal_topics`: the coordinators' topics get more replicas with more brokers
"""
