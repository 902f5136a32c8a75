"""The documents of links, mirror topics and holes in the metadata log, and the states of links and mirrors as tables.

- `link_state`, `link_secret`, `mirror_state`, `hole_ledger`; `documents`: their encoding
"""
