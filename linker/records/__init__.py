"""What the metadata log keeps of links, mirror topics and holes; and the states of the first two, as tables.

- `link_state`, `mirror_state`, `hole_ledger`; `documents`: their encoding
"""
