"""One partition of a mirror topic, from the source's log into the mirror's.

- `replicator`: the receiving side (Kafka's fetcher of a partition); `pending`: what waits there for its turn
- `source_replicator`: the sending side; `handshake`: what both sides check first
- `destination_stream`: subscriptions, credit, beacons and the source's clock on one stream
- `credit`: how many bytes the source may send; `retry_backoff`: pauses between attempts
- `lineage`: where two leader-epoch histories agree; `lag`: how far it is behind
"""
