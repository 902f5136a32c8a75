"""Pure cores of a whole quorum in one process, under weather that a seed decides, checked after every event."""
