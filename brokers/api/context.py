"""What a handler may touch, and how it waits.

A handler that cannot answer at once leaves a continuation: for a ticket it gave to an effect, for what another node
answers, for a decision of the controller, for an offset of a partition, or for an instant. A continuation returns
effects like a handler does.
"""

from collections.abc import Callable
from dataclasses import InitVar, dataclass, field
from functools import partial
from typing import Any, TypeAlias
from uuid import UUID

from brokers.config.broker_config import BrokerConfig
from brokers.effects import Ask, Effect, RemoveStrays, Reply
from brokers.errors import KafkaError, Refusal
from brokers.events import Answered, LogAnswer
from brokers.groups.effects import GroupEffect, GroupReply
from brokers.groups.group_coordinator import GroupCoordinator
from brokers.ids import (
    MIGRATING_DIRECTORY,
    BrokerId,
    Instant,
    Offset,
    Peer,
    Ticket,
    TopicPartition,
)
from brokers.membership.controlled_shutdown import ControlledShutdown
from brokers.membership.controller_channel import PATIENCE_MS, ControllerChannel
from brokers.membership.log_dirs import OwnDirectories, OwnDirectory
from brokers.metadata.commands.commands import Command
from brokers.metadata.image.image import Image, ImageDelta
from brokers.metadata.log.effects import MetadataEffect
from brokers.metadata.log.raft_manager import RaftManager
from brokers.partition.replica import Replica
from brokers.purgatory import Purgatory
from brokers.replication.replication import Replication
from brokers.replication.settings import settings_of
from brokers.timers import Act, Timers

Then: TypeAlias = Callable[[Any, Instant], list[Effect]]
OnRead: TypeAlias = Callable[[LogAnswer, Instant], list[Effect]]
OnAnswer: TypeAlias = Callable[[Answered, Instant], list[Effect]]


def reply_to(ticket: Ticket) -> Then:
    """A continuation that answers a request."""
    return lambda message, now: [Reply(ticket, message)]


def single(config: BrokerConfig, directory: UUID) -> OwnDirectories:
    """Of a node with one directory; nobody need know which."""
    return OwnDirectories((OwnDirectory(config.directories[0], directory),), directory)


@dataclass(slots=True)
class Context:
    """The cores of one node, and the continuations that wait on them."""

    config: BrokerConfig
    cluster_id: str
    plane: RaftManager
    groups: GroupCoordinator
    run_groups: Callable[[list[GroupEffect], Instant], list[Effect]]
    run_plane: Callable[[list[MetadataEffect], Instant], list[Effect]]
    own_directories: InitVar[OwnDirectories | None] = None
    partitions: dict[TopicPartition, Replica] = field(default_factory=dict)
    timers: Timers = field(default_factory=Timers)
    answered: dict[Ticket, OnRead] = field(default_factory=dict)
    asked: dict[Ticket, OnAnswer] = field(default_factory=dict)
    decided: dict[Ticket, Then] = field(default_factory=dict)
    groups_waiting: dict[Ticket, Callable[[Any], Any]] = field(default_factory=dict)
    abandoned: dict[Ticket, Callable[[], None]] = field(default_factory=dict)
    last_ticket: Ticket = 0
    # Who else hears of each change of the image, and does nothing about it.
    followers: list[Callable[[Image, ImageDelta], None]] = field(default_factory=list)
    # Runs an act once every log that the image asks for is open.
    settle: Callable[[Act, Instant], list[Effect]] = lambda act, now: act(now)
    # A broker has asked something of this node as a controller, by a request with this ticket.
    heard: Callable[[BrokerId, Ticket, Instant], None] = lambda broker_id, ticket, now: None
    directories: OwnDirectories = field(init=False)
    channel: ControllerChannel = field(init=False)
    replication: Replication = field(init=False)
    expiry: Purgatory = field(init=False)
    handover: ControlledShutdown = field(init=False)

    def __post_init__(self, own_directories: OwnDirectories | None) -> None:
        self.directories = own_directories or single(self.config, MIGRATING_DIRECTORY)
        self.channel = ControllerChannel(self, self.timers)
        self.expiry = Purgatory(self.timers)
        self.handover = ControlledShutdown(self.partitions, self.timers, self.abandoned)
        self.replication = Replication(self, settings_of(self.config))

    @property
    def image(self) -> Image:
        return self.plane.image

    def new_ticket(self) -> Ticket:
        """Tickets of the core's own are negative, so that they never meet a connection's."""
        self.last_ticket -= 1
        return self.last_ticket

    def propose(self, command: Command, then: Then, now: Instant) -> list[Effect]:
        """Ask the active controller, wherever it is; `then` gets its result, or the `Refusal`, once in force here."""
        return self.channel.propose(command, then, now)

    def control(
        self,
        api_key: int,
        message: object,
        then: Then,
        now: Instant,
        *,
        patience_ms: int = PATIENCE_MS,
    ) -> list[Effect]:
        """Send one of Kafka's controller requests (`channel.VERSIONS`) to the active controller, this node included.

        It is repeated until one has answered: `then` gets the response, or a `Refusal` after `patience_ms` without.
        """
        return self.channel.control(api_key, message, then, now, patience_ms=patience_ms)

    def ask(
        self,
        peer: Peer,
        channel: str,
        api_key: int,
        api_version: int,
        message: object,
        timeout_ms: int,
        then: OnAnswer,
    ) -> list[Effect]:
        """Ask another node; `then` hears the answer, or why there is none, exactly once."""
        ticket = self.new_ticket()
        self.asked[ticket] = then
        return [Ask(ticket, peer, channel, api_key, api_version, message, timeout_ms)]

    # --- what the channel to the controller needs of its node ---

    @property
    def is_active(self) -> bool:
        return self.plane.is_active

    @property
    def controller(self) -> Peer | None:
        """None also while this node is about to be the active controller itself."""
        known = self.plane.controller
        return None if known is None or known.node_id == self.config.node_id else known

    @property
    def next_offset(self) -> Offset:
        return self.plane.image.next_offset

    def serve(self, api_key: int, message: object, then: Then, now: Instant) -> list[Effect]:
        from brokers.api import versions  # gathered from handlers, which need this file

        return versions.CONTROLLER_SERVICES[api_key](self, message, then, now)

    def decide(self, command: Command, then: Then, now: Instant) -> list[Effect]:
        ticket = self.new_ticket()
        self.decided[ticket] = then
        return self.run_plane(self.plane.propose(command, ticket, now), now)

    def settled(self, then: Then, result: object, now: Instant) -> list[Effect]:
        return self.settle(partial(then, result), now)

    # --- answers ---

    def answer(self, ticket: Ticket, to_message: Callable[[Any], object]) -> None:
        """The coordinator's `GroupReply` to this ticket becomes the wire message that `to_message` makes of it."""
        self.groups_waiting[ticket] = lambda response: Reply(ticket, to_message(response))

    def answer_upwards(self, ticket: Ticket, to_event: Callable[[Any], Any]) -> None:
        """The same for an upper layer's ticket: the answer becomes one of its events."""
        self.groups_waiting[ticket] = to_event

    def replied(self, answer: GroupReply) -> list[Effect]:
        """The coordinator has answered a ticket."""
        to_effect = self.groups_waiting.pop(answer.ticket, None)
        return [] if to_effect is None else [to_effect(answer.response)]

    def client_gone(self, tickets: tuple[Ticket, ...]) -> None:
        """Nobody waits for these answers any more: what was parked for them is let go of."""
        for ticket in tickets:
            self.groups_waiting.pop(ticket, None)
            if (abandon := self.abandoned.pop(ticket, None)) is not None:
                abandon()

    def cleaned(self) -> Effect:
        """Once the image is known to be up to date: what this node held and holds no more goes."""
        return RemoveStrays(frozenset(self.partitions))

    def require_leader(self, partition: TopicPartition) -> Replica:
        """The replica that this node leads; refuses as Kafka does where it leads none."""
        replica = self.require(partition)
        replica.require_leader()
        return replica

    def require(self, partition: TopicPartition) -> Replica:
        """The replica held here; refuses as Kafka does where there is none."""
        replica = self.partitions.get(partition)
        if replica is not None:
            return replica
        topic = self.image.topics_by_name.get(partition.topic)
        if topic is None or partition.partition >= len(topic.partitions) or partition.partition < 0:
            raise Refusal(KafkaError.UNKNOWN_TOPIC_OR_PARTITION)
        raise Refusal(KafkaError.NOT_LEADER_OR_FOLLOWER)
