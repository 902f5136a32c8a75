"""Everything of a federation that awaits: `node`, a region's process."""
