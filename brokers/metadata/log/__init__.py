"""This node's replica of the metadata log.

- `raft_manager`: quorum, image and controller behind one interface; `effects`: its events, and its effects beside I/O
- `raft_lifecycle`: the Raft node, from the opening of the log until the disk fails; `recovery`: opening the log
- `metadata_loader`: applies committed records to the image; `snapshot_generator`, `snapshot_pointer`: snapshots
- `voter_operations`: what the operator log gets of changes of the voters
- `quorum_config`: a node's configuration as a member of the quorum
"""
