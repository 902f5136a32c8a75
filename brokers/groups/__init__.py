"""The group coordinator, for groups of Kafka's classic protocol: members, the leader, committed offsets.

Read in this order: `group_state` (the state machine as tables), `config`, `requests` (requests and results),
`consumer_protocol` (subscribed topics), `records` (the format of `__consumer_offsets`), `committed_offsets`,
`classic_group` (a group and its members), `group_metadata_records` (a group as one record), `offset_commits`,
`offsets_partition` (a group's partition), `commit_runs`, `coordinator_loader`, `group_metadata_manager` (the groups
that this node coordinates), `group_appends` (a group's records in flight), `awaiting_members` (waiting JoinGroup and
SyncGroup), `session_timeouts`, `rebalance`, `join_group`, `member_requests` (SyncGroup, Heartbeat, LeaveGroup),
`deletion`, `describe_groups`, `offset_expiration`, `group_coordinator` (passes each request on).

Offsets change only by replaying committed records. Membership is kept in memory; after a restart a group is as of the
last generation that was assigned, as in Kafka.
"""
