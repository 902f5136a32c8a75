"""One region: a Kafka-protocol broker cluster that knows nothing of links.

Read in this order: `ids`, `errors`, `ports` (the nouns), `wire` (Kafka's bytes and messages), `records` (opaque
batches), `log` (one partition's log), `partition` (a partition by role), `metadata` (what the region agrees
on), `groups`, `api` (one file per Kafka API), `broker` (routes; owns no rule), `shell` (everything that awaits).
"""
