"""Which offsets an audit compares.

`bounds` is what is known of a partition's two sides, `listed_offsets` asks a live region (ListOffsets), `ends` where
logs end and start, `sides` has the bounds of all partitions of one region, `cut` takes them of both, `lag` says how far
a mirror was behind at the cut.
"""
