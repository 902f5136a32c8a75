"""JoinGroup: new members, members that rejoin, static members that restart, and when a join starts a rebalance.

KIP-394: a dynamic member first receives its member id, then joins with it. KIP-345: a static member, identified by its
group instance id, replaces its former self without a rebalance.
"""

from uuid import UUID

from brokers.coordinator.effects import AppendCallback, CoordinatorEffect, CoordinatorReply
from brokers.errors import KafkaError, Refusal
from brokers.groups.awaiting_members import join_result
from brokers.groups.classic_group import ClassicGroup, GroupMember
from brokers.groups.config import GroupCoordinatorConfig
from brokers.groups.consumer_protocol import CONSUMER_PROTOCOL_TYPE, subscribed_topics
from brokers.groups.group_appends import GROUP_APPEND_ERRORS, GroupAppends
from brokers.groups.group_metadata_records import new_group_metadata_record
from brokers.groups.group_state import GroupState
from brokers.groups.offset_commits import validate_member
from brokers.groups.rebalance import Rebalance
from brokers.groups.requests import NO_MEMBER, REASON_CHARACTERS_MAX, JoinRequest, JoinResult
from brokers.ids import Instant, Ticket
from brokers.ports import Rng
from brokers.timers import Timers

STRING_BYTES_MAX = 32_767  # of a string in older requests and in the log
NAME_CHARACTERS_MAX = 249  # of the client id in a member id; Kafka's limit for instance ids


class MemberJoins:
    """Kafka's classicGroupJoin. Raises Refusal for a join that is rejected at once."""

    def __init__(
        self,
        config: GroupCoordinatorConfig,
        rng: Rng,
        timers: Timers,
        appends: GroupAppends,
        rebalance: Rebalance,
    ) -> None:
        self._config = config
        self._rng = rng
        self._timers = timers
        self._appends = appends
        self._rebalance = rebalance

    def check(self, request: JoinRequest) -> None:
        """Validates the fields that do not depend on the group. Raises Refusal."""
        low, high = self._config.session_timeout_ms_min, self._config.session_timeout_ms_max
        if not low <= request.session_timeout_ms <= high:
            raise Refusal(KafkaError.INVALID_SESSION_TIMEOUT)
        names = [request.protocol_type, request.instance_id or "", request.client_host]
        names += [request.client_id, *(name for name, _ in request.protocols)]
        if any(len(name.encode()) > STRING_BYTES_MAX for name in names):
            raise Refusal(KafkaError.INVALID_REQUEST, "a name is longer than 32767 bytes")

    def join(
        self, ticket: Ticket, group: ClassicGroup, request: JoinRequest, now: Instant
    ) -> list[CoordinatorEffect]:
        former = self._former(group, request)
        if not self._has_room(group, former):
            return self._reject(
                ticket, group, request, KafkaError.GROUP_MAX_SIZE_REACHED, now, removed=former
            )
        names = [name for name, _ in request.protocols]
        if not group.supports_protocols(request.protocol_type, names, besides=former):
            return self._reject(ticket, group, request, KafkaError.INCONSISTENT_GROUP_PROTOCOL, now)
        if request.member_id == NO_MEMBER:
            return self._join_new(ticket, group, former, request, now)
        if request.member_id in group.pending_members:
            return self._join_pending(ticket, group, request, now)
        if error := validate_member(group, request.member_id, request.instance_id):
            raise Refusal(error)
        return self._rejoin(ticket, group, group.members[request.member_id], request, now)

    def _former(self, group: ClassicGroup, request: JoinRequest) -> GroupMember | None:
        """The known member that sent the request, or whose instance id the request names; None for a new member."""
        if request.member_id == NO_MEMBER and request.instance_id is not None:
            return group.members.get(group.static_members.get(request.instance_id, NO_MEMBER))
        return group.members.get(request.member_id)

    def _has_room(self, group: ClassicGroup, former: GroupMember | None) -> bool:
        """`group.max.size` (KIP-389): in PreparingRebalance only members that have already joined count."""
        if len(group.members) < self._config.members_max:
            return True
        if group.state is GroupState.PREPARING_REBALANCE:
            if former is not None and former.awaiting_join is not None:
                return True
            waiting = sum(member.awaiting_join is not None for member in group.members.values())
            return waiting < self._config.members_max
        return former is not None

    def _reject(
        self,
        ticket: Ticket,
        group: ClassicGroup,
        request: JoinRequest,
        error: KafkaError,
        now: Instant,
        removed: GroupMember | None = None,
    ) -> list[CoordinatorEffect]:
        """Replies with an error; the rebalance no longer waits for this member."""
        timer = group.pending_members.pop(request.member_id, None)
        if timer is not None:
            self._timers.cancel(timer)
        answer = CoordinatorReply(ticket, JoinResult(error=error, member_id=request.member_id))
        rejected = [] if removed is None else self._rebalance.remove_member(group, removed)
        return [answer, *rejected, *self._rebalance.try_complete_join(group, now)]

    # --- new members ---

    def _join_new(
        self,
        ticket: Ticket,
        group: ClassicGroup,
        former: GroupMember | None,
        request: JoinRequest,
        now: Instant,
    ) -> list[CoordinatorEffect]:
        name = request.client_id if request.instance_id is None else request.instance_id
        member_id = self._new_member_id(name)
        if former is not None:
            return self._replace_static(ticket, group, former, member_id, request, now)
        if request.instance_id is None and request.requires_member_id:
            return self._require_member_id(ticket, group, member_id, request, now)
        return self._add(ticket, group, member_id, request, now)

    def _new_member_id(self, name: str) -> str:
        unique = UUID(bytes=self._rng.randbytes(16), version=4)
        return f"{name[:NAME_CHARACTERS_MAX]}-{unique}"

    def _require_member_id(
        self,
        ticket: Ticket,
        group: ClassicGroup,
        member_id: str,
        request: JoinRequest,
        now: Instant,
    ) -> list[CoordinatorEffect]:
        def expire(at: Instant) -> list[CoordinatorEffect]:
            if group.pending_members.pop(member_id, None) is None:
                return []
            return self._rebalance.try_complete_join(group, at)

        group.pending_members[member_id] = self._timers.set(
            now + request.session_timeout_ms, expire
        )
        error = KafkaError.MEMBER_ID_REQUIRED
        return [CoordinatorReply(ticket, JoinResult(error=error, member_id=member_id))]

    def _join_pending(
        self, ticket: Ticket, group: ClassicGroup, request: JoinRequest, now: Instant
    ) -> list[CoordinatorEffect]:
        if request.instance_id is not None:
            raise Refusal(KafkaError.UNKNOWN_MEMBER_ID)  # issued to a dynamic member
        self._timers.cancel(group.pending_members.pop(request.member_id))
        return self._add(ticket, group, request.member_id, request, now)

    def _add(
        self,
        ticket: Ticket,
        group: ClassicGroup,
        member_id: str,
        request: JoinRequest,
        now: Instant,
    ) -> list[CoordinatorEffect]:
        member = GroupMember(
            id=member_id,
            instance_id=request.instance_id,
            client_id=request.client_id,
            client_host=request.client_host,
            rebalance_timeout_ms=rebalance_timeout(request),
            session_timeout_ms=request.session_timeout_ms,
            protocols=request.protocols,
            lacks_member_id=request.instance_id is None and request.member_id == NO_MEMBER,
        )
        self._rebalance.add(group, member, request.protocol_type, now)
        why = _reason(f"member {member_id} joins", request)
        return self._await_join(ticket, group, member, why, now)

    def _await_join(
        self, ticket: Ticket, group: ClassicGroup, member: GroupMember, why: str, now: Instant
    ) -> list[CoordinatorEffect]:
        effects = self._rebalance.awaiting.await_join(group, member, ticket)
        if group.state is GroupState.PREPARING_REBALANCE:
            return effects + self._rebalance.try_complete_join(group, now)
        return effects + self._rebalance.prepare_rebalance(group, why, now)

    # --- members that rejoin ---

    def _rejoin(
        self,
        ticket: Ticket,
        group: ClassicGroup,
        member: GroupMember,
        request: JoinRequest,
        now: Instant,
    ) -> list[CoordinatorEffect]:
        """Repeats a reply that may have been lost; a rejoin of the leader or with new protocols starts a rebalance."""
        unchanged = member.protocols == request.protocols
        is_repeated = group.state is GroupState.COMPLETING_REBALANCE and unchanged
        is_unchanged_follower = (
            group.state is GroupState.STABLE and unchanged and group.leader != member.id
        )
        if is_repeated or is_unchanged_follower:
            self._rebalance.sessions.restart(group, member, now)
            return [CoordinatorReply(ticket, join_result(group, member))]
        self._update(group, member, request)
        return self._await_join(
            ticket, group, member, _reason(f"member {member.id} joins again", request), now
        )

    def _update(self, group: ClassicGroup, member: GroupMember, request: JoinRequest) -> None:
        group.update_protocols(member, request.protocols)
        member.session_timeout_ms = request.session_timeout_ms
        member.rebalance_timeout_ms = rebalance_timeout(request)
        member.client_id = request.client_id
        member.client_host = request.client_host

    # --- static members ---

    def _replace_static(
        self,
        ticket: Ticket,
        group: ClassicGroup,
        member: GroupMember,
        member_id: str,
        request: JoinRequest,
        now: Instant,
    ) -> list[CoordinatorEffect]:
        """The instance has restarted and gets a new member id; a client with the old member id is fenced."""
        effects = self._rebalance.awaiting.refuse(member, KafkaError.FENCED_INSTANCE_ID)
        old_leader = group.leader
        same_topics = _topics(member, group) == _requested_topics(request, group)
        group.replace_static_member(member, member_id)
        self._update(group, member, request)
        self._rebalance.sessions.restart(group, member, now)
        if (
            group.state is GroupState.STABLE
            and same_topics
            and group.select_protocol() == group.protocol
        ):
            return effects + self._persist_replacement(
                ticket, group, member, old_leader, request, now
            )
        return effects + self._await_join(
            ticket, group, member, _reason(f"member {member_id} restarts", request), now
        )

    def _persist_replacement(
        self,
        ticket: Ticket,
        group: ClassicGroup,
        member: GroupMember,
        old_leader: str | None,
        request: JoinRequest,
        now: Instant,
    ) -> list[CoordinatorEffect]:
        """No rebalance; the new member id is committed before the member receives it."""
        assignments = {each.id: each.assignment for each in group.members.values()}
        record = new_group_metadata_record(group, assignments, now)
        return self._appends.append(
            group, [record], _replaced(ticket, group, member, old_leader, request)
        )


def _replaced(
    ticket: Ticket,
    group: ClassicGroup,
    member: GroupMember,
    old_leader: str | None,
    request: JoinRequest,
) -> AppendCallback:
    """The reply to a static member that restarted without a rebalance.

    A leader that understands SkipAssignment (KIP-814) learns that it leads. An older leader gets its former member id
    as the leader, so that it computes no assignment: a stable group would not distribute one.
    """
    answer = join_result(group, member)
    is_leader = group.leader == member.id
    reply = JoinResult(
        member_id=answer.member_id,
        generation=answer.generation,
        protocol_type=answer.protocol_type,
        protocol=answer.protocol,
        leader=answer.leader if request.supports_skipping_assignment else old_leader or "",
        members=answer.members if request.supports_skipping_assignment else (),
        skip_assignment=is_leader and request.supports_skipping_assignment,
    )

    def written(error: KafkaError, now: Instant) -> list[CoordinatorEffect]:
        refused = JoinResult(error=GROUP_APPEND_ERRORS.get(error, error))
        return [CoordinatorReply(ticket, refused if error else reply)]

    return written


def _reason(what: str, request: JoinRequest) -> str:
    return f"{what}: {request.reason[:REASON_CHARACTERS_MAX]}" if request.reason else what


def rebalance_timeout(request: JoinRequest) -> int:
    """Milliseconds. JoinGroup v0 has no rebalance timeout: the session timeout is used."""
    timeout_ms = request.rebalance_timeout_ms
    return timeout_ms if timeout_ms >= 0 else request.session_timeout_ms


def _topics(member: GroupMember, group: ClassicGroup) -> frozenset[str] | None:
    """Subscribed topics: only these decide whether a restart changes the assignment, as the rest of the metadata
    changes with every generation. None where unreadable or not of the consumer protocol."""
    if group.protocol_type != CONSUMER_PROTOCOL_TYPE:
        return None
    return subscribed_topics(member.metadata(group.protocol))


def _requested_topics(request: JoinRequest, group: ClassicGroup) -> frozenset[str] | None:
    if group.protocol_type != CONSUMER_PROTOCOL_TYPE:
        return None
    return subscribed_topics(dict(request.protocols).get(group.protocol or "", b""))
