"""The documents of links, mirrors, holes and unfenced topics in the metadata log; the states of links and mirrors.

- `link_state`, `link_secret`, `mirror_state`, `mirror_record`, `hole_ledger`, `decision`, `unfenced_topic`
- `documents`: their encoding
"""
