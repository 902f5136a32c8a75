"""One partition on this node.

- `replica` (its state), `leader` (append for producers), `follower` (append what was fetched), `mirror` (append
  for a link)
- `leadership` (while this node leads), `isr_state` (in-sync set and high watermark), `remote_replica` (one follower)
- `delayed_operations` (requests that wait for the partition to move), `replica_status` (each replica for an operator)
- `held_writes` (producers' requests that may not be appended yet)
- `partition_state` (how it stands, for layers above), `mirror_status` (a mirror topic, for the link coordinator)
- `hosted_partitions` (all replicas of a node)
"""
