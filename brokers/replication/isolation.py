"""Detects that the controller no longer answers this broker, and fails the requests of partitions that cannot commit.

Such a broker does not learn that it was fenced and that other brokers lead. A partition whose followers have stopped
fetching cannot commit: its waiting requests fail, and the clients ask another broker for the leader. (In Kafka a
producer waits until its request times out, and a consumer until it refreshes its metadata, maybe for minutes.) If no
broker reaches a controller, followers still fetch, and their leaders still lead.
"""

from brokers.effects import Effect
from brokers.ids import Instant
from brokers.replication.host import Host
from brokers.replication.settings import ReplicationSettings

CHECK_MS = 500
GRACE_MS = 1_500  # beyond replica.fetch.wait.max.ms


class IsolationCheck:
    """`on_heartbeat`: the controller accepted a heartbeat; the checks begin with the first one."""

    def __init__(self, host: Host, settings: ReplicationSettings) -> None:
        self._host = host
        self._session_ms = settings.session_ms
        self._silence_ms = settings.wait_ms_max + GRACE_MS
        self._heartbeat_at: Instant | None = None
        self._is_isolated = False

    def on_heartbeat(self, now: Instant) -> None:
        if self._heartbeat_at is None:
            self._host.timers.set(now + self._session_ms, self._check)
        self._heartbeat_at = now
        if self._is_isolated:
            self._is_isolated = False
            for replica in self._host.partitions.values():
                if replica.leadership is not None:
                    replica.leadership.is_isolated = False

    def _check(self, now: Instant) -> list[Effect]:
        assert self._heartbeat_at is not None
        ends = self._heartbeat_at + self._session_ms
        self._is_isolated = now >= ends
        self._host.timers.set(now + CHECK_MS if self._is_isolated else ends, self._check)
        effects: list[Effect] = []
        if self._is_isolated:
            for replica in self._host.partitions.values():
                if replica.leadership is not None:
                    effects += replica.leadership.check_followers(now - self._silence_ms, now)
        return effects
