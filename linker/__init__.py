"""Between regions: cluster links, which keep mirror topics equal to their source, byte for byte, offset for offset.

A link promises P2 (same bytes, same offsets), P4 (nobody else writes), P6 (group offsets never point past the mirror's
data) and P8 (every hole is in the ledger). It sees a region through `brokers.region` only. Lowest layer first:

- `config`: a link's configuration; `filters`: which names it takes along; `errors`: the errors that operators know
- `frames`: what travels on the stream between two regions; `records/`: what the metadata log keeps of links
- `commands`: what operators ask, and the answers; `region_client`: how links ask the region that they live in
- `events`: everything that enters and leaves the linker
- `data/`: one partition, from the source's log into the mirror's
- `control/`: one link: its connection, its mirror topics and their failover, its groups; and the source's side of it
- `administration/`: carries out what operators ask
- `linker`: routes events to them, owns no rule
- `wire/`: protobuf, in and out (`wire/v1` is generated); `shell/`: everything that awaits: gRPC, discovery
"""
