"""One cluster link: configuration, state, metadata, transitions.

- `link_coordinator`: a link at its destination; `connection`: the stream to the source, and how it is kept open
- `mirror_topic`: follows the source's topic; `failover`: promote and failover, up to the cut and after it
- `group_sync`: consumer-group offsets, never past the mirror's data; `group_clamp`: the same at a cut
- `source_stream`: the source's side of a link; `source_metadata`: topics and groups that it sends
- `source_probe`: who is at the other end, before a link is made
"""
