"""The files of one log directory around its logs.

`checkpoint_files`: the formats of Kafka's small text files. `log_dir_checkpoints`: the offset checkpoints, each an
`offset_checkpoint`, and the clean-shutdown marker. `periodic_checkpoint`: those that another thread writes. `folders`:
the folder of a partition. `strays`: folders of partitions that are not assigned to the node any more. `removals`: what
is removed some time after its deletion. `state_files`: files that are replaced as a whole, such as the quorum's state.
"""
