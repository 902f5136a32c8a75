"""Performs `region`'s events for upper layers in the same process, and returns their answers as effects."""

from collections.abc import Callable, Mapping
from typing import Any

from brokers.api import describe_mirrors
from brokers.config.broker_config import BrokerConfig
from brokers.continuations import Continuations
from brokers.coordinator.runtime import CoordinatorRuntime
from brokers.effects import Effect, FindTimestamp, ReadRange, Reply
from brokers.errors import KafkaError
from brokers.events import Answered, LogAnswer, RangeRead, TimestampFound
from brokers.groups.group_coordinator import GroupCoordinator
from brokers.ids import (
    OFFSETS_TOPIC,
    BrokerId,
    Instant,
    LeaderEpoch,
    Offset,
    OffsetAndMetadata,
    Ticket,
    TopicPartition,
)
from brokers.membership.forwarding import ForwardingManager
from brokers.membership.log_dirs import OwnDirectories
from brokers.metadata.configs.config_keys import TOPIC_KEYS
from brokers.metadata.configs.effective_configs import topic_value, topic_values
from brokers.metadata.image.image import Image
from brokers.metadata.log.raft_manager import RaftManager
from brokers.node.group_readers import GroupReaders
from brokers.node.group_states import GroupStates
from brokers.node.log_maintenance import LogMaintenance
from brokers.node.mirror_writes import MirrorWrites
from brokers.node.offset_writes import CHANNEL, TIMEOUT_MS, OffsetWrites
from brokers.node.own_registration import OwnRegistration
from brokers.partition.held_writes import HeldWrites
from brokers.partition.hosted_partitions import HostedPartitions
from brokers.partition.replica_status import ReplicaStatus, replica_statuses
from brokers.region import (
    AnswerMirrors,
    CommitOffsets,
    DeleteOffsets,
    DescribeGroups,
    DescribeMirrors,
    FindOffset,
    FindReaders,
    HighWatermarkRead,
    HoldWrites,
    MirrorsDescribed,
    OffsetFound,
    PartitionAdvanced,
    PartitionState,
    PlaceBatches,
    Propose,
    Proposed,
    ReadToHighWatermark,
    RegionEvent,
    Retain,
    SealOrphans,
    SkipTo,
    TrimMirror,
    TruncateMirror,
    WatchRegion,
)
from brokers.timers import Timers
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.links import DescribeMirrorsRequest, DescribeMirrorsResponse


class RegionPort:
    """Owns no rule. `watched` since the first `WatchRegion`; `logs_watched` while partitions are watched too."""

    def __init__(
        self,
        config: BrokerConfig,
        raft: RaftManager,
        partitions: HostedPartitions,
        forwarding: ForwardingManager,
        continuations: Continuations,
        groups: CoordinatorRuntime[GroupCoordinator],
        timers: Timers,
        maintenance: LogMaintenance,
        log_dirs: OwnDirectories,
        held: HeldWrites,
    ) -> None:
        self._config = config
        self._held = held
        self._maintenance = maintenance
        self._raft = raft
        self._partitions = partitions
        self._forwarding = forwarding
        self._continuations = continuations
        self._offset_writes = OffsetWrites(config, raft, forwarding, continuations, groups)
        self._group_states = GroupStates(config, raft, continuations, groups)
        self._group_readers = GroupReaders(config, raft, continuations, groups)
        self._mirror_writes = MirrorWrites(config, partitions, continuations, timers, log_dirs)
        self.watched = False
        self.logs_watched = False

    def step(self, event: RegionEvent, now: Instant) -> list[Effect]:
        match event:
            case WatchRegion(logs):
                self.watched, self.logs_watched = True, logs
                self._maintenance.is_watched = True
                return []
            case PlaceBatches() | SkipTo() | TrimMirror() | TruncateMirror() | SealOrphans():
                return self._mirror_writes.perform(event, now)
            case ReadToHighWatermark():
                return self._read(event)
            case FindOffset():
                return self._find(event)
            case Propose(ticket, command):
                return [*self._forwarding.submit(command, self._proposed(ticket), now)]
            case CommitOffsets():
                return self._offset_writes.commit(event, now)
            case DeleteOffsets():
                return self._offset_writes.delete(event, now)
            case DescribeGroups():
                return self._group_states.describe(event)
            case FindReaders():
                return self._group_readers.find(event)
            case DescribeMirrors():
                return self._describe_mirrors(event, now)
            case Retain(holds):
                return self._maintenance.retain(holds, now)
            case HoldWrites(topic_ids, because):
                return self._held.hold(topic_ids, because, now)
            case AnswerMirrors(ticket, mirrors):
                return [Reply(ticket, describe_mirrors.to_response(mirrors))]

    def _proposed(self, ticket: Ticket) -> Any:
        return lambda result, now: [Proposed(ticket, result)]

    def _describe_mirrors(self, event: DescribeMirrors, now: Instant) -> list[Effect]:
        def answered(answer: Answered, at: Instant) -> list[Any]:
            response = answer.message
            mirrors = None
            if isinstance(response, DescribeMirrorsResponse) and not response.error_code:
                mirrors = describe_mirrors.from_response(response)
            return [MirrorsDescribed(event.ticket, mirrors)]

        broker = self._raft.image.brokers.get(event.broker_id)
        if broker is None:
            gone: list[Any] = [MirrorsDescribed(event.ticket, None)]
            return gone
        request = DescribeMirrorsRequest(topics=list(event.topics))
        key, version = ApiKey.DESCRIBE_MIRRORS, describe_mirrors.VERSIONS[1]
        return self._continuations.ask(
            broker.peer, CHANNEL, key, version, request, TIMEOUT_MS, answered
        )

    def _read(self, event: ReadToHighWatermark) -> list[Effect]:
        replica = self._partitions.get(event.partition)

        def answered(read: LogAnswer, now: Instant) -> list[Any]:
            assert isinstance(read, RangeRead)
            return [
                HighWatermarkRead(
                    event.ticket,
                    event.partition,
                    event.offset,
                    read.data,
                    read.next_offset,
                    read.error,
                )
            ]

        if replica is None or replica.log is None:
            error = (
                KafkaError.KAFKA_STORAGE_ERROR if replica else KafkaError.UNKNOWN_TOPIC_OR_PARTITION
            )
            return [*answered(RangeRead(0, event.partition, b"", event.offset, error), 0)]
        if not replica.log.log_start_offset <= event.offset <= replica.high_watermark:
            error = KafkaError.OFFSET_OUT_OF_RANGE
            return [*answered(RangeRead(0, event.partition, b"", event.offset, error), 0)]
        ticket = self._continuations.on_storage(answered)
        bound = replica.high_watermark
        return [
            ReadRange(
                ticket, event.partition, event.offset, bound, event.size_max, at_least_one=True
            )
        ]

    def _find(self, event: FindOffset) -> list[Effect]:
        replica = self._partitions.get(event.partition)
        if replica is None or replica.log is None:
            nothing: list[Any] = [OffsetFound(event.ticket, event.partition, -1)]
            return nothing

        def found(answer: LogAnswer, now: Instant) -> list[Any]:
            assert isinstance(answer, TimestampFound)
            return [OffsetFound(event.ticket, event.partition, answer.offset)]

        ticket = self._continuations.on_storage(found)
        return [FindTimestamp(ticket, event.partition, event.timestamp, replica.high_watermark)]

    def advanced(self, partition: TopicPartition) -> list[Effect]:
        return [PartitionAdvanced(partition)] if self.logs_watched else []


class LocalRegionView:
    """`region.RegionView` of the region that this node is part of."""

    def __init__(
        self,
        config: BrokerConfig,
        raft: RaftManager,
        partitions: HostedPartitions,
        groups: GroupCoordinator,
        maintenance: LogMaintenance,
        log_dirs: OwnDirectories,
        registration: Callable[[], OwnRegistration],
    ) -> None:
        self._config = config
        self._registration = registration
        self._maintenance = maintenance
        self._raft = raft
        self._partitions = partitions
        self._groups = groups
        self._log_dirs = log_dirs

    @property
    def image(self) -> Image:
        return self._raft.image

    @property
    def cluster_id(self) -> str:
        return self._raft.image.cluster_id

    @property
    def broker_id(self) -> BrokerId:
        return self._config.node_id

    @property
    def broker_epoch(self) -> Offset | None:
        broker = None if self._config.is_alone else self._registration().broker
        return None if broker is None else broker.broker_epoch

    def partition_state(self, partition: TopicPartition) -> PartitionState | None:
        replica = self._partitions.get(partition)
        if replica is None:
            return None
        log, leadership = replica.log, replica.leadership
        return PartitionState(
            log_start_offset=log.log_start_offset if log else -1,
            log_end_offset=log.log_end_offset if log else -1,
            high_watermark=replica.high_watermark,
            last_stable_offset=replica.last_stable_offset,
            leader_epoch=replica.leader_epoch,
            epochs=tuple(log.epochs.entries) if log else (),
            segment_bases=log.segment_bases if log else (),
            online=log is not None,
            is_leader=not replica.follows,
            is_followed=leadership is None or leadership.isr_state.is_followed,
            segment_sizes=log.segment_sizes if log else (),
            shortage=self._log_dirs.shortage(partition),
            complete_from=log.completeness.complete_from if log else 0,
            markers_from=log.completeness.markers_from if log else 0,
            markers_removed_at=log.completeness.markers_removed_at if log else -1,
            in_sync_log_start=replica.in_sync_log_start if log else 0,
        )

    def is_serving(self, partition: TopicPartition) -> bool:
        replica = self._partitions.get(partition)
        return replica is not None and replica.log is not None and not replica.follows

    def replica_statuses(
        self, partition: TopicPartition, now: Instant
    ) -> tuple[ReplicaStatus, ...] | None:
        replica, placed = self._partitions.get(partition), self.image.partition(partition)
        if replica is None or placed is None or placed.leader != self._config.node_id:
            return None
        lag_ms_max = self._config.replica_lag_time_max_ms
        return replica_statuses(replica, placed, self._is_active, lag_ms_max, now)

    def _is_active(self, broker_id: BrokerId) -> bool:
        broker = self.image.brokers.get(broker_id)
        return broker is not None and broker.is_active

    def records_were_deleted(
        self, partition: TopicPartition, base: Offset, log_start_offset: Offset
    ) -> bool:
        replica = self._partitions.get(partition)
        if replica is None or replica.log is None:
            return False
        return replica.log.records_were_deleted(base, log_start_offset)

    def bytes_between(self, partition: TopicPartition, base: Offset, end: Offset) -> int:
        replica = self._partitions.get(partition)
        if replica is None or replica.log is None:
            return -1
        return replica.log.bytes_between(base, end)

    def held_bytes(self, partition: TopicPartition) -> int:
        return self._maintenance.held_bytes_of(partition)

    def groups_with_offsets(self) -> tuple[str, ...]:
        return self._groups.groups_with_offsets()

    def group_offsets(self, group: str) -> Mapping[TopicPartition, OffsetAndMetadata]:
        return self._groups.committed_offsets(group)

    def groups_are_known(self) -> bool:
        topic = self.image.topics_by_name.get(OFFSETS_TOPIC)
        count = 0 if topic is None else len(topic.partitions)
        names = (TopicPartition(OFFSETS_TOPIC, index) for index in range(count))
        replicas = [self._partitions.get(name) for name in names]
        offline = any(
            replica is not None and not replica.follows and replica.log is None
            for replica in replicas
        )
        return not offline and not self._groups.is_loading

    def led_group_partitions(self) -> tuple[tuple[int, LeaderEpoch], ...]:
        topic = self.image.topics_by_name.get(OFFSETS_TOPIC)
        found = []
        for index in range(0 if topic is None else len(topic.partitions)):
            replica = self._partitions.get(TopicPartition(OFFSETS_TOPIC, index))
            if replica is not None and not replica.follows and replica.log is not None:
                found.append((index, replica.leader_epoch))
        return tuple(found)

    def topic_configs(self, topic: str) -> Mapping[str, str]:
        return topic_values(self.image, self._config, topic)

    def topic_config(self, topic: str, key: str) -> str:
        return topic_value(self.image, self._config, topic, TOPIC_KEYS[key])

    def active_readers(self, topic: str) -> tuple[str, ...]:
        return tuple(self._groups.active_readers((topic,))[topic])

    def group_is_active(self, group: str) -> bool:
        return self._groups.is_active(group)
