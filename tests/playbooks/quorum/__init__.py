"""Pure cores of a whole quorum in one process, under faults that a seed decides, checked after every event."""
