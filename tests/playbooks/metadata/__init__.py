"""The metadata plane on a disk that can fail and crash: events in, effects out."""
