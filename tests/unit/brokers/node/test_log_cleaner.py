"""Which logs the cleaner takes, and what it makes of the results."""

from dataclasses import replace
from typing import Any

from brokers.compaction import CleaningStats
from brokers.config.broker_config import BrokerConfig, from_settings
from brokers.effects import Changed, CleanLog, ExpectCleaning
from brokers.events import LogCleaned, RecordsCompacted, SegmentsCleaned
from brokers.ids import TopicPartition
from brokers.log.config import LogConfig
from brokers.log.log import Log
from brokers.log.retention_hold import MarkerHold
from brokers.log.segments import Segment
from brokers.metadata.image.image import Image
from brokers.node.log_cleaner import LogCleaner
from brokers.node.log_maintenance import KEEP_NONE
from brokers.partition.hosted_partitions import HostedPartitions
from brokers.partition.replica import Replica
from brokers.timers import Timers

NOW = 1_700_000_000_000
BACKOFF = 15_000


class Metadata:
    """The image alone."""

    def __init__(self) -> None:
        self.image = Image("region")


class Node:
    """A cleaner with logs of 100 bytes a segment."""

    def __init__(self, **settings: object) -> None:
        named = {key.replace("_", "."): value for key, value in settings.items()}
        base: dict[str, Any] = {"node.id": 1, "log.dirs": "d", "listeners": "PLAINTEXT://h:1"}
        self.config: BrokerConfig = from_settings(base | named)
        self.metadata = Metadata()
        self.partitions = HostedPartitions(self.metadata)
        self.timers = Timers()
        self.held = KEEP_NONE
        self.cleaner = LogCleaner(
            self.config, self.metadata, self.partitions, self.timers, lambda _: self.held
        )
        self.cleaner.start(NOW)

    def hold(
        self,
        name: str,
        *,
        clean: int,
        dirty: int,
        config: LogConfig | None = None,
        writer: str | None = None,
    ) -> Replica:
        partition = TopicPartition(name, 0)
        replica = Replica(
            partition, topic_id=bytes(16), leader_epoch=0, writer=writer,
            config=config or LogConfig(compact=True),
        )  # fmt: skip
        count = clean + dirty + 1
        replica.log = Log(
            partition,
            bytes(16),
            segments=[Segment(10 * each, 100, NOW, NOW, True) for each in range(count)],
            log_start_offset=0,
            log_end_offset=10 * count,
            cleaner_offset=10 * clean,
        )
        replica.high_watermark = 10 * count
        self.partitions.all[partition] = replica
        return replica

    def tick(self, now: int) -> list[Any]:
        return [effect for act in self.timers.due(now) for effect in act(now)]


def names(effects: list[Any]) -> list[str]:
    return [each.partition.topic for each in effects if isinstance(each, CleanLog)]


def test_the_dirtiest_log_is_cleaned_first_and_the_next_one_when_it_is_done() -> None:
    node = Node()
    node.hold("half", clean=5, dirty=6)
    node.hold("dirtiest", clean=1, dirty=9)
    node.hold("clean", clean=9, dirty=1)
    node.hold("deleted", clean=0, dirty=9, config=LogConfig())
    assert node.tick(NOW + BACKOFF - 1) == []
    (effect,) = node.tick(NOW + BACKOFF)
    assert isinstance(effect, CleanLog) and effect.partition.topic == "dirtiest"
    assert (effect.first_dirty_offset, effect.bound) == (10, 100)
    assert node.tick(NOW + 2 * BACKOFF) == []  # there is one thread
    done = LogCleaned(effect.partition, 100, stats=CleaningStats(bytes_read=7))
    assert names(node.cleaner.cleaned(done, NOW + 2 * BACKOFF + 1)) == ["half"]
    assert node.partitions.all[effect.partition].require_log().cleaner_offset == 100
    metrics = node.cleaner.metrics
    assert (metrics.last.bytes_read, metrics.max_clean_time_ms) == (7, BACKOFF + 1)


def test_several_threads_share_memory_and_rate() -> None:
    node = Node(log_cleaner_threads=2)
    for name in ("a", "b", "c"):
        node.hold(name, clean=0, dirty=3)
    effects = node.tick(NOW + BACKOFF)
    assert names(effects) == ["a", "b"]
    assert {each.limits.map_bytes for each in effects} == {64 << 20}


def test_dynamic_settings_count_from_the_next_check_on() -> None:
    node = Node()
    node.hold("a", clean=0, dirty=3)
    node.hold("b", clean=0, dirty=3)
    configs = node.metadata.image.configs
    configs[(4, "")] = {"log.cleaner.threads": "2", "log.cleaner.io.max.bytes.per.second": "1000.5"}
    effects = node.tick(NOW + BACKOFF)
    assert names(effects) == ["a", "b"]
    assert effects[0].limits.bytes_per_second == 500.25


def test_a_damaged_log_is_left_alone_and_the_others_are_cleaned() -> None:
    node = Node()
    node.hold("a", clean=0, dirty=9)
    node.hold("b", clean=1, dirty=3)
    (effect,) = node.tick(NOW + BACKOFF)
    failed = LogCleaned(effect.partition, None, "the checksum is wrong", is_final=True)
    effects = node.cleaner.cleaned(failed, NOW + BACKOFF)
    assert effects[0] == Changed("partition a-0", "uncleanable", "the checksum is wrong")
    assert names(effects) == ["b"]
    assert node.cleaner.uncleanable == {effect.partition: "the checksum is wrong"}
    node.cleaner.cleaned(LogCleaned(TopicPartition("b", 0), 40), NOW + BACKOFF)
    assert node.tick(NOW + 9 * BACKOFF) == []
    node.cleaner.forget(effect.partition)  # opened again, perhaps repaired
    assert names(node.tick(NOW + 10 * BACKOFF)) == ["a"]


def test_a_full_disk_is_said_once_and_tried_again() -> None:
    node = Node()
    node.hold("a", clean=0, dirty=9)
    for turn in range(1, 4):
        (effect,) = node.tick(NOW + turn * BACKOFF)
        failed = LogCleaned(effect.partition, None, "the disk is full")
        said = node.cleaner.cleaned(failed, NOW + turn * BACKOFF)
        what = [Changed("partition a-0", "not cleaned for now", "the disk is full")]
        assert said == (what if turn == 1 else [])


def test_a_cleaning_that_got_nowhere_waits_for_the_next_check() -> None:
    node = Node()
    node.hold("a", clean=0, dirty=9)
    (effect,) = node.tick(NOW + BACKOFF)
    assert node.cleaner.cleaned(LogCleaned(effect.partition, 0), NOW + BACKOFF) == []
    assert names(node.tick(NOW + 2 * BACKOFF)) == ["a"]


def test_a_cleaning_is_expected_until_the_check_after_the_next_one() -> None:
    node = Node()
    node.hold("near", clean=3, dirty=1)
    node.hold("far", clean=4, dirty=1)
    expected = [ExpectCleaning(2 * BACKOFF)]
    assert [node.tick(NOW + turn * BACKOFF) for turn in (1, 2)] == [expected, expected]
    node.hold("due", clean=1, dirty=3)
    (effect,) = node.tick(NOW + 3 * BACKOFF)
    assert isinstance(effect, CleanLog)
    assert node.tick(NOW + 4 * BACKOFF) == []  # its process waits when it is done
    done = LogCleaned(effect.partition, 40)
    assert node.cleaner.cleaned(done, NOW + 5 * BACKOFF) == expected
    del node.partitions.all[TopicPartition("near", 0)]
    assert node.tick(NOW + 5 * BACKOFF) == []


def test_results_of_a_log_that_is_gone_change_nothing() -> None:
    node = Node()
    replica = node.hold("a", clean=0, dirty=9)
    (effect,) = node.tick(NOW + BACKOFF)
    node.cleaner.forget(effect.partition)
    replica.log = None
    swapped = SegmentsCleaned(effect.partition, 0, 90, 5, NOW)
    assert node.cleaner.segments_cleaned(swapped, NOW) == []
    assert node.cleaner.records_compacted(RecordsCompacted(effect.partition, 90), NOW) == []
    assert node.cleaner.cleaned(LogCleaned(effect.partition, 90), NOW) == []


def test_segments_and_retention_follow_a_cleaning() -> None:
    node = Node()
    config = replace(LogConfig(compact=True), retention_bytes=150)
    replica = node.hold("a", clean=0, dirty=9, config=config)
    node.cleaner.segments_cleaned(SegmentsCleaned(replica.partition, 0, 90, 60, NOW), NOW)
    log = replica.require_log()
    assert [(each.base_offset, each.size) for each in log.segments] == [(0, 60), (90, 100)]
    assert (
        log.retention(NOW, config, 100) is None
    )  # 10 bytes too many, and the first segment has 60


def test_a_node_that_says_so_cleans_nothing() -> None:
    node = Node(log_cleaner_enable=False)
    node.hold("a", clean=0, dirty=9)
    assert node.tick(NOW + 99 * BACKOFF) == []


def test_a_mirror_is_cleaned_as_its_source_is_and_markers_are_kept_for_mirrors() -> None:
    node = Node()
    node.held = MarkerHold(40, 5)
    node.hold("mirror", clean=0, dirty=9, writer="link")
    (effect,) = node.tick(NOW + BACKOFF)
    assert isinstance(effect, CleanLog) and effect.partition.topic == "mirror"
    assert (effect.keep_markers_from, effect.keep_markers_ms) == (40, 5)
