"""Kafka's gauges of compaction, as a node finds logs, cleans them, and stops at a damaged one."""

from brokers.ids import TopicPartition
from brokers.records.builder import NewRecord, build_batch
from brokers.storage.storage import Storage
from tests.kernel.cleaning import cleaning_steps, digest_steps
from tests.sim.files import SimFiles
from tests.unit.brokers.telemetry.counted import Counted
from tests.unit.brokers.telemetry.test_traffic import put

BACKOFF_MS = 15_000
CLEANER = "kafka_log_logcleaner_"
MANAGER = "kafka_log_logcleanermanager_"
LOG_DIR = {"logDirectory": "data"}
PARTITION = TopicPartition("t", 0)


class Compacting(Counted):
    """A node with one compacted topic, and room for some thousand keys."""

    def __init__(self, ratio: str = "0.9") -> None:
        super().__init__(log_cleaner_dedupe_buffer_size=1 << 20)
        self.create(
            "t",
            cleanup_policy="compact",
            segment_bytes="1048576",
            max_compaction_lag_ms="60000",
            min_cleanable_dirty_ratio=ratio,
        )

    @property
    def disk(self) -> SimFiles:
        assert isinstance(self.storage, Storage) and isinstance(self.storage.files, SimFiles)
        return self.storage.files

    def write(self, *keys: int, bytes_each: int = 400) -> None:
        records = [NewRecord(b"%d" % key, bytes(bytes_each)) for key in keys]
        put(self, build_batch(records, timestamp=self.now))

    def fill_a_segment(self) -> None:
        """Of 2,000 keys, each twice."""
        for first in [*range(0, 2_000, 500)] * 2:
            self.write(*range(first, first + 500))
        self.write(*range(2_500, 3_000))
        for events in digest_steps(self.storage, PARTITION):
            for event in events:
                self.feed(event)

    def clean(self, takes_ms: int = 0) -> None:
        """What waits is cleaned, and takes so long."""
        assert PARTITION in self.storage.uncleaned
        for events in cleaning_steps(self.storage, PARTITION):
            self.now += takes_ms
            for event in events:
                self.feed(event)
            takes_ms = 0


def test_what_a_cleaning_read_wrote_and_took() -> None:
    node = Compacting()
    names = ("cleaner_recopy_percent", "max_buffer_utilization_percent", "max_clean_time_secs")
    assert [node.value(CLEANER + name) for name in names] == [0, 0, 0]
    node.fill_a_segment()
    node.wait(BACKOFF_MS)
    assert node.value(MANAGER + "max_dirty_percent") == 100
    assert node.value(MANAGER + "time_since_last_run_ms") == 0
    node.clean(takes_ms=7_500)
    recopied, used, took = [node.value(CLEANER + name) for name in names]
    assert (recopied, used, took) == (80, 2, 7)  # a fifth of the records was old
    assert node.value(MANAGER + "time_since_last_run_ms") == 7_500
    node.wait(BACKOFF_MS)
    assert node.value(MANAGER + "max_dirty_percent") == 0


def test_how_long_a_record_waits_beyond_its_time() -> None:
    node = Compacting(ratio="1.0")
    node.fill_a_segment()
    node.wait(BACKOFF_MS)
    assert node.value(CLEANER + "max_compaction_delay_secs") == 0
    node.wait(100_000)
    assert node.value(CLEANER + "max_compaction_delay_secs") == 55
    node.clean()
    node.wait(BACKOFF_MS)
    assert node.value(CLEANER + "max_compaction_delay_secs") == 0


def test_a_damaged_log_is_counted_with_its_bytes() -> None:
    node = Compacting()
    node.fill_a_segment()
    assert node.value(MANAGER + "uncleanable_partitions_count", **LOG_DIR) == 0
    assert node.value(MANAGER + "uncleanable_bytes", **LOG_DIR) == 0
    node.disk.damage(f"t-0/{0:020d}.log", 99, b"?")
    node.wait(BACKOFF_MS)
    node.clean()
    assert node.value(MANAGER + "uncleanable_partitions_count", **LOG_DIR) == 1
    size = node.disk.size(f"t-0/{0:020d}.log")
    assert node.value(MANAGER + "uncleanable_bytes", **LOG_DIR) == size > 0
