"""The group coordinator of one node: passes each request to the module that handles it.

Nothing here waits. Records leave as `AppendRecords`; the reply follows when the callback of that append is called.
"""

from collections.abc import Iterable, Mapping, Sequence

from brokers.coordinator.effects import AppendCallback, CoordinatorEffect, CoordinatorReply
from brokers.errors import KafkaError, Refusal
from brokers.groups import deletion, describe_groups, offset_commits
from brokers.groups.classic_group import ClassicGroup
from brokers.groups.config import GroupCoordinatorConfig
from brokers.groups.group_appends import GroupAppends
from brokers.groups.group_metadata_manager import GroupMetadataManager
from brokers.groups.group_state import GroupState
from brokers.groups.join_group import MemberJoins
from brokers.groups.member_requests import MemberRequestHandler
from brokers.groups.offset_expiration import OffsetExpiration
from brokers.groups.rebalance import Rebalance
from brokers.groups.requests import (
    CommitRequest,
    CommitResult,
    DeleteOffsetsResult,
    GroupDescription,
    HeartbeatRequest,
    HeartbeatResult,
    JoinRequest,
    JoinResult,
    LeaveRequest,
    LeaveResult,
    LinkCommitResult,
    ListGroupsResult,
    OffsetFetchResult,
    SyncRequest,
    SyncResult,
)
from brokers.ids import Instant, OffsetAndMetadata, Ticket, TopicPartition
from brokers.ports import Rng
from brokers.records.raw_records import OpenedBatch
from brokers.region import GroupOffsetsChanged
from brokers.timers import Timers


class GroupCoordinator:
    """Kafka's GroupCoordinator, for the groups of the partitions of `__consumer_offsets` that are loaded here."""

    def __init__(self, rng: Rng, config: GroupCoordinatorConfig) -> None:
        self._config = config
        self._timers = Timers()
        self._manager = GroupMetadataManager(config.offsets_partitions)
        self._appends = GroupAppends(self._manager)
        self._rebalance = Rebalance(config, self._timers, self._appends)
        self._join_group = MemberJoins(config, rng, self._timers, self._appends, self._rebalance)
        self._member_requests = MemberRequestHandler(self._timers, self._rebalance)
        self._offset_expiration = OffsetExpiration(
            config, self._timers, self._appends, self._manager
        )

    # --- timers and clients ---

    @property
    def deadline(self) -> Instant | None:
        return self._timers.deadline

    def on_time(self, now: Instant) -> list[CoordinatorEffect]:
        effects: list[CoordinatorEffect] = []
        for act in self._timers.due(now):
            effects += act(now)
        return effects

    def disconnected(self, tickets: Iterable[Ticket], now: Instant) -> list[CoordinatorEffect]:
        """The clients of these tickets have disconnected. Tickets without a waiting request are ignored."""
        effects: list[CoordinatorEffect] = []
        for ticket in tickets:
            effects += self._rebalance.disconnected(ticket, now)
        return effects

    # --- members ---

    def join(self, ticket: Ticket, request: JoinRequest, now: Instant) -> list[CoordinatorEffect]:
        """-> `JoinResult` when the group's next generation begins, or at once for an error."""
        group: ClassicGroup | None = None
        try:
            group = self._group_to_join(request)
            effects = self._join_group.join(ticket, group, request, now)
        except Refusal as refusal:
            answer = JoinResult(error=refusal.error, member_id=request.member_id)
            effects = [CoordinatorReply(ticket, answer)]
        self._manager.remove_if_unused(group)
        return effects

    def _group_to_join(self, request: JoinRequest) -> ClassicGroup:
        self._manager.require_coordinator(request.group, is_member=True)
        self._join_group.check(request)
        group = self._manager.groups.get(request.group)
        if group is None:
            if request.member_id:
                raise Refusal(KafkaError.UNKNOWN_MEMBER_ID)
            group = self._manager.create(request.group)
        return group

    def sync(self, ticket: Ticket, request: SyncRequest, now: Instant) -> list[CoordinatorEffect]:
        """-> `SyncResult` once the leader's assignment is committed."""
        try:
            group = self._members_group(request.group)
            return self._member_requests.sync(ticket, group, request, now)
        except Refusal as refusal:
            return [CoordinatorReply(ticket, SyncResult(error=refusal.error))]

    def heartbeat(
        self, ticket: Ticket, request: HeartbeatRequest, now: Instant
    ) -> list[CoordinatorEffect]:
        """-> `HeartbeatResult`, at once."""
        try:
            group = self._members_group(request.group)
            return self._member_requests.heartbeat(ticket, group, request, now)
        except Refusal as refusal:
            # While the group is being loaded the member may be a valid one: as in Kafka, no error makes it rejoin.
            is_loading = refusal.error is KafkaError.COORDINATOR_LOAD_IN_PROGRESS
            error = KafkaError.NONE if is_loading else refusal.error
            return [CoordinatorReply(ticket, HeartbeatResult(error))]

    def leave(self, ticket: Ticket, request: LeaveRequest, now: Instant) -> list[CoordinatorEffect]:
        """-> `LeaveResult`, at once."""
        try:
            group = self._members_group(request.group)
            effects = self._member_requests.leave(ticket, group, request, now)
            self._manager.remove_if_unused(group)
            return effects
        except Refusal as refusal:
            return [CoordinatorReply(ticket, LeaveResult(refusal.error))]

    def _members_group(self, group_id: str) -> ClassicGroup:
        return self._manager.require(group_id, KafkaError.UNKNOWN_MEMBER_ID, is_member=True)

    # --- offsets ---

    def commit(
        self, ticket: Ticket, request: CommitRequest, now: Instant
    ) -> list[CoordinatorEffect]:
        """-> `CommitResult` once the offsets are committed; GROUP_ID_NOT_FOUND for a generation of an unknown group."""
        errors = offset_commits.commit_errors(request, self._config)
        try:
            group = self._group_to_commit(request)
            if error := offset_commits.validate_commit(group, request):
                raise Refusal(error)
        except Refusal as refusal:
            return [CoordinatorReply(ticket, CommitResult(dict.fromkeys(errors, refusal.error)))]
        if (member := group.members.get(request.member_id)) is not None:
            self._rebalance.sessions.restart(group, member, now)
        accepted = {name: request.offsets[name] for name, error in errors.items() if not error}
        if not accepted:
            self._manager.remove_if_unused(group)
            return [CoordinatorReply(ticket, CommitResult(errors))]
        records = offset_commits.commit_records(group.id, accepted, request.retention_ms, now)
        return self._appends.append(group, records, _committed(ticket, errors))

    def offset_reset(self, request: CommitRequest) -> dict[TopicPartition, str]:
        """How an administrator's commit moves offsets, as far as one can be told; empty for other commits."""
        group = self._manager.groups.get(request.group)
        return {} if group is None else offset_commits.reset_of(group, request)

    def _group_to_commit(self, request: CommitRequest) -> ClassicGroup:
        self._manager.require_coordinator(request.group)
        group = self._manager.groups.get(request.group)
        if group is None:
            if request.generation >= 0:
                raise Refusal(KafkaError.GROUP_ID_NOT_FOUND)
            group = self._manager.create(request.group)
        return group

    def commit_from_link(
        self,
        ticket: Ticket,
        group_id: str,
        committed: Mapping[TopicPartition, OffsetAndMetadata],
        now: Instant,
    ) -> list[CoordinatorEffect]:
        """-> `LinkCommitResult` for all offsets together; NON_EMPTY_GROUP where the group has members here."""
        try:
            self._manager.require_coordinator(group_id)
            if self.is_active(group_id):
                raise Refusal(KafkaError.NON_EMPTY_GROUP)
            if not all(map(offset_commits.fits_record, committed.values())):
                raise Refusal(KafkaError.OFFSET_METADATA_TOO_LARGE)
        except Refusal as refusal:
            return [CoordinatorReply(ticket, LinkCommitResult(refusal.error))]
        if not committed:
            return [CoordinatorReply(ticket, LinkCommitResult(KafkaError.NONE))]
        group = self._manager.groups.get(group_id) or self._manager.create(group_id)
        records = offset_commits.commit_records(group_id, committed, None, now)
        return self._appends.append(
            group, records, lambda error, at: [CoordinatorReply(ticket, LinkCommitResult(error))]
        )

    def fetch_offsets(
        self, group_id: str, partitions: Sequence[TopicPartition] | None
    ) -> OffsetFetchResult:
        """Committed offsets of these partitions; None: of all. An unknown group has committed nothing."""
        try:
            self._manager.require_coordinator(group_id)
        except Refusal as refusal:
            return OffsetFetchResult(refusal.error)
        group = self._manager.groups.get(group_id)
        known = {} if group is None else group.offsets
        if partitions is None:
            return OffsetFetchResult(KafkaError.NONE, dict(known))
        return OffsetFetchResult(KafkaError.NONE, {name: known.get(name) for name in partitions})

    def delete_offsets(
        self, ticket: Ticket, group_id: str, partitions: Sequence[TopicPartition], now: Instant
    ) -> list[CoordinatorEffect]:
        """-> `DeleteOffsetsResult` once the tombstones are committed."""
        try:
            group = self._manager.require(group_id, KafkaError.GROUP_ID_NOT_FOUND, is_member=True)
        except Refusal as refusal:
            return [CoordinatorReply(ticket, DeleteOffsetsResult(refusal.error))]
        return deletion.delete_offsets(ticket, group, partitions, self._appends)

    def on_topics_deleted(self, topics: Iterable[str], now: Instant) -> list[CoordinatorEffect]:
        """Deletes the offsets of deleted topics, which would be wrong for a later topic of the same name."""
        return self._offset_expiration.on_topics_deleted(topics)

    # --- administration ---

    def delete(
        self, ticket: Ticket, groups: Sequence[str], now: Instant
    ) -> list[CoordinatorEffect]:
        """-> `DeleteGroupsResult`, one error per group, when the last group's tombstones are committed."""
        request = deletion.GroupDeletions(ticket, self._appends)
        effects: list[CoordinatorEffect] = []
        for group_id in dict.fromkeys(groups):
            try:
                group = self._manager.require(group_id, KafkaError.GROUP_ID_NOT_FOUND)
                effects += request.delete(group)
            except Refusal as refusal:
                request.refuse(group_id, refusal.error)
        return effects + request.release()

    def describe(self, groups: Sequence[str]) -> list[GroupDescription]:
        """One description per group, in order."""
        return [self._describe(group_id) for group_id in groups]

    def _describe(self, group_id: str) -> GroupDescription:
        try:
            group = self._manager.require(group_id, KafkaError.GROUP_ID_NOT_FOUND)
        except Refusal as refusal:
            return GroupDescription(group=group_id, error=refusal.error)
        return describe_groups.describe_group(group)

    def list_groups(
        self, states: Sequence[str] = (), types: Sequence[str] = ()
    ) -> ListGroupsResult:
        """Groups in one of these states and of one of these types, by name; an empty filter matches all."""
        error = KafkaError.COORDINATOR_LOAD_IN_PROGRESS if self.is_loading else KafkaError.NONE
        return ListGroupsResult(
            error, describe_groups.list_groups(self._manager.groups.values(), states, types)
        )

    def groups_with_offsets(self) -> tuple[str, ...]:
        """The ids of the groups that have committed offsets."""
        return tuple(group.id for group in self._manager.groups.values() if group.offsets)

    def committed_offsets(self, group_id: str) -> dict[TopicPartition, OffsetAndMetadata]:
        """Empty where this node has no such group."""
        group = self._manager.groups.get(group_id)
        return {} if group is None else dict(group.offsets)

    def active_readers(self, topics: Iterable[str]) -> dict[str, list[str]]:
        """By topic: the groups with members that have committed offsets of it, or of which one subscribes to it."""
        found: dict[str, list[str]] = {topic: [] for topic in topics}
        for group in self._manager.groups.values():
            if not self.is_active(group.id):
                continue
            is_subscribed = group.topic_filter()
            committed = {partition.topic for partition in group.offsets}
            for topic, groups in found.items():
                if topic in committed or is_subscribed(topic):
                    groups.append(group.id)
        return found

    @property
    def is_loading(self) -> bool:
        """Whether some partition is still being loaded."""
        return self._manager.is_loading

    def knows(self, group_id: str) -> bool:
        """Whether this node coordinates the group and has loaded it."""
        try:
            self._manager.require_coordinator(group_id)
        except Refusal:
            return False
        return True

    def group_state(self, group_id: str) -> GroupState:
        """DEAD where this node has no such group."""
        group = self._manager.groups.get(group_id)
        return GroupState.DEAD if group is None else group.state

    def is_active(self, group_id: str) -> bool:
        """Whether the group has members, or its first members are joining."""
        return self.group_state(group_id) not in (GroupState.DEAD, GroupState.EMPTY)

    # --- partitions ---

    def partition_for(self, group_id: str) -> int:
        """The partition of `__consumer_offsets` for a group that this node does not know yet."""
        return self._manager.partition_for(group_id)

    def set_partition_count(self, partitions: int) -> None:
        """The actual partition count of `__consumer_offsets`, which the configuration need not match."""
        self._manager.set_partition_count(partitions)

    def start_loading(self, partition: int) -> None:
        """The partition's records are being read: requests for its groups get COORDINATOR_LOAD_IN_PROGRESS."""
        self._manager.start_loading(partition)

    def replay(self, partition: int, batch: OpenedBatch) -> None:
        """The next records of a partition that is being loaded, in the order of the log."""
        self._manager.replay(partition, batch)

    def skip(self, partition: int, why: str) -> None:
        """Part of a partition that is being loaded cannot be read; `finish_loading` reports it as `Changed`."""
        self._manager.skip(partition, why)

    def finish_loading(self, partition: int, now: Instant) -> list[CoordinatorEffect]:
        """All committed records have been replayed: serve the groups. Each member's session timeout starts again.

        `GroupOffsetsChanged` reports every offset: links may have asked for the offsets before the groups were loaded.
        """
        groups, effects = self._manager.finish_loading(partition)
        self._offset_expiration.start(now)
        effects += [
            GroupOffsetsChanged(each.id, each.offsets.copy()) for each in groups if each.offsets
        ]
        for group in groups:
            for member in group.members.values():
                self._rebalance.sessions.restart(group, member, now)
            if len(group.members) > self._config.members_max:
                effects += self._rebalance.prepare_rebalance(
                    group, "group.max.size was lowered", now
                )
        return effects

    def unload(self, partition: int, now: Instant) -> list[CoordinatorEffect]:
        """Another broker coordinates the partition now: waiting requests get NOT_COORDINATOR."""
        effects: list[CoordinatorEffect] = []
        for group in self._manager.unload(partition):
            effects += self._rebalance.unload(group, KafkaError.NOT_COORDINATOR, now)
        return effects


def _committed(ticket: Ticket, errors: Mapping[TopicPartition, KafkaError]) -> AppendCallback:
    def written(error: KafkaError, now: Instant) -> list[CoordinatorEffect]:
        results = {name: refused or error for name, refused in errors.items()}
        return [CoordinatorReply(ticket, CommitResult(results))]

    return written
