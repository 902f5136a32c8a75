"""`causeway lineage`: which region wrote which offsets of a topic, as a tree.

- `histories`: what the brokers of each region say; `tree`: where histories part; `lineage`: the command
"""
