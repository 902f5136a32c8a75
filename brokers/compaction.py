"""What the core of a node and the process that cleans its logs tell one another. It imports little: the process starts
for a cleaning."""

from dataclasses import dataclass
from typing import NamedTuple

from brokers.ids import Offset, ProducerId


class LastBatch(NamedTuple):
    """The last batch of an active producer: the last offset of its data, or -1 if only a marker is left."""

    producer_id: ProducerId
    last_offset: Offset
    producer_epoch: int


class CleaningLimits(NamedTuple):
    """What one cleaning may use: memory for the keys, filled up to `load_factor`, and for reads; bytes a second."""

    map_bytes: int
    load_factor: float
    io_bytes: int
    bytes_per_second: float


@dataclass(frozen=True, slots=True)
class CleaningStats:
    """What a cleaning has read once it had the keys, what it has written, and the share of the keys' memory in use."""

    bytes_read: int = 0
    bytes_written: int = 0
    records_read: int = 0
    records_written: int = 0
    records_without_key: int = 0
    map_entries: int = 0
    map_utilization: float = 0.0
