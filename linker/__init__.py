"""Between regions: cluster links, which keep mirror topics equal to their source, byte for byte, offset for offset.

A link promises P2 (same bytes, same offsets), P4 (nobody else writes), P6 (group offsets never point past the mirror's
data) and P8 (every hole is in the ledger). It sees a region through `brokers.region` only. Lowest layer first:

- `config`: a link's configuration; `config_values`: what each setting may be
- `filters`: which names it copies; `empty_filters`: those that copy none; `name_patterns`: which names there may
  be, and which ones an operator means
- `errors`: the errors that operators see; `protocol_versions`: of the link protocol
- `offset_bounds`: how a partition stands at its source
- `frames`, `hold_frames`, `reversal_frames`: messages of the stream between two regions
- `records/`: documents in the metadata log
- `commands`: what operators ask; `answers`: what they are told
- `coordinator_election`: which broker coordinates links; `region_client`: how links ask their own region;
  `node_limits`: what the settings of a node allow them; `peer_limits`: and those who reach its listeners
- `gathering`, `joint_proposals`: changes that are proposed together; `window_budget`: how far windows of streams grow;
  `watch_quotas`: what other regions have a node follow
- `sliced_work`: work that takes long, done in slices; `containment`: what may raise without ending the node
- `events`: the events and effects of the linker
- `data/`: one partition, from the source's log into the mirror's
- `control/`: one link: its connection, its mirror topics and their failover, its groups; and the source's side of it
- `administration/`: carries out what operators ask
- `linker`: routes events to them
- `wire/`: protobuf, in and out (`wire/v1` is generated); `shell/`: gRPC, HTTP and discovery, which do I/O
"""
