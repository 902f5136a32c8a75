"""A member's disk: what was written is there until the power goes, what was synced is there for good."""

import random
from uuid import UUID

from brokers.effects import (
    Append,
    LoadState,
    ReadRange,
    Roll,
    SaveEpochs,
    SaveState,
    TrimLog,
    TruncateLog,
)
from brokers.events import RangeRead, StateLoaded
from brokers.ids import METADATA_PARTITION
from brokers.log.epochs import EpochHistory
from brokers.log.log import Log
from brokers.log.segments import Segment
from brokers.quorum.ids import METADATA_TOPIC_ID
from brokers.records.batch import BatchHeader

STORAGE = (Append, LoadState, ReadRange, Roll, SaveEpochs, SaveState, TrimLog, TruncateLog)


class Disk:
    """`batches` is what a reader sees; `synced` of them survive every crash."""

    def __init__(self, directory: UUID) -> None:
        self.directory = directory
        self.start = 0
        self.batches: list[tuple[BatchHeader, bytes]] = []
        self.epochs: tuple[tuple[int, int], ...] = ()
        self.synced_offset = 0
        self.states: dict[str, bytes] = {}

    @property
    def end(self) -> int:
        return self.batches[-1][0].next_offset if self.batches else self.start

    def lose_power(self, rng: random.Random) -> None:
        """Of what was not synced, anything from nothing to all is on the disk: a prefix, as a log keeps it."""
        unsynced = sum(header.next_offset > self.synced_offset for header, _ in self.batches)
        lost = rng.randint(0, unsynced)
        if lost:
            del self.batches[-lost:]
        self.synced_offset = self.end

    def open(self) -> Log:
        history = EpochHistory(self.epochs)
        history.truncate_from_end(self.end)
        for header, _ in self.batches:
            history.assign(header.leader_epoch, header.base_offset)
        history.truncate_from_start(self.start)
        return Log(
            METADATA_PARTITION,
            METADATA_TOPIC_ID.bytes,
            segments=[Segment(self.start, size=1)],
            log_start_offset=self.start,
            log_end_offset=self.end,
            epochs=history,
        )

    def append(self, effect: Append) -> None:
        for header, buffer in zip(effect.headers, effect.buffers, strict=True):
            assert header.base_offset >= self.end, (header, self.end)
            self.batches.append((header, bytes(buffer)))

    def cut(self, offset: int) -> None:
        while self.batches and self.batches[-1][0].next_offset > offset:
            self.batches.pop()
        self.epochs = tuple(entry for entry in self.epochs if entry[1] < self.end)
        self.synced_offset = self.end

    def trim(self, offset: int) -> None:
        self.start = offset
        self.batches = [each for each in self.batches if each[0].next_offset > offset]
        self.synced_offset = max(self.synced_offset, offset)

    def read(self, effect: ReadRange) -> RangeRead:
        data, next_offset = bytearray(), effect.offset
        for header, batch in self.batches:
            is_wanted = effect.offset < header.next_offset <= effect.bound
            if is_wanted and (not data or len(data) + len(batch) <= effect.size_max):
                data += batch
                next_offset = header.next_offset
        return RangeRead(effect.ticket, effect.partition, bytes(data), next_offset)

    def load(self, effect: LoadState) -> StateLoaded:
        return StateLoaded(effect.name, self.states.get(effect.name))
