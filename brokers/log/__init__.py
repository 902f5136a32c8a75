"""One partition's log as a pure state machine; `brokers.storage` performs its effects on files.

`config`: the settings of one log. `segments`: one segment. `epochs`: leader epochs and their offsets.
`producers`: idempotent producers and their last batches. `snapshots`: the format of `.snapshot` files. `recovered`: the
result of opening a log. `log`: the log itself. `retention_hold`: what is kept for mirrors in other regions.
`cleanable`: what of a log compaction may clean. `completeness`: what a log lacks because of compaction.
"""
