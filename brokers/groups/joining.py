"""JoinGroup: who may become a member, who comes back, and when that calls everybody together.

KIP-394: a dynamic member gets its id first and joins with it. KIP-345: a static member, known by its instance id, takes
its former place again without disturbing the others.
"""

from uuid import UUID

from brokers.errors import KafkaError, Refusal
from brokers.groups.config import GroupConfig
from brokers.groups.effects import Answer, GroupEffect
from brokers.groups.journal import TOLD_OF_GROUP, Journal, Then
from brokers.groups.membership import Group, Member
from brokers.groups.offsets import member_error
from brokers.groups.parking import joined
from brokers.groups.rebalance import Rebalance
from brokers.groups.requests import (
    NO_MEMBER,
    REASON_CHARACTERS_MAX,
    JoinAnswer,
    JoinRequest,
)
from brokers.groups.snapshots import group_record
from brokers.groups.states import State
from brokers.groups.subscription import CONSUMER, subscribed_topics
from brokers.ids import Instant, Ticket
from brokers.ports import Rng
from brokers.timers import Timers

STRING_BYTES_MAX = 32_767  # what an older client or the log can be given
NAME_CHARACTERS_MAX = 249  # of a client's name in a member id; Kafka's for instance ids


class Joining:
    """Raises `Refusal` for a request that becomes no membership."""

    def __init__(
        self,
        config: GroupConfig,
        rng: Rng,
        timers: Timers,
        journal: Journal,
        rebalance: Rebalance,
    ) -> None:
        self._config = config
        self._rng = rng
        self._timers = timers
        self._journal = journal
        self._rebalance = rebalance

    def check(self, request: JoinRequest) -> None:
        """What is wrong with a request whatever the group."""
        low, high = self._config.session_timeout_ms_min, self._config.session_timeout_ms_max
        if not low <= request.session_timeout_ms <= high:
            raise Refusal(KafkaError.INVALID_SESSION_TIMEOUT)
        names = [request.protocol_type, request.instance_id or "", request.client_host]
        names += [request.client_id, *(name for name, _ in request.protocols)]
        if any(len(name.encode()) > STRING_BYTES_MAX for name in names):
            raise Refusal(KafkaError.INVALID_REQUEST, "a name is longer than 32767 bytes")

    def join(
        self, ticket: Ticket, group: Group, request: JoinRequest, now: Instant
    ) -> list[GroupEffect]:
        former = self._former(group, request)
        if not self._has_room(group, former):
            return self._turn_away(
                ticket, group, request, KafkaError.GROUP_MAX_SIZE_REACHED, now, without=former
            )
        names = [name for name, _ in request.protocols]
        if not group.accepts(request.protocol_type, names, besides=former):
            return self._turn_away(
                ticket, group, request, KafkaError.INCONSISTENT_GROUP_PROTOCOL, now
            )
        if request.member_id == NO_MEMBER:
            return self._join_as_new(ticket, group, former, request, now)
        if request.member_id in group.pending:
            return self._join_with_given_id(ticket, group, request, now)
        if error := member_error(group, request.member_id, request.instance_id):
            raise Refusal(error)
        return self._join_again(ticket, group, group.members[request.member_id], request, now)

    def _former(self, group: Group, request: JoinRequest) -> Member | None:
        """The member that the request speaks for, if there is one."""
        if request.member_id == NO_MEMBER and request.instance_id is not None:
            return group.members.get(group.static_members.get(request.instance_id, NO_MEMBER))
        return group.members.get(request.member_id)

    def _has_room(self, group: Group, former: Member | None) -> bool:
        """`group.max.size` (KIP-389): while preparing, places go to those that join first."""
        if len(group.members) < self._config.members_max:
            return True
        if group.state is State.PREPARING_REBALANCE:
            if former is not None and former.joining is not None:
                return True
            waiting = sum(member.joining is not None for member in group.members.values())
            return waiting < self._config.members_max
        return former is not None

    def _turn_away(
        self,
        ticket: Ticket,
        group: Group,
        request: JoinRequest,
        error: KafkaError,
        now: Instant,
        without: Member | None = None,
    ) -> list[GroupEffect]:
        """Nobody waits for one who cannot come in."""
        timer = group.pending.pop(request.member_id, None)
        if timer is not None:
            self._timers.cancel(timer)
        answer = Answer(ticket, JoinAnswer(error=error, member_id=request.member_id))
        dismissed = [] if without is None else self._rebalance.dismiss(group, without)
        return [answer, *dismissed, *self._rebalance.try_complete(group, now)]

    # --- newcomers ---

    def _join_as_new(
        self,
        ticket: Ticket,
        group: Group,
        former: Member | None,
        request: JoinRequest,
        now: Instant,
    ) -> list[GroupEffect]:
        name = request.client_id if request.instance_id is None else request.instance_id
        member_id = self._new_member_id(name)
        if former is not None:
            return self._replace(ticket, group, former, member_id, request, now)
        if request.instance_id is None and request.knows_member_ids:
            return self._hand_out(ticket, group, member_id, request, now)
        return self._add(ticket, group, member_id, request, now)

    def _new_member_id(self, name: str) -> str:
        unique = UUID(bytes=self._rng.randbytes(16), version=4)
        return f"{name[:NAME_CHARACTERS_MAX]}-{unique}"

    def _hand_out(
        self, ticket: Ticket, group: Group, member_id: str, request: JoinRequest, now: Instant
    ) -> list[GroupEffect]:
        def forget(at: Instant) -> list[GroupEffect]:
            if group.pending.pop(member_id, None) is None:
                return []
            return self._rebalance.try_complete(group, at)

        group.pending[member_id] = self._timers.set(now + request.session_timeout_ms, forget)
        error = KafkaError.MEMBER_ID_REQUIRED
        return [Answer(ticket, JoinAnswer(error=error, member_id=member_id))]

    def _join_with_given_id(
        self, ticket: Ticket, group: Group, request: JoinRequest, now: Instant
    ) -> list[GroupEffect]:
        if request.instance_id is not None:
            raise Refusal(KafkaError.UNKNOWN_MEMBER_ID)  # the id was given to a dynamic member
        self._timers.cancel(group.pending.pop(request.member_id))
        return self._add(ticket, group, request.member_id, request, now)

    def _add(
        self, ticket: Ticket, group: Group, member_id: str, request: JoinRequest, now: Instant
    ) -> list[GroupEffect]:
        member = Member(
            id=member_id,
            instance_id=request.instance_id,
            client_id=request.client_id,
            client_host=request.client_host,
            rebalance_timeout_ms=rebalance_timeout(request),
            session_timeout_ms=request.session_timeout_ms,
            protocols=request.protocols,
            is_anonymous=request.instance_id is None and request.member_id == NO_MEMBER,
        )
        self._rebalance.add(group, member, request.protocol_type, now)
        return self._park(ticket, group, member, _why(f"member {member_id} joins", request), now)

    def _park(
        self, ticket: Ticket, group: Group, member: Member, why: str, now: Instant
    ) -> list[GroupEffect]:
        effects = self._rebalance.parking.join(group, member, ticket)
        if group.state is State.PREPARING_REBALANCE:
            return effects + self._rebalance.try_complete(group, now)
        return effects + self._rebalance.prepare(group, why, now)

    # --- members ---

    def _join_again(
        self,
        ticket: Ticket,
        group: Group,
        member: Member,
        request: JoinRequest,
        now: Instant,
    ) -> list[GroupEffect]:
        """A lost answer is given again; a member that has changed, or that leads, calls everybody together."""
        unchanged = member.protocols == request.protocols
        is_lost_answer = group.state is State.COMPLETING_REBALANCE and unchanged
        is_idle_follower = group.state is State.STABLE and unchanged and group.leader != member.id
        if is_lost_answer or is_idle_follower:
            self._rebalance.sessions.touch(group, member, now)
            return [Answer(ticket, joined(group, member))]
        self._update(group, member, request)
        return self._park(
            ticket, group, member, _why(f"member {member.id} joins again", request), now
        )

    def _update(self, group: Group, member: Member, request: JoinRequest) -> None:
        group.change_protocols(member, request.protocols)
        member.session_timeout_ms = request.session_timeout_ms
        member.rebalance_timeout_ms = rebalance_timeout(request)
        member.client_id = request.client_id
        member.client_host = request.client_host

    # --- static members ---

    def _replace(
        self,
        ticket: Ticket,
        group: Group,
        member: Member,
        member_id: str,
        request: JoinRequest,
        now: Instant,
    ) -> list[GroupEffect]:
        """The instance runs again, under a new member id; whoever still uses the old one is fenced."""
        effects = self._rebalance.parking.refuse(member, KafkaError.FENCED_INSTANCE_ID)
        old_leader = group.leader
        same_topics = _topics(member, group) == _topics_of(request, group)
        group.rename(member, member_id)
        self._update(group, member, request)
        self._rebalance.sessions.touch(group, member, now)
        if (
            group.state is State.STABLE
            and same_topics
            and group.choose_protocol() == group.protocol
        ):
            return effects + self._keep(ticket, group, member, old_leader, request, now)
        return effects + self._park(
            ticket, group, member, _why(f"member {member_id} restarts", request), now
        )

    def _keep(
        self,
        ticket: Ticket,
        group: Group,
        member: Member,
        old_leader: str | None,
        request: JoinRequest,
        now: Instant,
    ) -> list[GroupEffect]:
        """No rebalance; the new member id goes into the log before the member hears of it."""
        assignments = {each.id: each.assignment for each in group.members.values()}
        record = group_record(group, assignments, now)
        return self._journal.append(
            group, [record], _kept(ticket, group, member, old_leader, request)
        )


def _kept(
    ticket: Ticket, group: Group, member: Member, old_leader: str | None, request: JoinRequest
) -> Then:
    """A leader that can skip the assignment (KIP-814) is told that it leads; an older one is told its old self does, so
    that it assigns nothing: a stable group would not spread it."""
    answer = joined(group, member)
    is_leader = group.leader == member.id
    told = JoinAnswer(
        member_id=answer.member_id,
        generation=answer.generation,
        protocol_type=answer.protocol_type,
        protocol=answer.protocol,
        leader=answer.leader if request.may_skip_assignment else old_leader or "",
        members=answer.members if request.may_skip_assignment else (),
        skip_assignment=is_leader and request.may_skip_assignment,
    )

    def written(error: KafkaError, now: Instant) -> list[GroupEffect]:
        refused = JoinAnswer(error=TOLD_OF_GROUP.get(error, error))
        return [Answer(ticket, refused if error else told)]

    return written


def _why(what: str, request: JoinRequest) -> str:
    return f"{what}: {request.reason[:REASON_CHARACTERS_MAX]}" if request.reason else what


def rebalance_timeout(request: JoinRequest) -> int:
    """Version 0 has none: the session timeout does for both."""
    timeout_ms = request.rebalance_timeout_ms
    return timeout_ms if timeout_ms >= 0 else request.session_timeout_ms


def _topics(member: Member, group: Group) -> frozenset[str] | None:
    """What decides whether a restart changes the assignment: the rest of the metadata changes with every generation."""
    if group.protocol_type != CONSUMER:
        return None
    return subscribed_topics(member.metadata(group.protocol))


def _topics_of(request: JoinRequest, group: Group) -> frozenset[str] | None:
    if group.protocol_type != CONSUMER:
        return None
    return subscribed_topics(dict(request.protocols).get(group.protocol or "", b""))
