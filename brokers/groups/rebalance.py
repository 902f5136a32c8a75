"""Calling a group's members together: everybody joins, one is elected, it assigns; and sending them away.

`joining` and `following` decide when; this is how.
"""

from collections.abc import Mapping

from brokers.effects import Changed
from brokers.errors import KafkaError
from brokers.groups.config import GroupConfig
from brokers.groups.effects import GroupEffect
from brokers.groups.journal import TOLD_OF_GROUP, Journal, Then
from brokers.groups.membership import Group, Member
from brokers.groups.parking import Parking
from brokers.groups.sessions import Sessions
from brokers.groups.snapshots import empty_record, group_record
from brokers.groups.states import State
from brokers.ids import Instant, Ticket
from brokers.timers import Act, Timers

# Clients may ask for a rebalance timeout of 0, in which nobody can do anything: a group would spin.
REBALANCE_MS_MIN = 100
GENERATION_MAX = 2**31 - 1


class Rebalance:
    """A group has one rebalance timer at most: for newcomers, for joins, or for syncs."""

    def __init__(self, config: GroupConfig, timers: Timers, journal: Journal) -> None:
        self._config = config
        self._timers = timers
        self._journal = journal
        self.parking = Parking()
        self.sessions = Sessions(timers, self._on_session_ended)

    # --- the first half: everybody joins ---

    def prepare(self, group: Group, why: str, now: Instant) -> list[GroupEffect]:
        """Call every member to join again; an empty group first waits a little for more of them."""
        effects: list[GroupEffect] = []
        for member in group.members.values():
            if member.syncing is not None:
                effects += self.parking.refuse(member, KafkaError.REBALANCE_IN_PROGRESS)
        group.unsynced.clear()
        group.is_assigning = False
        group.is_gathering = group.state is State.EMPTY
        group.has_newcomer = False
        effects += self._move(group, State.PREPARING_REBALANCE, why, now)
        if group.is_gathering:
            self._gather(group, group.rebalance_timeout_ms, now)
            return effects
        self._wait_for_joins(group, now)
        return effects + self.try_complete(group, now)

    def _gather(self, group: Group, left_ms: int, now: Instant) -> None:
        """Each newcomer extends the wait by the delay again, up to the rebalance timeout in all (KIP-134)."""
        delay_ms = min(self._config.initial_rebalance_delay_ms, left_ms)
        generation = group.generation

        def gathered(at: Instant) -> list[GroupEffect]:
            if not self._is_preparing(group, generation) or not group.is_gathering:
                return []
            if group.has_newcomer and left_ms > delay_ms:
                group.has_newcomer = False
                self._gather(group, left_ms - delay_ms, at)
                return []
            return self._complete(group, at)

        self._set_timer(group, now + delay_ms, gathered)

    def _wait_for_joins(self, group: Group, now: Instant) -> None:
        generation = group.generation

        def overdue(at: Instant) -> list[GroupEffect]:
            return self._complete(group, at) if self._is_preparing(group, generation) else []

        self._set_timer(group, now + _patience_ms(group), overdue)

    def try_complete(self, group: Group, now: Instant) -> list[GroupEffect]:
        """On to the next half if everyone is there."""
        if group.state is not State.PREPARING_REBALANCE or group.is_gathering:
            return []
        return self._complete(group, now) if group.all_joined else []

    def _complete(self, group: Group, now: Instant) -> list[GroupEffect]:
        """A new generation of those that have joined, and of static members, who may be restarting."""
        group.is_gathering = False
        for member in list(group.members.values()):
            if member.joining is None and member.instance_id is None:
                self._forget(group, member)
        if group.members and not group.elect_joined_leader():
            self._wait_for_joins(group, now)  # only restarting static members are left
            return []
        group.generation = _following(group.generation)
        return self._assign(group, now) if group.members else self._empty(group, now)

    def _empty(self, group: Group, now: Instant) -> list[GroupEffect]:
        self._clear_timer(group)
        group.protocol = None
        effects = self._move(group, State.EMPTY, "the last member left", now)

        def written(error: KafkaError, at: Instant) -> list[GroupEffect]:
            what = f"group {group.id}"
            return [Changed(what, "not recorded as empty", error.name)] if error else []

        return effects + self._journal.append(group, [empty_record(group)], written)

    # --- the second half: the leader assigns ---

    def _assign(self, group: Group, now: Instant) -> list[GroupEffect]:
        group.protocol = group.choose_protocol()
        why = f"generation {group.generation}, {len(group.members)} members"
        effects = self._move(group, State.COMPLETING_REBALANCE, why, now)
        for member in group.members.values():
            group.unsynced[member.id] = None
            member.is_new = member.is_anonymous = False
            effects += self.parking.answer_join(group, member)
            self.sessions.touch(group, member, now)
        self._wait_for_syncs(group, now)
        return effects

    def _wait_for_syncs(self, group: Group, now: Instant) -> None:
        """Who has joined and never asks for its assignment is not there: KAFKA-9752's expiry of pending syncs."""
        generation = group.generation

        def overdue(at: Instant) -> list[GroupEffect]:
            if generation != group.generation or not group.unsynced:
                return []
            if group.state not in (State.COMPLETING_REBALANCE, State.STABLE):
                return []
            for member_id in list(group.unsynced):
                self._forget(group, group.members[member_id])
            return self.prepare(group, "members did not ask for their assignment", at)

        self._set_timer(group, now + _patience_ms(group), overdue)

    def assign(
        self, group: Group, assignments: Mapping[str, bytes], now: Instant
    ) -> list[GroupEffect]:
        """The leader has decided: in force, and told to members, once it is in the log."""
        if group.is_assigning:
            return []
        group.is_assigning = True
        chosen = {member_id: assignments.get(member_id, b"") for member_id in group.members}
        record = group_record(group, chosen, now)
        return self._journal.append(group, [record], self._assigned(group, chosen))

    def _assigned(self, group: Group, chosen: Mapping[str, bytes]) -> Then:
        generation = group.generation

        def written(error: KafkaError, now: Instant) -> list[GroupEffect]:
            if group.state is not State.COMPLETING_REBALANCE or generation != group.generation:
                return []  # overtaken by another rebalance
            if error:
                return self._not_assigned(group, error, now)
            effects = self._move(group, State.STABLE, f"generation {generation}", now)
            for member in group.members.values():
                member.assignment = chosen.get(member.id, b"")
                if member.syncing is not None:
                    effects += self.parking.answer_sync(group, member)
                    self.sessions.touch(group, member, now)
            group.is_assigning = False
            return effects

        return written

    def _not_assigned(self, group: Group, error: KafkaError, now: Instant) -> list[GroupEffect]:
        effects: list[GroupEffect] = []
        for member in group.members.values():
            member.assignment = b""
            effects += self.parking.refuse(member, TOLD_OF_GROUP.get(error, error))
        return effects + self.prepare(group, f"the assignment was not recorded: {error.name}", now)

    # --- members come and go ---

    def add(self, group: Group, member: Member, protocol_type: str, now: Instant) -> None:
        group.add(member, protocol_type)
        group.has_newcomer = group.is_gathering
        self.sessions.begin(group, member, now)

    def dismiss(self, group: Group, member: Member) -> list[GroupEffect]:
        """A member goes; `after_removal` has to follow."""
        effects = self.parking.refuse(member, KafkaError.UNKNOWN_MEMBER_ID)
        self._forget(group, member)
        return effects

    def after_removal(self, group: Group, why: str, now: Instant) -> list[GroupEffect]:
        """The others share the work of those who went."""
        if group.state in (State.STABLE, State.COMPLETING_REBALANCE):
            return self.prepare(group, why, now)
        return self.try_complete(group, now)

    def disconnected(self, ticket: Ticket, now: Instant) -> list[GroupEffect]:
        """Nobody waits for this answer any more; the member may come back within its session timeout."""
        found = self.parking.gone(ticket)
        if found is None:
            return []
        group, member = found
        if member.is_anonymous:
            return self._remove(group, member, "its first connection broke", now)
        self.sessions.touch(group, member, now)
        return []

    def drop(self, group: Group, error: KafkaError, now: Instant) -> list[GroupEffect]:
        """The group is no longer ours."""
        effects: list[GroupEffect] = []
        for member in list(group.members.values()):
            effects += self.parking.refuse(member, error)
            self._forget(group, member)
        for timer in group.pending.values():
            self._timers.cancel(timer)
        group.pending.clear()
        self._clear_timer(group)
        return effects + self._move(group, State.DEAD, error.name, now)

    def _on_session_ended(self, group: Group, member: Member, now: Instant) -> list[GroupEffect]:
        return self._remove(group, member, "its session timed out", now)

    def _remove(self, group: Group, member: Member, why: str, now: Instant) -> list[GroupEffect]:
        effects = self.dismiss(group, member)
        return effects + self.after_removal(group, f"member {member.id}: {why}", now)

    def _forget(self, group: Group, member: Member) -> None:
        assert not member.is_parked, member.id
        group.remove(member)
        self.sessions.forget(member)

    # --- pieces ---

    def _move(self, group: Group, state: State, why: str, now: Instant) -> list[GroupEffect]:
        group.move(state, now)
        return [Changed(f"group {group.id}", state.value, why)]

    def _is_preparing(self, group: Group, generation: int) -> bool:
        return group.state is State.PREPARING_REBALANCE and group.generation == generation

    def _set_timer(self, group: Group, due: Instant, act: Act) -> None:
        self._clear_timer(group)
        group.rebalance_timer = self._timers.set(due, act)

    def _clear_timer(self, group: Group) -> None:
        if group.rebalance_timer is not None:
            self._timers.cancel(group.rebalance_timer)
            group.rebalance_timer = None


def _following(generation: int) -> int:
    """The last one, which only a record of somebody else's can name, is followed by the first."""
    return max(generation, 0) % GENERATION_MAX + 1


def _patience_ms(group: Group) -> int:
    """How long members have to join, or to ask for their assignment; none are not waited for."""
    return max(group.rebalance_timeout_ms, REBALANCE_MS_MIN) if group.members else 0
