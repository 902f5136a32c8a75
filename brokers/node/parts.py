"""Every part of a node, made in the order of what each one uses.

Each part gets what it uses by its constructor. Where two parts use each other the later one is reached through a method
of `Parts`, which is the host that the earlier one was given. Nothing is set after construction.
"""

from collections.abc import Callable, Sequence
from uuid import UUID

from brokers.config.broker_config import BrokerConfig
from brokers.continuations import Continuations
from brokers.coordinator.coordinators import Coordinators
from brokers.coordinator.partition_writer import PartitionWriter
from brokers.coordinator.runtime import CoordinatorRuntime
from brokers.effects import Effect, RemoveStrays
from brokers.groups.config import group_config
from brokers.groups.group_coordinator import GroupCoordinator
from brokers.ids import OFFSETS_TOPIC, BrokerId, Instant, Ticket
from brokers.membership.controlled_shutdown import ControlledShutdown
from brokers.membership.controller_channel import ControllerChannel
from brokers.membership.forwarding import ForwardingManager
from brokers.membership.log_dirs import OwnDirectories
from brokers.membership.operation_recorder import OperationRecorder
from brokers.metadata.log.effects import MetadataEffect
from brokers.metadata.log.raft_manager import RaftManager
from brokers.node.broker_lifecycle import BrokerLifecycle
from brokers.node.broker_probes import BrokerProbes
from brokers.node.controller_registration import ControllerRegistration
from brokers.node.local_controller import ControllerHandlers, LocalController
from brokers.node.log_cleaner import LogCleaner
from brokers.node.log_dir_assignments import LogDirAssignments
from brokers.node.log_dir_moves import LogDirMoves
from brokers.node.log_dir_space import LogDirSpace
from brokers.node.log_maintenance import LogMaintenance
from brokers.node.metadata_publisher import MetadataPublisher
from brokers.node.own_registration import OwnRegistration
from brokers.node.region_member import LoneNode, OneOfSeveral, RegionMember
from brokers.node.region_port import LocalRegionView, RegionPort
from brokers.node.replica_lifecycle import ReplicaLifecycle
from brokers.node.replication_host import ReplicationHost
from brokers.partition.held_writes import HeldWrites
from brokers.partition.hosted_partitions import HostedPartitions
from brokers.ports import LogLevels, Rng
from brokers.purgatory import Purgatory
from brokers.replication.replica_manager import ReplicaManager
from brokers.replication.settings import settings_of
from brokers.timers import Timers


class Parts:
    """`Broker` routes events to them; telemetry reads them. No part knows all the others."""

    def __init__(
        self,
        config: BrokerConfig,
        cluster_id: str,
        rng: Rng,
        *,
        log_dirs: OwnDirectories,
        previous_broker_epoch: int,
        handlers: Callable[[], ControllerHandlers],
        log_levels: LogLevels | None = None,
    ) -> None:
        """`handlers` answer requests of this node to itself as the active controller."""
        self.config = config
        self.log_dirs = log_dirs
        self.log_levels = log_levels
        self.timers = Timers()
        self.continuations = Continuations()
        self.purgatory = Purgatory(self.timers)
        self.raft = RaftManager(
            config, cluster_id, rng, directory=log_dirs.metadata, log_dirs=log_dirs.online
        )
        self.partitions = HostedPartitions(self.raft)
        self.held_writes = HeldWrites(self.purgatory, self.continuations.abandoned)
        self.log_dir_space = LogDirSpace(config, log_dirs, self.continuations, self.timers)
        self._make_controller(handlers)
        self._make_coordinators(rng)
        self._make_replication()
        incarnation = None if config.is_alone else UUID(bytes=rng.randbytes(16), version=4)
        self._make_replicas(incarnation)
        self.member = self._make_member(incarnation, previous_broker_epoch)

    def _make_controller(self, handlers: Callable[[], ControllerHandlers]) -> None:
        self.controller = LocalController(
            self.config,
            self.raft,
            self.continuations,
            publish=self._publish,
            when_settled=lambda act, now: self.replicas.when_settled(act, now),
            handlers=handlers,
        )
        self.channel = ControllerChannel(self.controller, self.timers)
        self.forwarding = ForwardingManager(self.controller, self.channel, self.timers)
        self.recorder = OperationRecorder(self.raft, self.forwarding, self.timers)
        self.probes = BrokerProbes(self.raft, self.controller, self.continuations, self.timers)

    def _make_coordinators(self, rng: Rng) -> None:
        self.groups = CoordinatorRuntime(
            OFFSETS_TOPIC,
            GroupCoordinator(rng, group_config(self.config)),
            self.partitions,
            self.continuations,
            PartitionWriter(self.partitions),
        )
        self.coordinators = Coordinators(self.config.node_id, (self.groups,))
        self.maintenance = LogMaintenance(self.config, self.partitions, self.raft, self.timers)
        self.region_port = RegionPort(
            self.config,
            self.raft,
            self.partitions,
            self.forwarding,
            self.continuations,
            self.groups,
            self.timers,
            self.maintenance,
            self.log_dirs,
            self.held_writes,
        )
        self.view = LocalRegionView(
            self.config,
            self.raft,
            self.partitions,
            self.groups.coordinator,
            self.maintenance,
            self.log_dirs,
            lambda: self.registration,
        )

    def _make_replication(self) -> None:
        host = ReplicationHost(
            self.config,
            self.raft,
            self.partitions,
            self.channel,
            self.continuations,
            self.timers,
            self.log_dirs,
        )
        advanced = self.region_port.advanced
        self.replication = ReplicaManager(host, settings_of(self.config), advanced)
        self.shutdown = ControlledShutdown(
            self.partitions.all, self.timers, self.continuations.abandoned
        )
        self.cleaner = LogCleaner(
            self.config,
            self.raft,
            self.partitions,
            self.timers,
            self.maintenance.marker_hold,
        )

    def _make_replicas(self, incarnation: UUID | None) -> None:
        self.registration = OwnRegistration(self.config, self.raft, incarnation)
        self.log_dir_assignments = LogDirAssignments(
            self.config,
            self.log_dirs,
            self.registration,
            self.channel,
            self.timers,
            lambda now: self.member.log_dir_failed(now),
        )
        self.log_dir_moves = LogDirMoves(
            self.raft,
            self.partitions,
            self.log_dirs,
            self.log_dir_assignments,
            self.timers,
            node_id=self.config.node_id,
        )
        self.replicas = ReplicaLifecycle(
            self.config,
            self.registration,
            self.partitions,
            self.replication,
            self.log_dirs,
            self.log_dir_assignments,
            self.timers,
            self.coordinators.went_offline,
        )
        self.publisher = MetadataPublisher(
            self.raft,
            self.replicas,
            self.replication,
            self.coordinators,
            self.continuations,
            self,
        )

    def _make_member(self, incarnation: UUID | None, previous_broker_epoch: int) -> RegionMember:
        if incarnation is None:
            return LoneNode(self.config, self.log_dirs, self.registration, self.channel, self)
        lifecycle = BrokerLifecycle(
            self.config,
            self.raft,
            self.controller,
            self.channel,
            self.timers,
            log_dirs=self.log_dirs,
            shutdown=self.shutdown,
            host=self,
            incarnation=incarnation,
            previous_broker_epoch=previous_broker_epoch,
        )
        registration = ControllerRegistration(
            self.config, incarnation, self.controller, self.channel, self.timers
        )
        return OneOfSeveral(self.raft, lifecycle, registration, self.probes, self.shutdown)

    # --- the host of parts that use later ones ---

    @property
    def is_settled(self) -> bool:
        """Whether every log is open or has failed, and every coordinator is loaded."""
        return not (self.replicas.opening or self.coordinators.is_loading)

    @property
    def decides(self) -> bool:
        """Whether commands are decided: the metadata log has been read."""
        return self.publisher.is_ready

    def strays(self) -> Effect:
        """Removes what lies in the log directories and is not held here; once the image is up to date."""
        return RemoveStrays(frozenset(self.partitions.all))

    def heartbeat_answered(self, failed: tuple[UUID, ...], now: Instant) -> None:
        """The controller has answered a heartbeat that named these failed log directories."""
        self.replication.isolation.on_heartbeat(now)
        self.log_dir_assignments.reported(failed)

    def decided(self, ticket: Ticket, result: object, now: Instant) -> list[Effect]:
        """A command is committed, or refused."""
        return self.controller.decided(ticket, result, now)

    def metadata_published(self, now: Instant) -> list[Effect]:
        """The image may have grown, or another controller be known."""
        effects = self.forwarding.progressed(now) + self.channel.progressed(now)
        self.log_dir_moves.configure(now)
        return effects + self.member.metadata_published(now)

    def heard(self, broker_id: BrokerId, ticket: Ticket, now: Instant) -> None:
        """A broker has sent a request to this node as a controller."""
        self.probes.heard(broker_id, ticket, now)

    def _publish(self, effects: Sequence[MetadataEffect], now: Instant) -> list[Effect]:
        return self.publisher.run(effects, now)
