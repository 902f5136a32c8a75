"""A group's rebalance: members join, a leader is elected, the leader assigns. Also how members are added and removed.

`join_group` and `member_requests` decide when a rebalance starts.
"""

from collections.abc import Mapping

from brokers.coordinator.effects import AppendCallback, CoordinatorEffect
from brokers.effects import Changed
from brokers.errors import KafkaError
from brokers.groups.awaiting_members import AwaitingMembers
from brokers.groups.classic_group import ClassicGroup, GroupMember
from brokers.groups.config import GroupCoordinatorConfig
from brokers.groups.group_appends import GROUP_APPEND_ERRORS, GroupAppends
from brokers.groups.group_metadata_records import (
    new_empty_group_metadata_record,
    new_group_metadata_record,
)
from brokers.groups.group_state import GroupState
from brokers.groups.session_timeouts import SessionTimeouts
from brokers.ids import Instant, Ticket
from brokers.region import GroupOffsetsChanged
from brokers.timers import Act, Timers

# A client may set a rebalance timeout of 0, in which no member could rejoin: the group would rebalance without end.
REBALANCE_TIMEOUT_MS_MIN = 100
GENERATION_MAX = 2**31 - 1


class Rebalance:
    """A group has at most one rebalance timer: for the initial delay, for pending joins, or for pending syncs."""

    def __init__(
        self, config: GroupCoordinatorConfig, timers: Timers, appends: GroupAppends
    ) -> None:
        self._config = config
        self._timers = timers
        self._appends = appends
        self.awaiting = AwaitingMembers()
        self.sessions = SessionTimeouts(timers, self._on_session_timeout)

    # --- PreparingRebalance: the members join ---

    def prepare_rebalance(
        self, group: ClassicGroup, why: str, now: Instant
    ) -> list[CoordinatorEffect]:
        """Every member has to rejoin. An empty group first waits for more members: the initial rebalance delay."""
        effects: list[CoordinatorEffect] = []
        for member in group.members.values():
            if member.awaiting_sync is not None:
                effects += self.awaiting.refuse(member, KafkaError.REBALANCE_IN_PROGRESS)
        group.pending_sync_members.clear()
        group.assignment_in_flight = False
        group.in_initial_delay = group.state is GroupState.EMPTY
        group.new_member_added = False
        effects += self._transition_to(group, GroupState.PREPARING_REBALANCE, why, now)
        if group.in_initial_delay:
            self._delay_initial_join(group, group.rebalance_timeout_ms, now)
            return effects
        self._wait_for_joins(group, now)
        return effects + self.try_complete_join(group, now)

    def _delay_initial_join(self, group: ClassicGroup, left_ms: int, now: Instant) -> None:
        """Kafka's InitialDelayedJoin (KIP-134): new members extend the wait by the delay, in total up to the rebalance
        timeout, of which `left_ms` are left."""
        delay_ms = min(self._config.initial_rebalance_delay_ms, left_ms)
        generation = group.generation

        def on_delay(at: Instant) -> list[CoordinatorEffect]:
            if not self._is_preparing(group, generation) or not group.in_initial_delay:
                return []
            if group.new_member_added and left_ms > delay_ms:
                group.new_member_added = False
                self._delay_initial_join(group, left_ms - delay_ms, at)
                return []
            return self._complete_join(group, at)

        self._set_timer(group, now + delay_ms, on_delay)

    def _wait_for_joins(self, group: ClassicGroup, now: Instant) -> None:
        generation = group.generation

        def overdue(at: Instant) -> list[CoordinatorEffect]:
            return self._complete_join(group, at) if self._is_preparing(group, generation) else []

        self._set_timer(group, now + _rebalance_wait_ms(group), overdue)

    def try_complete_join(self, group: ClassicGroup, now: Instant) -> list[CoordinatorEffect]:
        """Starts the next generation if every member has joined."""
        if group.state is not GroupState.PREPARING_REBALANCE or group.in_initial_delay:
            return []
        return self._complete_join(group, now) if group.has_all_members_joined else []

    def _complete_join(self, group: ClassicGroup, now: Instant) -> list[CoordinatorEffect]:
        """A new generation of the members that have joined, and of the static members, which may be restarting."""
        group.in_initial_delay = False
        for member in list(group.members.values()):
            if member.awaiting_join is None and member.instance_id is None:
                self._remove_from_group(group, member)
        if group.members and not group.elect_joined_leader():
            self._wait_for_joins(group, now)  # no member but restarting static ones is left
            return []
        group.generation = _next_generation(group.generation)
        return (
            self._begin_generation(group, now) if group.members else self._become_empty(group, now)
        )

    def _become_empty(self, group: ClassicGroup, now: Instant) -> list[CoordinatorEffect]:
        self._clear_timer(group)
        group.protocol = None
        effects = self._transition_to(group, GroupState.EMPTY, "the last member left", now)

        def written(error: KafkaError, at: Instant) -> list[CoordinatorEffect]:
            what = f"group {group.id}"
            return [Changed(what, "not recorded as empty", error.name)] if error else []

        return effects + self._appends.append(
            group, [new_empty_group_metadata_record(group)], written
        )

    # --- CompletingRebalance: the leader assigns ---

    def _begin_generation(self, group: ClassicGroup, now: Instant) -> list[CoordinatorEffect]:
        group.protocol = group.select_protocol()
        why = f"generation {group.generation}, {len(group.members)} members"
        effects = self._transition_to(group, GroupState.COMPLETING_REBALANCE, why, now)
        for member in group.members.values():
            group.pending_sync_members[member.id] = None
            member.is_new = member.lacks_member_id = False
            effects += self.awaiting.complete_join(group, member)
            self.sessions.restart(group, member, now)
        self._wait_for_syncs(group, now)
        return effects

    def _wait_for_syncs(self, group: ClassicGroup, now: Instant) -> None:
        """Removes members that joined and sent no SyncGroup in time: Kafka's pending sync expiration (KAFKA-9752)."""
        generation = group.generation

        def overdue(at: Instant) -> list[CoordinatorEffect]:
            if generation != group.generation or not group.pending_sync_members:
                return []
            if group.state not in (GroupState.COMPLETING_REBALANCE, GroupState.STABLE):
                return []
            for member_id in list(group.pending_sync_members):
                self._remove_from_group(group, group.members[member_id])
            return self.prepare_rebalance(group, "members did not ask for their assignment", at)

        self._set_timer(group, now + _rebalance_wait_ms(group), overdue)

    def assign(
        self, group: ClassicGroup, assignments: Mapping[str, bytes], now: Instant
    ) -> list[CoordinatorEffect]:
        """The leader's assignment takes effect, and is sent to the members, once its record is committed."""
        if group.assignment_in_flight:
            return []
        group.assignment_in_flight = True
        chosen = {member_id: assignments.get(member_id, b"") for member_id in group.members}
        record = new_group_metadata_record(group, chosen, now)
        return self._appends.append(group, [record], self._assigned(group, chosen))

    def _assigned(self, group: ClassicGroup, chosen: Mapping[str, bytes]) -> AppendCallback:
        generation = group.generation

        def written(error: KafkaError, now: Instant) -> list[CoordinatorEffect]:
            if group.state is not GroupState.COMPLETING_REBALANCE or generation != group.generation:
                return []  # another rebalance has started
            if error:
                return self._assignment_failed(group, error, now)
            effects = self._transition_to(group, GroupState.STABLE, f"generation {generation}", now)
            for member in group.members.values():
                member.assignment = chosen.get(member.id, b"")
                if member.awaiting_sync is not None:
                    effects += self.awaiting.complete_sync(group, member)
                    self.sessions.restart(group, member, now)
            group.assignment_in_flight = False
            return effects

        return written

    def _assignment_failed(
        self, group: ClassicGroup, error: KafkaError, now: Instant
    ) -> list[CoordinatorEffect]:
        effects: list[CoordinatorEffect] = []
        for member in group.members.values():
            member.assignment = b""
            effects += self.awaiting.refuse(member, GROUP_APPEND_ERRORS.get(error, error))
        return effects + self.prepare_rebalance(
            group, f"the assignment was not recorded: {error.name}", now
        )

    # --- members are added and removed ---

    def add(
        self, group: ClassicGroup, member: GroupMember, protocol_type: str, now: Instant
    ) -> None:
        group.add(member, protocol_type)
        group.new_member_added = group.in_initial_delay
        self.sessions.start_new_member(group, member, now)

    def remove_member(self, group: ClassicGroup, member: GroupMember) -> list[CoordinatorEffect]:
        """Removes a member; the caller has to call `after_removal`."""
        effects = self.awaiting.refuse(member, KafkaError.UNKNOWN_MEMBER_ID)
        self._remove_from_group(group, member)
        return effects

    def after_removal(self, group: ClassicGroup, why: str, now: Instant) -> list[CoordinatorEffect]:
        """Rebalances, so that the remaining members take over the removed members' partitions."""
        if group.state in (GroupState.STABLE, GroupState.COMPLETING_REBALANCE):
            return self.prepare_rebalance(group, why, now)
        return self.try_complete_join(group, now)

    def disconnected(self, ticket: Ticket, now: Instant) -> list[CoordinatorEffect]:
        """The client of a waiting request has disconnected; the member may reconnect within its session timeout."""
        found = self.awaiting.disconnected(ticket)
        if found is None:
            return []
        group, member = found
        if member.lacks_member_id:
            return self._expel(group, member, "its first connection broke", now)
        self.sessions.restart(group, member, now)
        return []

    def unload(
        self, group: ClassicGroup, error: KafkaError, now: Instant
    ) -> list[CoordinatorEffect]:
        """This node no longer coordinates the group: waiting requests get `error`."""
        effects: list[CoordinatorEffect] = []
        for member in list(group.members.values()):
            effects += self.awaiting.refuse(member, error)
            self._remove_from_group(group, member)
        for timer in group.pending_members.values():
            self._timers.cancel(timer)
        group.pending_members.clear()
        self._clear_timer(group)
        return effects + self._transition_to(group, GroupState.DEAD, error.name, now)

    def _on_session_timeout(
        self, group: ClassicGroup, member: GroupMember, now: Instant
    ) -> list[CoordinatorEffect]:
        return self._expel(group, member, "its session timed out", now)

    def _expel(
        self, group: ClassicGroup, member: GroupMember, why: str, now: Instant
    ) -> list[CoordinatorEffect]:
        effects = self.remove_member(group, member)
        return effects + self.after_removal(group, f"member {member.id}: {why}", now)

    def _remove_from_group(self, group: ClassicGroup, member: GroupMember) -> None:
        assert not member.is_awaiting, member.id
        group.remove(member)
        self.sessions.cancel(member)

    # --- state and timers ---

    def _transition_to(
        self, group: ClassicGroup, state: GroupState, why: str, now: Instant
    ) -> list[CoordinatorEffect]:
        before = group.state
        group.transition_to(state, now)
        changed: list[CoordinatorEffect] = [Changed(f"group {group.id}", state.value, why)]
        if group.offsets and GroupState.EMPTY in (before, state):
            changed.append(GroupOffsetsChanged(group.id, {}))
        return changed

    def _is_preparing(self, group: ClassicGroup, generation: int) -> bool:
        return group.state is GroupState.PREPARING_REBALANCE and group.generation == generation

    def _set_timer(self, group: ClassicGroup, due: Instant, act: Act) -> None:
        self._clear_timer(group)
        group.rebalance_timer = self._timers.set(due, act)

    def _clear_timer(self, group: ClassicGroup) -> None:
        if group.rebalance_timer is not None:
            self._timers.cancel(group.rebalance_timer)
            group.rebalance_timer = None


def _next_generation(generation: int) -> int:
    """Wraps around to 1 after the largest generation, which only a record written by another program can hold."""
    return max(generation, 0) % GENERATION_MAX + 1


def _rebalance_wait_ms(group: ClassicGroup) -> int:
    """How long members have to join, or to send SyncGroup; 0 for a group without members."""
    return max(group.rebalance_timeout_ms, REBALANCE_TIMEOUT_MS_MIN) if group.members else 0
