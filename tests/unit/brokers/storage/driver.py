"""A log and its storage, driven the way a broker drives them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from brokers.compaction import CleaningLimits
from brokers.effects import (
    CleanLog,
    CloseLog,
    FindTimestamp,
    OpenLog,
    ReadRange,
    SaveBehind,
    StorageEffect,
)
from brokers.events import (
    Event,
    LogCleaned,
    LogFailed,
    LogOpened,
    RangeRead,
    RecordsCompacted,
    SegmentsCleaned,
    SegmentSealed,
    TimestampFound,
    Written,
)
from brokers.ids import Offset, TopicPartition
from brokers.log.cleanable import last_batches, log_to_clean
from brokers.log.config import LogConfig
from brokers.log.log import Log
from brokers.ports import Files
from brokers.records.batch import BatchHeader, parse_header
from brokers.records.builder import NewRecord, build_batch
from brokers.storage.cleaning.log_cleaning import LogCleaning
from brokers.storage.logs.writing import Write
from brokers.storage.storage import Storage
from tests.kernel.cleaning import MakeCleaning, cleaning_steps, digest_steps
from tests.sim.files import SimFiles

TP = TopicPartition("flights", 0)
TOPIC_ID = bytes(range(16))
NOW = 1_700_000_000_000
SMALL = LogConfig(segment_bytes=2_000)
LIMITS = CleaningLimits(1 << 20, 0.9, 1 << 16, 1e12)


def batch_at(
    offset: Offset, count: int = 1, *, timestamp: int = NOW, size: int = 10, **fields: int
) -> bytearray:
    """A batch with its final offset and leader epoch."""
    fields.setdefault("leader_epoch", 0)
    records = [NewRecord(b"%d" % number, b"v" * size) for number in range(count)]
    return build_batch(records, timestamp=timestamp, base_offset=offset, **fields)


@dataclass
class Driver:
    """One partition of one storage. `events` are those of the last call, `failure` the last `LogFailed`."""

    files: Files = field(default_factory=SimFiles)
    config: LogConfig = SMALL
    index_interval_bytes: int = 300
    file_delete_delay_ms: int = 0
    writes_behind: bool = False  # then the test says when
    limits: CleaningLimits = field(default_factory=lambda: LIMITS)
    make_cleaning: MakeCleaning = LogCleaning
    make_storage: Callable[..., Storage] = Storage

    def __post_init__(self) -> None:
        self.repairs: tuple[str, ...] = ()
        self.failure = ""
        self.start()

    def start(self) -> None:
        """What a process does: a new storage over the same disk."""
        self.storage = self.make_storage(
            self.files,
            index_interval_bytes=self.index_interval_bytes,
            file_delete_delay_ms=self.file_delete_delay_ms,
            writes_behind=self.writes_behind,
            behind_from_bytes=0,
        )
        self.open()

    def open(self, topic_id: bytes = TOPIC_ID) -> None:
        self.failure = ""
        self.perform([OpenLog(TP, topic_id)])

    def perform(self, effects: Iterable[StorageEffect]) -> list[Event]:
        events: list[Event] = []
        for effect in effects:
            events += self.storage.perform(effect, NOW)
            events += [] if self.writes_behind else self.save_behind()
        self.follow(events)
        return events

    def save_behind(self) -> list[Event]:
        """Those that wait for it."""
        events: list[Event] = []
        while self.storage.unsaved:
            partition, _ = self.storage.unsaved.popitem()
            events += self.storage.perform(SaveBehind(partition), NOW)
        return events

    def follow(self, events: list[Event]) -> None:
        """The log is told what happened to its files."""
        for event in events:
            if isinstance(event, LogOpened):
                self.log = Log.of(TP, event.log)
                self.repairs = event.repairs
            elif isinstance(event, Written):
                self.log.on_written(event.next_offset)
            elif isinstance(event, SegmentSealed):
                self.log.on_sealed(event.base_offset, event.size)
            elif isinstance(event, RecordsCompacted):
                self.log.completeness.cleaned(event.complete_from, event.markers_from, NOW)
            elif isinstance(event, SegmentsCleaned):
                self.log.on_cleaned(
                    event.base_offset, event.next_offset, event.size, event.max_timestamp
                )
            elif isinstance(event, LogCleaned) and event.next_offset is not None:
                self.log.cleaner_offset = event.next_offset
            elif isinstance(event, LogFailed):
                self.failure = event.reason

    def append(
        self,
        *batches: bytearray,
        sync: bool = False,
        behind: bool = False,
        roll_first: bool | None = None,
    ) -> list[Event]:
        headers: Sequence[BatchHeader] = [parse_header(batch) for batch in batches]
        effects = self.log.append(
            headers,
            batches,
            NOW,
            config=self.config,
            sync=sync,
            behind=behind,
            roll_first=roll_first,
        )
        return self.perform(effects)

    def append_next(self, count: int = 1, **fields: int) -> bytearray:
        batch = batch_at(self.log.log_end_offset, count, **fields)
        self.append(batch)
        return batch

    def end_write(self, write: Write) -> list[Event]:
        events = self.storage.end_write(TP, write)
        self.follow(events)
        return events

    def sync(self) -> list[Event]:
        events = [
            event for name in list(self.storage.unsynced) for event in self.storage.sync(name)
        ]
        self.follow(events)
        return events

    def close(self) -> None:
        self.perform([*self.log.on_stop(), CloseLog(TP, delete=False)])

    def digest(self) -> list[Event]:
        """Write the digests of all sealed segments that wait."""
        events = [event for found in digest_steps(self.storage, TP) for event in found]
        self.follow(events)
        return events

    def cleaning(self, config: LogConfig, now: int = NOW, **fields: int) -> CleanLog:
        """As far as the log can be compacted."""
        found = log_to_clean(self.log, config, self.log.log_end_offset, now)
        return CleanLog(
            TP,
            found.first_dirty,
            found.first_uncleanable,
            now,
            config.delete_retention_ms,
            config.segment_bytes,
            last_batches(self.log.producers),
            self.limits,
            **fields,
        )

    def clean(
        self, config: LogConfig | None = None, *, now: int = NOW, **fields: int
    ) -> list[Event]:
        """Compact the log in this thread."""
        events = self.begin_cleaning(config, now=now, **fields)
        return events + [event for found in self.cleaning_steps() for event in found]

    def begin_cleaning(
        self, config: LogConfig | None = None, *, now: int = NOW, **fields: int
    ) -> list[Event]:
        """`cleaning_steps` does the work."""
        return self.perform([self.cleaning(config or self.config, now, **fields)])

    def cleaning_steps(self) -> Iterator[list[Event]]:
        """The cleanings that wait, step by step -> the events of each step."""
        for events in cleaning_steps(self.storage, TP, self.make_cleaning):
            self.follow(events)
            yield events

    def stop(self) -> None:
        """A clean shutdown."""
        self.perform(self.log.on_stop())
        self.storage.close()

    def read(
        self,
        offset: Offset,
        bound: Offset | None = None,
        size_max: int = 1 << 20,
        *,
        at_least_one: bool = True,
    ) -> RangeRead:
        bound = self.log.written_offset if bound is None else bound
        events = self.perform([ReadRange(7, TP, offset, bound, size_max, at_least_one)])
        assert isinstance(events[0], RangeRead)
        return events[0]

    def read_all(self) -> bytes:
        """Everything from the log start to what is written, read in steps."""
        out, offset = b"", self.log.log_start_offset
        while offset < self.log.written_offset:
            found = self.read(offset)
            if found.next_offset == offset:
                break  # a hole up to the log's end
            out += bytes(found.data)
            offset = found.next_offset
        return out

    def find(self, timestamp: int, bound: Offset | None = None) -> tuple[Offset, int]:
        bound = self.log.written_offset if bound is None else bound
        events = self.perform([FindTimestamp(8, TP, timestamp, bound)])
        assert isinstance(events[0], TimestampFound)
        return events[0].offset, events[0].timestamp

    def files_in(self, suffix: str = "") -> list[str]:
        return [name for name in self.files.list(str(TP)) if name.endswith(suffix)]
