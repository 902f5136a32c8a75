"""Session timeouts: a member that sends no request within its session timeout is removed.

A heartbeat only moves `GroupMember.session_deadline`; the member's timer is set again when it fires too early.
"""

from collections.abc import Callable
from typing import TypeAlias

from brokers.coordinator.effects import CoordinatorEffect
from brokers.groups.classic_group import ClassicGroup, GroupMember
from brokers.ids import Instant
from brokers.timers import Timers

# Kafka's NewMemberJoinTimeoutMs: a new member whose client has given up must not delay the rebalance for longer.
NEW_MEMBER_JOIN_TIMEOUT_MS = 300_000

OnTimeout: TypeAlias = Callable[[ClassicGroup, GroupMember, Instant], list[CoordinatorEffect]]


class SessionTimeouts:
    """`on_timeout` is called for a member whose session has timed out."""

    def __init__(self, timers: Timers, on_timeout: OnTimeout) -> None:
        self._timers = timers
        self._on_timeout = on_timeout

    def start_new_member(self, group: ClassicGroup, member: GroupMember, now: Instant) -> None:
        """A new member, whose client cannot send heartbeats before its first generation."""
        self._set_deadline(group, member, now + NEW_MEMBER_JOIN_TIMEOUT_MS)

    def restart(self, group: ClassicGroup, member: GroupMember, now: Instant) -> None:
        """The member has sent a request."""
        self._set_deadline(group, member, now + member.session_timeout_ms)

    def cancel(self, member: GroupMember) -> None:
        if member.session_timer is not None:
            self._timers.cancel(member.session_timer)

    def _set_deadline(self, group: ClassicGroup, member: GroupMember, deadline: Instant) -> None:
        member.session_deadline = deadline
        if member.session_timer is not None:
            if member.session_timer_due <= deadline:
                return
            self._timers.cancel(member.session_timer)
        self._check_at(group, member, deadline)

    def _check_at(self, group: ClassicGroup, member: GroupMember, due: Instant) -> None:
        def check(now: Instant) -> list[CoordinatorEffect]:
            if group.members.get(member.id) is not member or member.session_timer_due > now:
                return []  # removed, or set to a later time, by another timer that fired at the same time
            if member.is_awaiting and not member.is_new:
                member.session_deadline = max(
                    member.session_deadline, now + member.session_timeout_ms
                )
            if member.session_deadline > now:
                self._check_at(group, member, member.session_deadline)
                return []
            return self._on_timeout(group, member, now)

        member.session_timer_due = due
        member.session_timer = self._timers.set(due, check)
