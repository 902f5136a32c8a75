"""The group coordinator of one node: routes each question to the rule that answers it.

Nothing here waits. What needs the log leaves as `AppendRecords`, and its answer follows when `committed` or
`append_failed` reports the end of it.
"""

from collections.abc import Iterable, Mapping, Sequence

from brokers.errors import KafkaError, Refusal
from brokers.groups import deletion, looking, offsets
from brokers.groups.config import GroupConfig
from brokers.groups.effects import Answer, GroupEffect, OffsetsCommitted
from brokers.groups.expiry import Expiry
from brokers.groups.following import Following
from brokers.groups.joining import Joining
from brokers.groups.journal import Journal, Then
from brokers.groups.loading import KeyAndValue
from brokers.groups.membership import Group
from brokers.groups.rebalance import Rebalance
from brokers.groups.requests import (
    CommitAnswer,
    CommitRequest,
    DeleteOffsetsAnswer,
    FetchedOffsets,
    GroupDescription,
    HeartbeatAnswer,
    HeartbeatRequest,
    JoinAnswer,
    JoinRequest,
    LeaveAnswer,
    LeaveRequest,
    LinkCommitAnswer,
    Listing,
    SyncAnswer,
    SyncRequest,
)
from brokers.groups.residence import Residence
from brokers.groups.states import State
from brokers.ids import Instant, OffsetAndMetadata, Ticket, TopicPartition
from brokers.ports import Rng
from brokers.timers import Timers


class Coordinator:
    """All groups of the partitions of `__consumer_offsets` that were loaded here."""

    def __init__(self, rng: Rng, config: GroupConfig) -> None:
        self._config = config
        self._timers = Timers()
        self._journal = Journal()
        self._residence = Residence(config.offsets_partitions)
        self._rebalance = Rebalance(config, self._timers, self._journal)
        self._joining = Joining(config, rng, self._timers, self._journal, self._rebalance)
        self._following = Following(self._timers, self._rebalance)
        self._expiry = Expiry(config, self._timers, self._journal, self._residence)

    # --- time, and the ends of appends ---

    @property
    def deadline(self) -> Instant | None:
        return self._timers.deadline

    def on_time(self, now: Instant) -> list[GroupEffect]:
        effects: list[GroupEffect] = []
        for act in self._timers.due(now):
            effects += act(now)
        return effects

    def committed(self, token: int, now: Instant) -> list[GroupEffect]:
        """The records of this `AppendRecords` are committed."""
        group, effects = self._journal.committed(token, now)
        self._residence.forget_if_blank(group)
        return effects

    def append_failed(self, token: int, error: KafkaError, now: Instant) -> list[GroupEffect]:
        """They are not, and never will be."""
        group, effects = self._journal.failed(token, error, now)
        self._residence.forget_if_blank(group)
        return effects

    def disconnected(self, tickets: Iterable[Ticket], now: Instant) -> list[GroupEffect]:
        """Nobody waits for these answers any more; tickets of others are fine."""
        effects: list[GroupEffect] = []
        for ticket in tickets:
            effects += self._rebalance.disconnected(ticket, now)
        return effects

    # --- members ---

    def join(self, ticket: Ticket, request: JoinRequest, now: Instant) -> list[GroupEffect]:
        """-> `JoinAnswer` when the group's next generation begins, or at once."""
        group: Group | None = None
        try:
            group = self._group_to_join(request)
            effects = self._joining.join(ticket, group, request, now)
        except Refusal as refusal:
            answer = JoinAnswer(error=refusal.error, member_id=request.member_id)
            effects = [Answer(ticket, answer)]
        self._residence.forget_if_blank(group)
        return effects

    def _group_to_join(self, request: JoinRequest) -> Group:
        self._residence.require_place(request.group, is_member=True)
        self._joining.check(request)
        group = self._residence.groups.get(request.group)
        if group is None:
            if request.member_id:
                raise Refusal(KafkaError.UNKNOWN_MEMBER_ID)
            group = self._residence.create(request.group)
        return group

    def sync(self, ticket: Ticket, request: SyncRequest, now: Instant) -> list[GroupEffect]:
        """-> `SyncAnswer` once the leader's decision is in the log."""
        try:
            group = self._members_group(request.group)
            return self._following.sync(ticket, group, request, now)
        except Refusal as refusal:
            return [Answer(ticket, SyncAnswer(error=refusal.error))]

    def heartbeat(
        self, ticket: Ticket, request: HeartbeatRequest, now: Instant
    ) -> list[GroupEffect]:
        """-> `HeartbeatAnswer`, at once."""
        try:
            group = self._members_group(request.group)
            return self._following.heartbeat(ticket, group, request, now)
        except Refusal as refusal:
            # Whether the member is one is not known yet: it is not troubled meanwhile, as in Kafka.
            is_loading = refusal.error is KafkaError.COORDINATOR_LOAD_IN_PROGRESS
            error = KafkaError.NONE if is_loading else refusal.error
            return [Answer(ticket, HeartbeatAnswer(error))]

    def leave(self, ticket: Ticket, request: LeaveRequest, now: Instant) -> list[GroupEffect]:
        """-> `LeaveAnswer`, at once."""
        try:
            group = self._members_group(request.group)
            effects = self._following.leave(ticket, group, request, now)
            self._residence.forget_if_blank(group)
            return effects
        except Refusal as refusal:
            return [Answer(ticket, LeaveAnswer(refusal.error))]

    def _members_group(self, group_id: str) -> Group:
        return self._residence.require(group_id, KafkaError.UNKNOWN_MEMBER_ID, is_member=True)

    # --- offsets ---

    def commit(self, ticket: Ticket, request: CommitRequest, now: Instant) -> list[GroupEffect]:
        """-> `CommitAnswer` once the offsets are committed; GROUP_ID_NOT_FOUND where a generation has no group."""
        errors = offsets.commit_errors(request, self._config)
        try:
            group = self._group_to_commit(request)
            if error := offsets.commit_error(group, request):
                raise Refusal(error)
        except Refusal as refusal:
            return [Answer(ticket, CommitAnswer(dict.fromkeys(errors, refusal.error)))]
        if (member := group.members.get(request.member_id)) is not None:
            self._rebalance.sessions.touch(group, member, now)
        accepted = {name: request.offsets[name] for name, error in errors.items() if not error}
        if not accepted:
            self._residence.forget_if_blank(group)
            return [Answer(ticket, CommitAnswer(errors))]
        records = offsets.commit_records(group.id, accepted, request.retention_ms, now)
        return self._journal.append(group, records, _committed(ticket, errors))

    def _group_to_commit(self, request: CommitRequest) -> Group:
        self._residence.require_place(request.group)
        group = self._residence.groups.get(request.group)
        if group is None:
            if request.generation >= 0:
                raise Refusal(KafkaError.GROUP_ID_NOT_FOUND)
            group = self._residence.create(request.group)
        return group

    def commit_from_link(
        self,
        ticket: Ticket,
        group_id: str,
        committed: Mapping[TopicPartition, OffsetAndMetadata],
        now: Instant,
    ) -> list[GroupEffect]:
        """-> `LinkCommitAnswer`: all of it, or an error; NON_EMPTY_GROUP where members are active here."""
        try:
            self._residence.require_place(group_id)
            if self.is_active(group_id):
                raise Refusal(KafkaError.NON_EMPTY_GROUP)
            if not all(map(offsets.has_room, committed.values())):
                raise Refusal(KafkaError.OFFSET_METADATA_TOO_LARGE)
        except Refusal as refusal:
            return [Answer(ticket, LinkCommitAnswer(refusal.error))]
        if not committed:
            return [Answer(ticket, LinkCommitAnswer(KafkaError.NONE))]
        group = self._residence.groups.get(group_id) or self._residence.create(group_id)
        records = offsets.commit_records(group_id, committed, None, now)
        return self._journal.append(
            group, records, lambda error, at: [Answer(ticket, LinkCommitAnswer(error))]
        )

    def fetch_offsets(
        self, group_id: str, partitions: Sequence[TopicPartition] | None
    ) -> FetchedOffsets:
        """What is committed; None asks for all that the group has. An unknown group has nothing."""
        try:
            self._residence.require_place(group_id)
        except Refusal as refusal:
            return FetchedOffsets(refusal.error)
        group = self._residence.groups.get(group_id)
        known = {} if group is None else group.offsets
        if partitions is None:
            return FetchedOffsets(KafkaError.NONE, dict(known))
        return FetchedOffsets(KafkaError.NONE, {name: known.get(name) for name in partitions})

    def delete_offsets(
        self, ticket: Ticket, group_id: str, partitions: Sequence[TopicPartition], now: Instant
    ) -> list[GroupEffect]:
        """-> `DeleteOffsetsAnswer` once they are gone."""
        try:
            group = self._residence.require(group_id, KafkaError.GROUP_ID_NOT_FOUND, is_member=True)
        except Refusal as refusal:
            return [Answer(ticket, DeleteOffsetsAnswer(refusal.error))]
        return deletion.delete_offsets(ticket, group, partitions, self._journal)

    def on_topics_deleted(self, topics: Iterable[str], now: Instant) -> list[GroupEffect]:
        """Offsets of a deleted topic mean nothing to a later topic of that name."""
        return self._expiry.on_topics_deleted(topics)

    # --- administration ---

    def delete(self, ticket: Ticket, groups: Sequence[str], now: Instant) -> list[GroupEffect]:
        """-> `DeleteGroupsAnswer`, one error per group, when the last of them is gone."""
        request = deletion.GroupsDeletion(ticket, self._journal)
        effects: list[GroupEffect] = []
        for group_id in dict.fromkeys(groups):
            try:
                group = self._residence.require(group_id, KafkaError.GROUP_ID_NOT_FOUND)
                effects += request.delete(group)
            except Refusal as refusal:
                request.refuse(group_id, refusal.error)
        return effects + request.release()

    def describe(self, groups: Sequence[str]) -> list[GroupDescription]:
        """One per group, in order."""
        return [self._describe(group_id) for group_id in groups]

    def _describe(self, group_id: str) -> GroupDescription:
        try:
            group = self._residence.require(group_id, KafkaError.GROUP_ID_NOT_FOUND)
        except Refusal as refusal:
            return GroupDescription(group=group_id, error=refusal.error)
        return looking.describe(group)

    def list_groups(self, states: Sequence[str] = (), types: Sequence[str] = ()) -> Listing:
        """Filtered by names of states and types; no filter lets all through."""
        error = KafkaError.COORDINATOR_LOAD_IN_PROGRESS if self.is_loading else KafkaError.NONE
        return Listing(error, looking.listing(self._residence.groups.values(), states, types))

    def all_offsets(self) -> dict[str, dict[TopicPartition, OffsetAndMetadata]]:
        """A snapshot of every committed offset, by group."""
        groups = self._residence.groups.values()
        return {group.id: dict(group.offsets) for group in groups if group.offsets}

    @property
    def is_loading(self) -> bool:
        """Whether the groups of some partition are still being read."""
        return self._residence.is_loading

    def group_state(self, group_id: str) -> State:
        """Dead where there is no such group here."""
        group = self._residence.groups.get(group_id)
        return State.DEAD if group is None else group.state

    def is_active(self, group_id: str) -> bool:
        """Whether the group has members, or is just getting some."""
        return self.group_state(group_id) not in (State.DEAD, State.EMPTY)

    # --- partitions ---

    def partition_for(self, group_id: str) -> int:
        """The partition of `__consumer_offsets` for a group that is not here yet."""
        return self._residence.partition_for(group_id)

    def spread_over(self, partitions: int) -> None:
        """How many partitions `__consumer_offsets` really has, whatever the configuration says by now."""
        self._residence.spread_over(partitions)

    def start_loading(self, partition: int) -> None:
        """The partition's records are being read: its groups answer COORDINATOR_LOAD_IN_PROGRESS."""
        self._residence.start_loading(partition)

    def replay(self, partition: int, records: Iterable[KeyAndValue]) -> None:
        """The next records of a partition that is being loaded, in the order of the log."""
        self._residence.replay(partition, records)

    def skip(self, partition: int, why: str) -> None:
        """Part of a partition that is being loaded cannot be read; the operator hears of it at the end."""
        self._residence.skip(partition, why)

    def finish_loading(self, partition: int, now: Instant) -> list[GroupEffect]:
        """All committed records have been replayed: serve the groups. Their members' sessions begin anew.

        Whoever follows offsets hears them all, as they may have been asked for while nobody here knew them.
        """
        groups, effects = self._residence.finish_loading(partition)
        self._expiry.begin(now)
        effects += [
            OffsetsCommitted(each.id, dict(each.offsets)) for each in groups if each.offsets
        ]
        for group in groups:
            for member in group.members.values():
                self._rebalance.sessions.touch(group, member, now)
            if len(group.members) > self._config.members_max:
                effects += self._rebalance.prepare(group, "group.max.size was lowered", now)
        return effects

    def load(
        self, partition: int, records: Iterable[KeyAndValue], now: Instant
    ) -> list[GroupEffect]:
        """All of a partition at once."""
        self.start_loading(partition)
        self.replay(partition, records)
        return self.finish_loading(partition, now)

    def unload(self, partition: int, now: Instant) -> list[GroupEffect]:
        """The partition is no longer served here: whoever waits is sent to look for the coordinator."""
        effects: list[GroupEffect] = []
        for group in self._residence.unload(partition):
            effects += self._rebalance.drop(group, KafkaError.NOT_COORDINATOR, now)
        return effects + self._journal.abandon(partition, now)


def _committed(ticket: Ticket, errors: Mapping[TopicPartition, KafkaError]) -> Then:
    def written(error: KafkaError, now: Instant) -> list[GroupEffect]:
        told = {name: refused or error for name, refused in errors.items()}
        return [Answer(ticket, CommitAnswer(told))]

    return written
