"""Consumer groups, Kafka's classic protocol: who is a member, who leads, and how far a group has read.

Read in this order: `states` (the state machine as tables), `requests` (what is asked and answered), `effects` (what
leaves), `membership` (a group and its members), `records` and `snapshots` (what survives, in Kafka's format), `journal`
(appends in flight), `parking` (requests that wait), `sessions` (who is alive), `rebalance` (calling members together),
`joining` and `following` (requests of members), `offsets` (committed ones), `expiry`, `deletion`, `looking` (describe
and list), `placement`, `loading` and `residence` (which groups are here), `coordinator` (routes).

Offsets change only by replaying records that have been committed; membership lives in memory and survives as of the
last generation that was assigned, as in Kafka.
"""
