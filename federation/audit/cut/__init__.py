"""Which offsets an audit compares.

`listed_offsets` asks a live region (ListOffsets), `cut` takes the bounds of both sides of each partition, `lag` says
how far a mirror was behind at the cut.
"""
