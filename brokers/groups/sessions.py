"""Which members are alive: each must be heard within its session timeout.

A heartbeat only moves `Member.session_ends`; the member's one timer finds that out when it fires.
"""

from collections.abc import Callable
from typing import TypeAlias

from brokers.groups.effects import GroupEffect
from brokers.groups.membership import Group, Member
from brokers.ids import Instant
from brokers.timers import Timers

# Kafka's NewMemberJoinTimeoutMs: a client that has never been in a generation and gave up must not hold the others up.
NEW_MEMBER_JOIN_MS = 300_000

Ended: TypeAlias = Callable[[Group, Member, Instant], list[GroupEffect]]


class Sessions:
    """`ended` decides what becomes of a member that was not heard."""

    def __init__(self, timers: Timers, ended: Ended) -> None:
        self._timers = timers
        self._ended = ended

    def begin(self, group: Group, member: Member, now: Instant) -> None:
        """A newcomer, whose client can't send heartbeats before its first generation."""
        self._end_at(group, member, now + NEW_MEMBER_JOIN_MS)

    def touch(self, group: Group, member: Member, now: Instant) -> None:
        """The member has been heard."""
        self._end_at(group, member, now + member.session_timeout_ms)

    def forget(self, member: Member) -> None:
        if member.session_timer is not None:
            self._timers.cancel(member.session_timer)

    def _end_at(self, group: Group, member: Member, ends: Instant) -> None:
        member.session_ends = ends
        if member.session_timer is not None:
            if member.session_checked_at <= ends:
                return
            self._timers.cancel(member.session_timer)
        self._check_at(group, member, ends)

    def _check_at(self, group: Group, member: Member, due: Instant) -> None:
        def check(now: Instant) -> list[GroupEffect]:
            if group.members.get(member.id) is not member or member.session_checked_at > now:
                return []  # gone, or checked later: fired together with what decided that
            if member.is_parked and not member.is_new:
                member.session_ends = max(member.session_ends, now + member.session_timeout_ms)
            if member.session_ends > now:
                self._check_at(group, member, member.session_ends)
                return []
            return self._ended(group, member, now)

        member.session_checked_at = due
        member.session_timer = self._timers.set(due, check)
