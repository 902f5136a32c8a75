"""Rules about replicas (Kafka's ReplicationControlManager).

- `in_sync` (AlterPartition), `leader_elections` (ElectLeaders), `reassignments` (KIP-455)
- `directory_assignments` (KIP-858); `internal_topics`: the coordinators' topics grow with the region
"""
