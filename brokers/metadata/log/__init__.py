"""This node's part in the metadata log.

- `raft_manager`: quorum, image and controller behind one interface; `outcomes`: its effects beside I/O
- `raft_lifecycle`: a member of the quorum from the opening of the log until the disk refuses; `recovery`: that opening
- `metadata_loader`: committed records onto the image; `snapshot_generator`, `snapshot_pointer`: checkpoints
- `quorum_settings`: a node's settings as the quorum takes them
"""
