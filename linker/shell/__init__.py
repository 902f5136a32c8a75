"""Everything of a link that awaits: `server` and `client` (gRPC streams), `discovery` (where a region's links are)."""
