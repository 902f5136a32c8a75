"""Runs a coordinator: its records go to the partitions of an internal topic, and come back when it is loaded.

The leader of a partition coordinates everything that the partition holds. A coordinator is loaded by replaying the
whole partition. What it decides are records, and its answers wait until these are committed. Loading, unloading,
appending and failures are the same for every coordinator (Kafka's coordinator-common).
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, Protocol, TypeVar

from brokers.continuations import Continuations
from brokers.coordinator.loader import CoordinatorLoader, Replayed
from brokers.coordinator.partition_writer import PartitionWriter
from brokers.effects import Effect, Reply
from brokers.errors import KafkaError, Refusal
from brokers.groups.effects import AppendRecords, GroupEffect, GroupReply, OffsetsCommitted
from brokers.ids import Instant, Ticket, TopicPartition
from brokers.metadata.image.image import TopicImage
from brokers.partition.hosted_partitions import HostedPartitions
from brokers.partition.replica import Replica
from brokers.region import GroupOffsetsChanged

_TOO_LARGE = (KafkaError.MESSAGE_TOO_LARGE, KafkaError.RECORD_LIST_TOO_LARGE)


class CoordinatorShard(Replayed, Protocol):
    """A coordinator, as its runtime uses it (Kafka's CoordinatorShard)."""

    @property
    def deadline(self) -> Instant | None:
        """When it wants `on_time`."""

    def on_time(self, now: Instant) -> Sequence[GroupEffect]: ...

    def start_loading(self, partition: int) -> None:
        """The partition is being read; until `finish_loading` requests get COORDINATOR_LOAD_IN_PROGRESS."""

    def finish_loading(self, partition: int, now: Instant) -> Sequence[GroupEffect]: ...

    def unload(self, partition: int, now: Instant) -> Sequence[GroupEffect]:
        """The partition is coordinated elsewhere, or nowhere."""

    def committed(self, token: int, now: Instant) -> Sequence[GroupEffect]:
        """The records of this `AppendRecords` are committed."""

    def append_failed(self, token: int, error: KafkaError, now: Instant) -> Sequence[GroupEffect]:
        """The records of this `AppendRecords` are not committed, and never will be."""

    def disconnected(self, tickets: Iterable[Ticket], now: Instant) -> Sequence[GroupEffect]: ...

    def set_partition_count(self, partitions: int) -> None:
        """How many partitions the coordinator's topic has."""

    def on_topics_deleted(self, topics: Iterable[str], now: Instant) -> Sequence[GroupEffect]: ...


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

    # --- answers ---

    def answer(self, ticket: Ticket, to_message: Callable[[Any], object]) -> None:
        """The coordinator's `GroupReply` to this ticket becomes the wire message that `to_message` makes of it."""
        self._answers[ticket] = lambda response: Reply(ticket, to_message(response))

    def on_answer(self, ticket: Ticket, to_effect: Callable[[Any], Any]) -> None:
        """The coordinator's `GroupReply` to this ticket becomes the effect that `to_effect` makes of it."""
        self._answers[ticket] = to_effect

    def disconnected(self, tickets: Sequence[Ticket], now: Instant) -> list[Effect]:
        """The clients of these tickets are gone."""
        for ticket in tickets:
            self._answers.pop(ticket, None)
        return self.run(self.coordinator.disconnected(tickets, now), now)

    # --- effects ---

    def run(self, effects: Iterable[GroupEffect], now: Instant) -> list[Effect]:
        out: list[Effect] = []
        for effect in effects:
            match effect:
                case GroupReply(ticket, response):
                    to_effect = self._answers.pop(ticket, None)
                    out += [] if to_effect is None else [to_effect(response)]
                case AppendRecords():
                    out += self._append(effect, now)
                case OffsetsCommitted(group, offsets):
                    out.append(GroupOffsetsChanged(group, offsets))
                case _:
                    out.append(effect)
        return out

    def _append(self, effect: AppendRecords, now: Instant) -> list[Effect]:
        def placed(error: KafkaError, at: Instant) -> list[Effect]:
            return self._placed(effect.token, error, at)

        partition = TopicPartition(self.topic, effect.offsets_partition)
        try:
            return self._writer.append(partition, effect.records, placed, now)
        except Refusal as refusal:
            return self._placed(effect.token, refusal.error, now)

    def _placed(self, token: int, error: KafkaError, now: Instant) -> list[Effect]:
        if not error:
            return self.run(self.coordinator.committed(token, now), now)
        if error not in _TOO_LARGE:
            error = KafkaError.COORDINATOR_NOT_AVAILABLE  # here, or for now: the client looks again
        return self.run(self.coordinator.append_failed(token, error, now), now)

    # --- partitions ---

    @property
    def is_loading(self) -> bool:
        return self._loader.is_loading

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
        return self.run(self.coordinator.unload(partition.partition, now), now)
