"""The documents of links, mirrors, holes and unfenced topics in the metadata log; the states of links and mirrors.

- `link_state`, `link_secret`, `mirror_state`, `hole_ledger`, `decision`, `unfenced_topic`; `documents`: their encoding
"""
