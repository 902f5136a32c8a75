"""What a region agrees on: records of one log, decided by one controller, kept by a quorum.

- `commands`, `broker_commands`, `replica_commands` (what one may ask), `controller` (decides a command as records), and
  the rules, a file per concern; `decision` is what they all produce
  - topics: `names`, `topics`, `assignments` (how many replicas), `placement` (where), `new_partitions`, `partitions`,
    `deletion`, `mirrors`, `config_changes`, `internal_topics`, `replica_rules` (what settings say of replicas)
  - brokers: `registration`, `attendance` (heartbeats, fencing), `departures` (what that does to partitions),
    `heartbeats` (who was heard of lately: the only state besides the image)
  - `controllers` (where they are reached), `features` (levels that operators finalize)
  - partitions: `partition_changes` (all that follows from a change), `elections`, `promotion` (of observers),
    `in_sync`, `leader_elections`, `reassignments`
  - `producer_ids`, `documents`
- `config_keys` (every topic key, and what of it is honoured), `configs` and `broker_configs` (values in force)
- `image` (the agreed state), `replay` (records onto an image: the only way it changes)
- `records` (records to bytes), `partition_records`, `broker_records` (of what is in the image),
  `batches` (bytes to batches), `snapshot` (an image as a file), `checkpoints` (when)
- `opening` (what the disk holds), `applying` (what is committed, onto the image), `difference` (where a snapshot takes
  its place), `deciding` (the active controller, ahead of the disk), `quorum_settings`, `plane` (all of it behind one
  door, on a member of `brokers.quorum`)
"""
