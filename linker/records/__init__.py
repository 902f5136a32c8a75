"""The documents of links, mirrors, holes, unfenced topics and retention holds; the states of links and mirrors.

- `link_state`, `link_secret`, `mirror_state`, `mirror_record`, `hole_ledger`, `decision`, `unfenced_topic`,
  `retention_hold`
- `documents`: their encoding
"""
