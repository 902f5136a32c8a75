"""A host for the metadata plane: performs its effects on a disk in memory, one at a time, and crashes on request.

An operation in `todo` has been asked for but is not durable: a crash loses it. What was done is durable at once, which
is what the plane is promised (its appends are synced, its small files are replaced atomically).
"""

import random
from collections import deque

from brokers.config.broker_config import BrokerConfig, from_settings
from brokers.effects import (
    Append,
    LoadState,
    OpenLog,
    ReadRange,
    Roll,
    SaveEpochs,
    SaveState,
    TrimLog,
)
from brokers.events import LogFailed, LogOpened, RangeRead, StateLoaded, StateSaved, Written
from brokers.ids import METADATA_PARTITION
from brokers.log.epochs import EpochHistory
from brokers.log.recovered import RecoveredLog, RecoveredSegment
from brokers.metadata.log.raft_manager import RaftManager
from brokers.records.batch import iter_headers

STORAGE = (Append, LoadState, OpenLog, ReadRange, Roll, SaveEpochs, SaveState, TrimLog)
NOW = 1_700_000_000_000


def settings(**more: object) -> BrokerConfig:
    return from_settings({"node.id": 1, "log.dirs": "data", **more})


class Disk:
    """What survives a crash."""

    def __init__(self) -> None:
        self.start = 0
        self.batches: list[bytes] = []
        self.states: dict[str, bytes] = {}

    def headers(self):
        return [header for batch in self.batches for _, header in iter_headers(batch)]

    @property
    def end(self) -> int:
        headers = self.headers()
        return headers[-1].next_offset if headers else self.start

    def open(self) -> RecoveredLog:
        epochs = EpochHistory()
        for header in self.headers():
            epochs.assign(header.leader_epoch, header.base_offset)
        epochs.truncate_from_start(self.start)
        size = sum(map(len, self.batches))
        return RecoveredLog(
            b"\0" * 15 + b"\1",
            segments=(RecoveredSegment(self.start, size=size),),
            log_start_offset=self.start,
            log_end_offset=self.end,
            epochs=epochs.entries,
        )

    def read(self, effect: ReadRange) -> RangeRead:
        data, next_offset = b"", effect.offset
        for batch in self.batches:
            ((_, header),) = iter_headers(batch)
            fits = not data or len(data) + len(batch) <= effect.size_max
            if effect.offset < header.next_offset <= effect.bound and fits:
                data, next_offset = data + batch, header.next_offset
        return RangeRead(effect.ticket, effect.partition, data, next_offset)

    def perform(self, effect):
        """The event that reports the deed, or None."""
        match effect:
            case OpenLog(partition):
                return LogOpened(partition, self.open())
            case LoadState(name):
                return StateLoaded(name, self.states.get(name))
            case SaveState(name, None):
                self.states.pop(name, None)
                return StateSaved(name)
            case SaveState(name, data):
                self.states[name] = bytes(data)
                return StateSaved(name)
            case Append(partition, headers, buffers, sync):
                assert sync, "the metadata log is synced"
                self.batches += [bytes(buffer) for buffer in buffers]
                return Written(partition, headers[-1].next_offset)
            case ReadRange():
                return self.read(effect)
            case TrimLog(_, start):
                self.start = start
                kept = [b for b in self.batches if next(iter_headers(b))[1].next_offset > start]
                self.batches = kept
        return None


class Host:
    """One life of a node: a plane, its disk, and everything the plane said that the disk does not do."""

    def __init__(self, disk: Disk | None = None, seed: int = 1, config: BrokerConfig | None = None):
        self.disk = disk or Disk()
        self.plane = RaftManager(config or settings(), "region-one", random.Random(seed))
        self.todo: deque = deque()
        self.told: list = []
        self.now = NOW
        self.failing: str | None = None

    def take(self, effects) -> None:
        for effect in effects:
            (self.todo if isinstance(effect, STORAGE) else self.told).append(effect)

    def start(self) -> "Host":
        self.take(self.plane.on_started(self.now))
        return self.settle()

    def step(self) -> None:
        """Do the oldest thing that the disk was asked for."""
        effect = self.todo.popleft()
        if self.failing is not None:
            event = LogFailed(METADATA_PARTITION, self.failing)
        else:
            event = self.disk.perform(effect)
        if event is not None:
            self.take(self.plane.on_event(event, self.now))

    def settle(self) -> "Host":
        while self.todo:
            self.step()
        return self

    def ask(self, command, token: int = 1) -> "Host":
        self.take(self.plane.propose(command, token, self.now))
        return self

    def decide(self, command, token: int = 1):
        """The result of a command, from the proposal to its commit."""
        self.told.clear()
        self.ask(command, token).settle()
        (decided,) = [effect for effect in self.told if type(effect).__name__ == "CommandCompleted"]
        assert decided.token == token
        return decided.result

    def crash(self) -> Disk:
        """What the next life finds."""
        self.todo.clear()
        return self.disk


def contents(image) -> dict:
    """Everything that an image says, but for what the next life changes by itself (broker, leader epochs)."""
    return {
        "topics": {
            topic.name: (topic.id, len(topic.partitions), topic.writer)
            for topic in image.topics_by_id.values()
        },
        "names": sorted(image.topics_by_name),
        "metric names": dict(image.topic_names_by_metric),
        "configs": {resource: dict(settings) for resource, settings in image.configs.items()},
        "documents": dict(image.documents),
        "producer ids": image.next_producer_id,
        "operations": image.operations,
        "features": dict(image.features),
    }


def leader_epochs(image) -> dict:
    return {
        (topic.name, index): partition.leader_epoch
        for topic in image.topics_by_name.values()
        for index, partition in enumerate(topic.partitions)
    }
