"""One cluster link: configuration, state, metadata, transitions.

- `link_coordinator`: a link at its destination; makes the parts below and passes on what happens
- `link_settings`: its record and configuration; `connection`: the stream to the source, and how it is kept open
- `mirror_topics`: its mirrors as the metadata log has them; `mirror_topic`: one, following the source's topic
- `failover`: promote and failover of a mirror topic, up to the cut and after it; `failover_phases`: their phases
- `mirror_cut`: where a mirror topic is cut; `mirror_refusals`: why its state is not changed
- `group_sync`: consumer-group offsets, never past the mirror's data; `group_clamp`: the same at a cut
- `hole_policy`: whether a mirror skips what its source deleted too early, pauses, or fails
- `ledger_retention`: how long the hole ledger outlives its topics
- `source_topics`: which topics the source is asked about; `source_probe`: who it is, before a link is made
- `source_stream`: the source's side of a link; `source_metadata`: the topics and groups that it sends
"""
