"""The documents of links, mirrors, holes, unfenced topics, retention holds, destinations and topics to stop; the states
of links and mirrors.

- `link_state`, `link_secret`, `mirror_state`, `mirror_record`, `mirror_removal`, `hole_ledger`, `decision`,
  `unfenced_topic`, `retention_hold`, `destination`, `stop_list`
- `documents`: their encoding
"""
