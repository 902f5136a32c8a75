"""What the host of the storage is to do later."""

from collections.abc import Callable
from dataclasses import dataclass, field

from brokers.effects import Append, CleanLog
from brokers.events import Event
from brokers.ids import TopicPartition
from brokers.storage.directories.removals import DelayedRemoval
from brokers.storage.logs.syncing import SyncTarget


@dataclass(frozen=True, slots=True)
class PendingWork:
    """The partitions that wait for a sync, a write, a digest, a cleaning or a `SaveBehind`, what is to be removed
    after a delay, and the checkpoints that any thread is to write.

    The directories of a node share one.
    """

    unsynced: dict[TopicPartition, SyncTarget] = field(default_factory=dict)
    unwritten: dict[TopicPartition, list[Append]] = field(default_factory=dict)
    undigested: dict[TopicPartition, None] = field(default_factory=dict)
    uncleaned: dict[TopicPartition, CleanLog] = field(default_factory=dict)
    unsaved: dict[TopicPartition, None] = field(default_factory=dict)
    discarded: list[DelayedRemoval] = field(default_factory=list)
    checkpoints: list[Callable[[], list[Event]]] = field(default_factory=list)
