"""One partition of a mirror topic, from the source's log into the mirror's.

- `replicator`: the receiving side (Kafka's fetcher of a partition); `pending`: its queue of chunks and holes
- `mirror_link`: what a replicator uses of its link
- `source_watch`: how a partition stands at its source while it is not copied
- `source_replicator`: the sending side; `subscription`: one partition of it; `fair_queue`: whose turn it is;
  `chunk_sizes`: how long chunks are; `read_ahead`: how far it reads ahead of the network
- `handshake`: the checks of both sides before anything else
- `destination_stream`: subscriptions, credit, beacons and the source's clock on one stream
- `drained_beacons`: beacons that wait until a read-only topic is committed to its end
- `credit`: how many bytes the source may send; `round_trips`: how many come in one; `byte_rate`: in a second
- `retry_backoff`: pauses between attempts
- `start_offset`: where a new mirror begins; `log_start`: the mirror's log start offset
- `truncation`: cuts what its source does not have
- `hole_finder`: the holes that it comes to; `missed_markers`: deletion markers that its source removed too early;
  `earlier_deletions`: what this region had deleted before
- `lineage`: where two leader-epoch histories agree; `common_offset`: up to where a log is its source's
- `lag`: how far the mirror is behind the source
"""
