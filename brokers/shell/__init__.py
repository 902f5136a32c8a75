"""Everything of a region that awaits: listener, files, clock, the node's loop, the process."""
