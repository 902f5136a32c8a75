"""Runs a coordinator: its records go to the partitions of an internal topic, and come back when it is loaded.

The leader of a partition coordinates everything that the partition holds. A coordinator is loaded by replaying the
whole partition. What it decides are records, and its answers wait until these are committed. Loading, unloading,
appending and failures are the same for every coordinator (Kafka's coordinator-common).

A coordinator may change its state when it decides, or when the records are committed. Kafka's runtime takes a snapshot
for every append, to which it returns where the append fails. None is needed here: a batch that the log refuses is
refused before anything else is decided, so its callback takes back the change. Where a batch is in the log and may
never be committed, the partition is unloaded, and loaded again if this node leads it still.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, Protocol, TypeVar

from brokers.continuations import Continuations
from brokers.coordinator.effects import (
    AppendCallback,
    AppendRecords,
    CoordinatorEffect,
    CoordinatorReply,
)
from brokers.coordinator.load_times import LoadTimes
from brokers.coordinator.loader import CoordinatorLoader, Replayed
from brokers.coordinator.partition_writer import PartitionWriter
from brokers.effects import Effect, Reply
from brokers.errors import KafkaError, Refusal
from brokers.ids import Instant, Ticket, TopicPartition
from brokers.metadata.image.image import TopicImage
from brokers.partition.hosted_partitions import HostedPartitions
from brokers.partition.replica import Replica

_TOO_LARGE = (KafkaError.MESSAGE_TOO_LARGE, KafkaError.RECORD_LIST_TOO_LARGE)


class CoordinatorShard(Replayed, Protocol):
    """A coordinator, as its runtime uses it (Kafka's CoordinatorShard)."""

    @property
    def deadline(self) -> Instant | None:
        """When it wants `on_time`."""

    def on_time(self, now: Instant) -> Sequence[CoordinatorEffect]: ...

    def start_loading(self, partition: int) -> None:
        """The partition is being read; until `finish_loading` requests get COORDINATOR_LOAD_IN_PROGRESS."""

    def finish_loading(self, partition: int, now: Instant) -> Sequence[CoordinatorEffect]: ...

    def unload(self, partition: int, now: Instant) -> Sequence[CoordinatorEffect]:
        """The partition is coordinated elsewhere, or nowhere. The callbacks of its appends are called next."""

    def disconnected(
        self, tickets: Iterable[Ticket], now: Instant
    ) -> Sequence[CoordinatorEffect]: ...

    def set_partition_count(self, partitions: int) -> None:
        """How many partitions the coordinator's topic has."""

    def on_topics_deleted(
        self, topics: Iterable[str], now: Instant
    ) -> Sequence[CoordinatorEffect]: ...


Shard = TypeVar("Shard", bound=CoordinatorShard)


class CoordinatorRuntime(Generic[Shard]):
    """Runs one coordinator on those partitions of its topic that this node leads (Kafka's CoordinatorRuntime)."""

    def __init__(
        self,
        topic: str,
        coordinator: Shard,
        partitions: HostedPartitions,
        continuations: Continuations,
        writer: PartitionWriter,
    ) -> None:
        self.topic = topic
        self.coordinator = coordinator
        self._partitions = partitions
        self._writer = writer
        self._loader = CoordinatorLoader(continuations, coordinator, self._loaded)
        self._served: set[TopicPartition] = set()  # loaded here, or being loaded
        self._answers: dict[Ticket, Callable[[Any], Any]] = {}
        self._pending: dict[TopicPartition, deque[AppendCallback]] = {}

    # --- answers ---

    def answer(self, ticket: Ticket, to_message: Callable[[Any], object]) -> None:
        """The `CoordinatorReply` to this ticket becomes the wire message that `to_message` makes of it."""
        self._answers[ticket] = lambda response: Reply(ticket, to_message(response))

    def on_answer(self, ticket: Ticket, to_effect: Callable[[Any], Any]) -> None:
        """The `CoordinatorReply` to this ticket becomes the effect that `to_effect` makes of it."""
        self._answers[ticket] = to_effect

    def disconnected(self, tickets: Sequence[Ticket], now: Instant) -> list[Effect]:
        """The clients of these tickets are gone."""
        for ticket in tickets:
            self._answers.pop(ticket, None)
        return self.run(self.coordinator.disconnected(tickets, now), now)

    # --- effects ---

    def run(self, effects: Iterable[CoordinatorEffect], now: Instant) -> list[Effect]:
        out: list[Effect] = []
        for effect in effects:
            match effect:
                case CoordinatorReply(ticket, response):
                    to_effect = self._answers.pop(ticket, None)
                    out += [] if to_effect is None else [to_effect(response)]
                case AppendRecords():
                    out += self._append(effect, now)
                case _:
                    out.append(effect)
        return out

    def _append(self, effect: AppendRecords, now: Instant) -> list[Effect]:
        partition = TopicPartition(self.topic, effect.partition)
        pending = self._pending.setdefault(partition, deque())
        pending.append(effect.callback)

        def placed(error: KafkaError, at: Instant) -> list[Effect]:
            if self._pending.get(partition) is not pending:
                return []  # unloaded since
            if error:
                return self._reload(partition, at)
            return self.run(pending.popleft()(KafkaError.NONE, at), at)

        try:
            return self._writer.append(partition, effect.records, placed, now)
        except Refusal as refusal:
            is_too_large = refusal.error in _TOO_LARGE
            # Here, or for now: the client looks for the coordinator again.
            error = refusal.error if is_too_large else KafkaError.COORDINATOR_NOT_AVAILABLE
            return self.run(pending.pop()(error, now), now)

    def _reload(self, partition: TopicPartition, now: Instant) -> list[Effect]:
        """Records in the log may be committed though nothing waits for them any more: the log has the last word."""
        effects = self.lost(partition, now)
        replica = self._partitions.get(partition)
        return effects if replica is None else effects + self.opened(replica, now)

    # --- partitions ---

    @property
    def is_loading(self) -> bool:
        return self._loader.is_loading

    @property
    def load_times(self) -> LoadTimes:
        return self._loader.times

    def follow(self, topic: TopicImage | None, now: Instant) -> list[Effect]:
        """The leaders of the topic's partitions may have changed."""
        effects: list[Effect] = []
        for partition in () if topic is None else topic.each():
            replica = self._partitions.get(partition)
            if replica is not None and not replica.follows:
                effects += self.opened(replica, now)
            elif partition in self._served:
                effects += self.lost(partition, now)
        return effects

    def opened(self, replica: Replica, now: Instant) -> list[Effect]:
        """The log of a partition is open, and this node may lead it: it is loaded once."""
        if replica.follows or replica.log is None or replica.partition in self._served:
            return []
        self._served.add(replica.partition)
        self.coordinator.start_loading(replica.partition.partition)
        return self._loader.load(replica, now)

    def _loaded(self, partition: TopicPartition, now: Instant) -> list[Effect]:
        return self.run(self.coordinator.finish_loading(partition.partition, now), now)

    def lost(self, partition: TopicPartition, now: Instant) -> list[Effect]:
        """The log of a partition has failed, or another node leads the partition."""
        self._served.discard(partition)
        self._loader.cancel(partition)
        effects = self.run(self.coordinator.unload(partition.partition, now), now)
        for callback in self._pending.pop(partition, ()):
            effects += self.run(callback(KafkaError.NOT_COORDINATOR, now), now)
        return effects
