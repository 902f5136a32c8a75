"""A second coordinator, made as CONTRIBUTING.md says; the test plays the controller and the followers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from brokers.coordinator.coordinators import Coordinators
from brokers.coordinator.effects import AppendRecords, CoordinatorEffect, CoordinatorReply
from brokers.coordinator.partition_writer import PartitionWriter
from brokers.coordinator.runtime import CoordinatorRuntime
from brokers.errors import KafkaError
from brokers.ids import Instant, Ticket
from brokers.records.raw_records import OpenedBatch, keys_and_values
from tests.unit.brokers.api.test_replicated import PARTITION, Region
from tests.unit.brokers.api.test_stranded import hear, strand


@dataclass(frozen=True)
class Counted:
    ticket: Ticket
    answer: int | KafkaError


class Counter:
    """Kafka's share and transaction coordinators in small: a count per key, changed when it is decided."""

    deadline: Instant | None = None

    def __init__(self) -> None:
        self.counts: dict[int, dict[bytes, int]] = {}
        self._loading: dict[int, dict[bytes, int]] = {}

    def add(self, ticket: Ticket, key: bytes, more: int) -> list[CoordinatorEffect]:
        """-> the new count, once it is committed."""
        counts = self.counts.get(0)
        if counts is None:
            return [CoordinatorReply(ticket, KafkaError.NOT_COORDINATOR)]
        before = counts.get(key, 0)
        count = counts[key] = before + more

        def ended(error: KafkaError, now: Instant) -> list[CoordinatorEffect]:
            if error:
                counts[key] = before
            return [CoordinatorReply(ticket, error or count)]

        return [AppendRecords(0, ((key, b"%d" % count),), ended)]

    def start_loading(self, partition: int) -> None:
        self._loading[partition] = {}

    def replay(self, partition: int, batch: OpenedBatch) -> None:
        for key, value in keys_and_values(*batch):
            assert key is not None
            assert value is not None
            self._loading[partition][key] = int(value)

    def skip(self, partition: int, why: str) -> None:
        raise AssertionError(why)

    def finish_loading(self, partition: int, now: Instant) -> Sequence[CoordinatorEffect]:
        self.counts[partition] = self._loading.pop(partition)
        return []

    def unload(self, partition: int, now: Instant) -> Sequence[CoordinatorEffect]:
        self.counts.pop(partition, None)
        self._loading.pop(partition, None)
        return []

    def on_time(self, now: Instant) -> Sequence[CoordinatorEffect]:
        return []

    def disconnected(self, tickets: Iterable[Ticket], now: Instant) -> Sequence[CoordinatorEffect]:
        return []

    def set_partition_count(self, partitions: int) -> None:
        pass

    def on_topics_deleted(self, topics: Iterable[str], now: Instant) -> Sequence[CoordinatorEffect]:
        return []


class Counting(Region):
    """The counts of the topic `t`, of whose three replicas this node leads."""

    def __init__(self, **settings: Any) -> None:
        self.counted: dict[Ticket, int | KafkaError] = {}
        super().__init__(**settings)
        self.start_counting()

    def start_counting(self) -> None:
        """Begins as a node does that has become the leader."""
        parts = self.broker.parts
        self.runtime = CoordinatorRuntime(
            "t", Counter(), parts.partitions, parts.continuations, PartitionWriter(parts.partitions)
        )
        self.coordinators = Coordinators(1, (self.runtime,))
        self.process.take(self.coordinators.opened(self.replica, self.now))

    def _take(self, effect: Any) -> bool:
        if not isinstance(effect, Counted):
            return super()._take(effect)
        assert effect.ticket not in self.counted
        self.counted[effect.ticket] = effect.answer
        return True

    def add(self, ticket: Ticket, key: bytes, more: int) -> None:
        self.runtime.on_answer(ticket, lambda answer: Counted(ticket, answer))
        effects = self.runtime.coordinator.add(ticket, key, more)
        self.process.take(self.runtime.run(effects, self.now))

    def commit(self) -> None:
        """The followers have fetched everything."""
        for broker in (2, 3):
            self.follow(broker, self.replica.log.log_end_offset)

    @property
    def counts(self) -> dict[bytes, int] | None:
        return self.runtime.coordinator.counts.get(0)


def test_what_is_decided_counts_at_once_and_is_answered_when_it_is_committed() -> None:
    node = Counting()
    node.add(1, b"k", 5)
    node.add(2, b"k", 2)
    assert (node.counts, node.counted) == ({b"k": 7}, {})
    node.commit()
    assert node.counted == {1: 5, 2: 7}


def test_a_coordinator_is_loaded_with_what_the_log_holds() -> None:
    node = Counting()
    node.add(1, b"k", 5)
    node.add(2, b"l", 1)
    node.commit()
    node.start_counting()
    assert node.counts == {b"k": 5, b"l": 1}
    node.add(3, b"k", 1)
    node.commit()
    assert node.counted[3] == 6


def test_what_the_log_refuses_is_taken_back() -> None:
    node = Counting(min_insync=2)
    node.add(1, b"k", 5)
    node.add(2, bytes(2_000_000), 1)
    assert node.counted == {2: KafkaError.MESSAGE_TOO_LARGE}
    node.place(leader=1, isr=(1,))
    node.add(3, b"k", 2)
    assert node.counted.pop(3) is KafkaError.COORDINATOR_NOT_AVAILABLE
    assert node.counts is not None
    assert node.counts[b"k"] == 5
    node.place(leader=1, isr=(1, 2, 3))
    node.add(4, b"k", 1)
    node.commit()
    assert (node.counted[1], node.counted[4]) == (5, 6)


def test_who_waits_when_the_leader_changes_is_sent_away_once() -> None:
    node = Counting()
    node.add(1, b"k", 5)
    node.process.take(node.coordinators.went_offline(PARTITION, node.now))
    assert (node.counts, node.counted) == (None, {1: KafkaError.NOT_COORDINATOR})
    node.commit()  # the log reports too late
    node.add(2, b"k", 1)
    assert node.counted == {1: KafkaError.NOT_COORDINATOR, 2: KafkaError.NOT_COORDINATOR}


def test_what_may_be_committed_though_nobody_waits_for_it_any_more_still_counts() -> None:
    node = Counting()
    node.commit()
    hear(node)
    node.add(1, b"k", 5)
    strand(node)
    assert node.counted == {1: KafkaError.NOT_COORDINATOR}, "nobody knows whether it counts"
    hear(node)
    node.commit()
    node.add(2, b"k", 1)
    node.commit()
    assert node.counted[2] == 6
