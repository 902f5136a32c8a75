"""A host for the group coordinator: a log that is written when asked to, a clock that moves when asked to.

It keeps accounts: every ticket is answered once at most, and nothing is appended for nothing.
"""

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from brokers.coordinator.effects import AppendRecords, CoordinatorReply
from brokers.effects import Changed
from brokers.errors import KafkaError
from brokers.groups.config import GroupCoordinatorConfig
from brokers.groups.group_coordinator import GroupCoordinator
from brokers.ids import OffsetAndMetadata, TopicPartition
from brokers.records.batch import HEADER_SIZE
from brokers.records.builder import NewRecord, build_batch
from brokers.records.raw_records import OpenedBatch
from brokers.region import GroupOffsetsChanged

START = 1_700_000_000_000
STEPS_MAX = 10_000  # more timers than this at one instant means that one feeds itself


class CountingRng:
    """GroupMember ids that a reader can tell apart: 1, 2, 3 ..."""

    def __init__(self) -> None:
        self._count = 0

    def random(self) -> float:
        return 0.5

    def randbytes(self, n: int) -> bytes:
        self._count += 1
        return self._count.to_bytes(n, "big")

    def randrange(self, start: int, stop: int) -> int:
        return start


class Stored(NamedTuple):
    """A record of the log, as the coordinator reads it."""

    key: bytes
    value: bytes | None


def opened(records: Iterable[tuple[bytes, bytes | None]]) -> OpenedBatch:
    """These records as a batch of the log."""
    made = [NewRecord(key, value) for key, value in records]
    if not made:
        return OpenedBatch(b"", 0)
    return OpenedBatch(bytes(build_batch(made, timestamp=START)[HEADER_SIZE:]), len(made))


def offsets_by_group(
    coordinator: GroupCoordinator,
) -> dict[str, dict[TopicPartition, OffsetAndMetadata]]:
    groups = coordinator.groups_with_offsets()
    return {group: coordinator.committed_offsets(group) for group in groups}


class World:
    """One coordinator with all partitions of `__consumer_offsets` loaded."""

    def __init__(
        self, config: GroupCoordinatorConfig | None = None, *, loaded: bool = True
    ) -> None:
        self.config = config or GroupCoordinatorConfig(
            initial_rebalance_delay_ms=0, offsets_partitions=3
        )
        self.now = START
        self.rng = CountingRng()
        self.log: dict[int, list[Stored]] = {
            partition: [] for partition in range(self.config.offsets_partitions)
        }
        self.in_flight: deque[AppendRecords] = deque()
        self.answers: dict[int, object] = {}
        self.asked: dict[int, object] = {}
        self.gone: set[int] = set()
        self.told: list[object] = []  # every effect, in order
        self.coordinator = GroupCoordinator(self.rng, self.config)
        self._last_ticket = 0
        if loaded:
            self.load()

    def load(self) -> None:
        for partition, records in self.log.items():
            self.load_partition(partition, records)

    def load_partition(self, partition: int, records: Iterable[Stored]) -> None:
        self.coordinator.start_loading(partition)
        self.coordinator.replay(partition, opened(records))
        self.perform(self.coordinator.finish_loading(partition, self.now))

    def ticket(self, asked: object) -> int:
        self._last_ticket += 1
        self.asked[self._last_ticket] = asked
        return self._last_ticket

    def perform(self, effects: list[object]) -> list[object]:
        for effect in effects:
            match effect:
                case CoordinatorReply(ticket, response):
                    assert ticket in self.asked, f"nobody asked {ticket}"
                    assert ticket not in self.answers, f"{ticket} answered twice"
                    if ticket not in self.gone:  # what waited for the log is answered all the same
                        self.answers[ticket] = response
                case AppendRecords():
                    assert effect.records, "an append of nothing"
                    self.in_flight.append(effect)
                case GroupOffsetsChanged() | Changed():
                    pass
                case _:
                    raise AssertionError(effect)
        self.told += effects
        return effects

    def ask(self, method: str, request: object) -> int:
        """One of the coordinator's (ticket, request, now) methods; the ticket."""
        ticket = self.ticket(request)
        self.perform(getattr(self.coordinator, method)(ticket, request, self.now))
        return ticket

    def answer(self, method: str, request: object) -> object:
        """The answer to a request, with all it appends written; None while it waits."""
        ticket = self.ask(method, request)
        self.write_all()
        return self.answers.get(ticket)

    # --- the log ---

    def write(self) -> list[object]:
        """The oldest append is committed."""
        append = self.in_flight.popleft()
        self.log[append.partition] += [Stored(*record) for record in append.records]
        return self.perform(append.callback(KafkaError.NONE, self.now))

    def lose(self, error: KafkaError = KafkaError.COORDINATOR_NOT_AVAILABLE) -> list[object]:
        """The oldest append fails."""
        append = self.in_flight.popleft()
        return self.perform(append.callback(error, self.now))

    def write_all(self) -> None:
        while self.in_flight:
            self.write()

    # --- the clock ---

    def settle(self) -> None:
        """Fire what is due now."""
        for _ in range(STEPS_MAX):
            due = self.coordinator.deadline
            if due is None or due > self.now:
                return
            self.perform(self.coordinator.on_time(self.now))
        raise AssertionError("timers that feed themselves")

    def wait(self, milliseconds: int) -> None:
        """Time passes, deadline by deadline."""
        until = self.now + milliseconds
        for _ in range(STEPS_MAX):
            due = self.coordinator.deadline
            if due is None or due > until:
                self.now = until
                return
            self.now = max(due, self.now)
            self.perform(self.coordinator.on_time(self.now))
        raise AssertionError("timers that feed themselves")

    # --- failures ---

    def disconnect(self, *tickets: int) -> None:
        self.gone.update(ticket for ticket in tickets if ticket not in self.answers)
        self.perform(self.coordinator.disconnected(tickets, self.now))

    def unload(self, partition: int) -> list[object]:
        """Another node leads the partition: its appends end too."""
        effects = self.perform(self.coordinator.unload(partition, self.now))
        lost = [append for append in self.in_flight if append.partition == partition]
        for append in lost:
            self.in_flight.remove(append)
            effects += self.perform(append.callback(KafkaError.NOT_COORDINATOR, self.now))
        return effects

    def restart(self) -> None:
        """A crash: what was not written is lost, and so is everyone's connection."""
        self.in_flight.clear()
        self.gone.update(ticket for ticket in self.asked if ticket not in self.answers)
        self.coordinator = GroupCoordinator(self.rng, self.config)
        self.load()
