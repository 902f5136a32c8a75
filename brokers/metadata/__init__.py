"""What a region agrees on: records of one log, decided by one controller, kept by a quorum.

- `commands` (what one may ask), `controller` (decides a command as records), and the rules, a file per concern:
  `names`, `topics`, `placement`, `partitions`, `deletion`, `mirrors`, `config_changes`, `producer_ids`, `documents`,
  `registration`; `decision` is what they all produce
- `config_keys` (every topic key, and what of it is honoured), `configs` and `broker_configs` (values in force)
- `image` (the agreed state), `replay` (records onto an image: the only way it changes)
- `records` (records to bytes), `batches` (bytes to batches), `snapshot` (an image as a file), `checkpoints` (when)
- `opening` (what the disk holds), `applying` (what is committed, onto the image), `difference` (where a snapshot takes
  its place), `deciding` (the active controller, ahead of the disk), `quorum_settings`, `plane` (all of it behind one
  door, on a member of `brokers.quorum`)
"""
