"""One region: a Kafka-protocol broker cluster that knows nothing of links.

Read in this order, in which each uses those before it: `ids`, `values` (fast dataclasses), `errors`, `config` (a
node's settings), `connection_quotas` (who may connect), `ports` (disks), `timers`, `security` (principals), `records`
(opaque batches), `wire` (Kafka's bytes and messages), `client` (one Kafka client core), `compaction` (what a node
tells the process that cleans), `effects` and `events` (what a node's core does and what happens to it),
`continuations` (what runs when an answer comes), `purgatory` (requests that wait), `internal_errors` (what is told of
an exception), `log` (one partition's log), `storage` (its files), `quorum` (Raft in Kafka's dialect), `metadata`
(what the region agrees on), `partition` (a partition by role), `membership` (a broker among the others),
`replication` (fetchers, sessions, in-sync sets), `region_groups` (what links ask about groups), `region` (all that
links see), `coordinator` (what coordinators share), `groups`, `api` (one file per Kafka API), `node` (composes a
node, routes events), `telemetry` (what Prometheus reads), `shell` (everything that awaits).
"""
