"""All regions: the command line, and the proof that the promises hold.

Read in this order: `promises` (the guarantees), `node` (a node: a broker and a linker), `cli` and `commands` (the
command line), `local` (a federation on one machine), `demo` (two regions and a failover), `audit` (compares the stored
data of two regions), `shell` (everything that awaits).
"""
