"""The documents of links, mirrors, holes, unfenced topics, retention holds and destinations; the states of links and
mirrors.

- `link_state`, `link_secret`, `mirror_state`, `mirror_record`, `hole_ledger`, `decision`, `unfenced_topic`,
  `retention_hold`, `destination`
- `documents`: their encoding
"""
