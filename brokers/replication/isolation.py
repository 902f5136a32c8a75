"""A broker that the controller no longer answers, and what becomes of the partitions that it leads.

Such a broker does not learn that it was fenced and that other brokers lead now. Partitions whose followers have stopped
fetching can't commit, so the requests that wait for them are refused, and the clients ask another broker for the
leader.
In Kafka a producer then waits until its request times out, and a consumer until it refreshes its metadata, which may be
minutes. Where no broker reaches a controller, followers go on fetching, and their leader goes on leading.
"""

from brokers.effects import Effect
from brokers.ids import Instant
from brokers.replication.host import Host
from brokers.replication.settings import ReplicationSettings

LOOK_MS = 500
GRACE_MS = 1_500  # beyond the time for which a follower's question may be parked here


class IsolationCheck:
    """`heard` is called at each heartbeat that the controller accepts; the check begins with the first one."""

    def __init__(self, host: Host, settings: ReplicationSettings) -> None:
        self._host = host
        self._session_ms = settings.session_ms
        self._quiet_ms = settings.wait_ms_max + GRACE_MS
        self._heard_at: Instant | None = None
        self._is_alone = False

    def heard(self, now: Instant) -> None:
        if self._heard_at is None:
            self._host.timers.set(now + self._session_ms, self._look)
        self._heard_at = now
        if self._is_alone:
            self._is_alone = False
            for replica in self._host.partitions.values():
                if replica.leadership is not None:
                    replica.leadership.is_stranded = False

    def _look(self, now: Instant) -> list[Effect]:
        assert self._heard_at is not None
        ends = self._heard_at + self._session_ms
        self._is_alone = now >= ends
        self._host.timers.set(now + LOOK_MS if self._is_alone else ends, self._look)
        effects: list[Effect] = []
        if self._is_alone:
            for replica in self._host.partitions.values():
                if replica.leadership is not None:
                    effects += replica.leadership.look_around(now - self._quiet_ms, now)
        return effects
