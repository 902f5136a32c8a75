"""The parts of a node that need no disk, around a `RaftManager` of the test's own."""

from collections.abc import Callable, Sequence
from typing import Any, cast

from brokers.config.broker_config import BrokerConfig
from brokers.continuations import Continuations
from brokers.coordinator.partition_writer import PartitionWriter
from brokers.coordinator.runtime import CoordinatorRuntime
from brokers.effects import Effect
from brokers.events import Listener, Request
from brokers.groups.group_coordinator import GroupCoordinator
from brokers.ids import OFFSETS_TOPIC, UNASSIGNED_DIRECTORY, BrokerId, Instant, Ticket
from brokers.membership.controlled_shutdown import ControlledShutdown
from brokers.membership.controller_channel import ControllerChannel
from brokers.membership.forwarding import ForwardingManager
from brokers.membership.log_dirs import OwnDirectories, OwnDirectory
from brokers.membership.operation_recorder import OperationRecorder
from brokers.metadata.image.image import Image
from brokers.metadata.log.effects import MetadataEffect
from brokers.metadata.log.raft_manager import RaftManager
from brokers.node.local_controller import LocalController
from brokers.node.parts import Parts
from brokers.node.request_handlers import RequestHandlers
from brokers.partition.held_writes import HeldWrites
from brokers.partition.hosted_partitions import HostedPartitions
from brokers.ports import LogLevels
from brokers.purgatory import Purgatory
from brokers.replication.replica_manager import ReplicaManager
from brokers.timers import Timers

Publish = Callable[[Sequence[MetadataEffect], Instant], list[Effect]]


class Wiring:
    """Has the attributes of `Parts` that request handlers use; `heard_from` keeps what `heard` was called with."""

    def __init__(
        self,
        config: BrokerConfig,
        raft: Any,
        *,
        publish: Publish = lambda effects, now: [],
        log_dirs: OwnDirectories | None = None,
        log_levels: LogLevels | None = None,
    ) -> None:
        self.config = config
        self.log_levels = log_levels
        self.raft = cast(RaftManager, raft)
        self.timers = Timers()
        self.continuations = Continuations()
        self.purgatory = Purgatory(self.timers)
        self.held_writes = HeldWrites(self.purgatory, self.continuations.abandoned)
        self.partitions = HostedPartitions(self.raft)
        only = OwnDirectory(config.directories[0], UNASSIGNED_DIRECTORY)
        self.log_dirs = log_dirs or OwnDirectories((only,), UNASSIGNED_DIRECTORY)
        self.controller = LocalController(
            config,
            self.raft,
            self.continuations,
            publish=publish,
            when_settled=lambda act, now: act(now),
            handlers=lambda: self.handlers,
        )
        self.channel = ControllerChannel(self.controller, self.timers)
        self.forwarding = ForwardingManager(self.controller, self.channel, self.timers)
        self.recorder = OperationRecorder(self.raft, self.forwarding, self.timers)
        self.shutdown = ControlledShutdown(
            self.partitions.all, self.timers, self.continuations.abandoned
        )
        self.replication = cast(ReplicaManager, None)
        self.heard_from: list[tuple[BrokerId, Ticket]] = []
        self.with_groups(cast(GroupCoordinator, None), PartitionWriter(self.partitions))

    def with_groups(
        self, coordinator: GroupCoordinator, writer: PartitionWriter
    ) -> CoordinatorRuntime[GroupCoordinator]:
        """Handlers of group requests use this coordinator."""
        self.groups = CoordinatorRuntime(
            OFFSETS_TOPIC, coordinator, self.partitions, self.continuations, writer
        )
        self.handlers = RequestHandlers(cast(Parts, self))
        return self.groups

    @property
    def image(self) -> Image:
        return self.raft.image

    def heard(self, broker_id: BrokerId, ticket: Ticket, now: Instant) -> None:
        self.heard_from.append((broker_id, ticket))

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        """Where a broker's listener does not serve the request, the controller's does."""
        by_listener = self.handlers.by_listener
        data, controller = by_listener[Listener.DATA], by_listener[Listener.CONTROLLER]
        if request.listener is Listener.DATA and request.api_key in data:
            return data[request.api_key](request, now)
        return controller[request.api_key](request, now)
