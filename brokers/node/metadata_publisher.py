"""What the metadata log decided, put in force on this node (Kafka's BrokerMetadataPublisher)."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from brokers.continuations import Continuations
from brokers.coordinator.coordinators import Coordinators
from brokers.effects import Ask, Effect
from brokers.events import Answered
from brokers.ids import Instant, Ticket
from brokers.metadata.controller.active_controller import CommandCompleted
from brokers.metadata.image.image import Image, ImageDelta
from brokers.metadata.log.effects import MetadataEffect, MetadataReady, MetadataUpdated
from brokers.metadata.log.raft_manager import RaftManager
from brokers.node.replica_lifecycle import ReplicaLifecycle
from brokers.region import ImageChanged
from brokers.replication.replica_manager import ReplicaManager

Subscriber: TypeAlias = Callable[[Image, ImageDelta], None]


class PublisherHost(Protocol):
    """What the publisher reports to."""

    def decided(self, ticket: Ticket, result: object, now: Instant) -> list[Effect]:
        """A command is committed, or refused."""

    def metadata_published(self, now: Instant) -> list[Effect]:
        """The image may have grown, or another controller be known."""


class MetadataPublisher:
    """`run` performs the effects of `RaftManager`; `is_ready` once commands are decided."""

    def __init__(
        self,
        raft: RaftManager,
        replicas: ReplicaLifecycle,
        replication: ReplicaManager,
        coordinators: Coordinators,
        continuations: Continuations,
        host: PublisherHost,
    ) -> None:
        self.is_ready = False
        self._raft = raft
        self._replicas = replicas
        self._replication = replication
        self._coordinators = coordinators
        self._continuations = continuations
        self._host = host
        self._subscribers: list[Subscriber] = []

    def subscribe(self, subscriber: Subscriber) -> None:
        """`subscriber` is called with each change of the image, before this node follows it."""
        self._subscribers.append(subscriber)

    def run(self, published: Sequence[MetadataEffect], now: Instant) -> list[Effect]:
        effects: list[Effect] = []
        for effect in published:
            match effect:
                case CommandCompleted(ticket, result):
                    effects += self._host.decided(ticket, result, now)
                case MetadataUpdated(delta):
                    effects += self._follow(delta, now)
                case MetadataReady():
                    self.is_ready = True
                case Ask(ticket):
                    self._continuations.on_peer(ticket, self._on_answer)
                    effects.append(effect)
                case _:
                    effects.append(effect)
        return effects + self._host.metadata_published(now)

    def _on_answer(self, answered: Answered, now: Instant) -> list[Effect]:
        return self.run(self._raft.on_answer(answered, now), now)

    def _follow(self, delta: ImageDelta, now: Instant) -> list[Effect]:
        image = self._raft.image
        self._coordinators.configure(image)
        for subscriber in self._subscribers:
            subscriber(image, delta)
        effects = self._replicas.follow(delta, now)
        effects += self._replication.apply_delta(delta, now)
        effects += self._coordinators.follow(image, delta, now)
        return [*effects, ImageChanged(delta)]
