"""Sends one Fetch after another to one leader, each when the batches of the last response are written.

    idle --send_next--> fetching --response--> storing --all written--> idle, and at once fetching again
                        fetching --failure--> backing off --timer--> idle

A fetch offset means that the follower holds everything below, synced if the topic requires it. So a request is sent
only after the last response is written; it then reports the offsets of all its partitions.
"""

from collections.abc import Callable
from enum import Enum
from typing import Protocol

from brokers.effects import Changed, Effect
from brokers.errors import KafkaError, error_from_code
from brokers.events import Answered, AskFailure
from brokers.ids import BrokerId, Instant
from brokers.replication.fetch_session_handler import FetchSessionHandler
from brokers.replication.host import Host
from brokers.replication.partition_fetch import FetchOutcome, PartitionFetch
from brokers.replication.settings import ReplicationSettings
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.fetch import FetchRequest, FetchResponse, PartitionData, ReplicaState

FETCH_VERSION = 18
_BACKOFF_MS = 20  # doubled at each failure, up to replica.fetch.backoff.ms
# `leader_is_gone` holds for so many failures, some seconds; then what the controller says counts again.
_GONE_FAILURES_MAX = 8
_GONE = (AskFailure.REFUSED, AskFailure.CLOSED)
_LOST_SESSION = (
    KafkaError.FETCH_SESSION_ID_NOT_FOUND,
    KafkaError.INVALID_FETCH_SESSION_EPOCH,
    KafkaError.FETCH_SESSION_TOPIC_ID_ERROR,
)


class _State(Enum):
    IDLE = "idle"
    FETCHING = "session"
    STORING = "storing"
    BACKING_OFF = "backing off"


class LaneFetcher(Protocol):
    """What a lane needs of its `ReplicaFetcher`."""

    def round_ended(self, lane: "FetchLane", now: Instant) -> list[Effect]:
        """Before a request: partitions may change lanes now."""

    def wait_ms(self, lane: "FetchLane", now: Instant) -> int:
        """How long the leader may wait with its response."""

    def on_appended(self, fetch: PartitionFetch, size: int, now: Instant) -> None:
        """`size` bytes were appended for this partition."""

    def not_taken(self, now: Instant) -> None:
        """Records came for a disk that is nearly full, and were dropped; the whole response is applied."""

    def failed(self, lane: "FetchLane", fetch: PartitionFetch, now: Instant) -> None:
        """The leader answered with an error; the partition is removed from the lane."""


class FetchLane:
    """One fetch session on one connection. `ends_at` is when the leader answers the request in flight at the latest."""

    def __init__(
        self,
        host: Host,
        settings: ReplicationSettings,
        owner: LaneFetcher,
        leader: BrokerId,
        channel: str,
    ) -> None:
        self._host = host
        self._settings = settings
        self._owner = owner
        self._leader = leader
        self._channel = channel
        self._state = _State.IDLE
        self._storing: dict[PartitionFetch, None] = {}
        self._failures = 0
        self._has_not_taken = False
        self._round = 0
        self.session = FetchSessionHandler()
        self.ends_at: Instant = 0

    @property
    def is_fetching(self) -> bool:
        return self._state is _State.FETCHING

    @property
    def is_idle(self) -> bool:
        """Whether no request and no write is in flight."""
        return not self.is_fetching and not self._storing

    def add(self, fetch: PartitionFetch) -> None:
        self.session.add(fetch)

    def remove(self, fetch: PartitionFetch) -> None:
        fetch.replica.leader_is_gone = False
        self.session.remove(fetch.key)
        self._storing.pop(fetch, None)

    def send_next(self, now: Instant) -> list[Effect]:
        """Send the next Fetch, if there are partitions and no request is in flight."""
        if self._state is _State.STORING and not self._storing:
            self._state = _State.IDLE
        broker = self._host.image.brokers.get(self._leader)
        if self._state is not _State.IDLE or not self.session.partitions or broker is None:
            return []
        effects = self._owner.round_ended(self, now)
        if not self.session.partitions:
            return effects
        self._state, self._round = _State.FETCHING, self._round + 1
        wait_ms = self._owner.wait_ms(self, now)
        self.ends_at = now + wait_ms
        timeout_ms = wait_ms + self._settings.socket_timeout_ms
        request, then = self._request(wait_ms), self._then()
        return effects + self._host.ask(
            broker.peer, self._channel, ApiKey.FETCH, FETCH_VERSION, request, timeout_ms, then
        )

    def _then(self) -> Callable[[Answered, Instant], list[Effect]]:
        this_round = self._round

        def then(answered: Answered, now: Instant) -> list[Effect]:
            return self._on_response(answered, now) if self._round == this_round else []

        return then

    def _request(self, wait_ms: int) -> FetchRequest:
        settings, node_id = self._settings, self._host.config.node_id
        own = self._host.image.brokers.get(node_id)
        request = FetchRequest(
            cluster_id=self._host.cluster_id,
            replica_state=ReplicaState(
                replica_id=node_id, replica_epoch=-1 if own is None else own.broker_epoch
            ),
            max_wait_ms=wait_ms,
            min_bytes=settings.bytes_min,
            max_bytes=settings.response_bytes_max,
        )
        self.session.fill(request, settings)
        return request

    # --- responses ---

    def _on_response(self, answered: Answered, now: Instant) -> list[Effect]:
        response = answered.message
        if not isinstance(response, FetchResponse):
            self._set_leader_gone(answered.failure in _GONE and self._failures < _GONE_FAILURES_MAX)
            return self._back_off(f"{answered.failure.value}", now)
        if self._failures:
            self._set_leader_gone(False)
        if response.error_code:
            return self._on_error(error_from_code(response.error_code), now)
        self._failures = 0
        self._state = _State.STORING
        self.session.on_response(response.session_id)
        effects: list[Effect] = []
        for topic in response.responses:
            for item in topic.partitions:
                fetch = self.session.fetch_for((topic.topic_id, item.partition_index))
                if fetch is not None:
                    effects += self._on_partition(fetch, item, now)
        if self._has_not_taken:
            self._has_not_taken = False
            self._owner.not_taken(now)
        return effects + self.send_next(now)

    def _on_error(self, error: KafkaError, now: Instant) -> list[Effect]:
        if error in _LOST_SESSION and self._failures == 0:
            self._failures, self._state = 1, _State.IDLE
            self.session.reset()
            return self.send_next(now)
        return self._back_off(error.name, now)

    def _on_partition(
        self, fetch: PartitionFetch, item: PartitionData, now: Instant
    ) -> list[Effect]:
        effects, outcome = fetch.on_response(item, now)
        match outcome:
            case FetchOutcome.STORING:
                self._storing[fetch] = None
                self.session.add(fetch)
                self._owner.on_appended(fetch, len(item.records or b""), now)
            case FetchOutcome.NOT_TAKEN:
                self._has_not_taken = True
            case FetchOutcome.AGAIN:
                self.session.add(fetch)
            case FetchOutcome.PAUSED:
                self.remove(fetch)
            case FetchOutcome.FAILED:
                self.remove(fetch)
                self._owner.failed(self, fetch, now)
        return effects

    def stored(self, fetch: PartitionFetch, now: Instant) -> list[Effect]:
        """The batches of this partition are written."""
        if fetch not in self._storing:
            return []
        del self._storing[fetch]
        return [] if self._storing else self.send_next(now)

    # --- failure ---

    def _back_off(self, why: str, now: Instant) -> list[Effect]:
        """Wait before the next request, longer after each failure."""
        self.session.reset()
        self._state = _State.BACKING_OFF
        delay = backoff_ms(self._failures, self._settings.backoff_ms_max)
        self._failures += 1
        self._host.timers.set(now + delay, self._after_backoff(self._round))
        if self._failures > 1:
            return []
        return [Changed(f"replication from broker {self._leader}", "interrupted", why)]

    def _set_leader_gone(self, is_gone: bool) -> None:
        """While `is_gone`, metadata responses name no leader: clients would try to connect to a process that ended."""
        for fetch in self.session.partitions.values():
            fetch.replica.leader_is_gone = is_gone

    def _after_backoff(self, this_round: int) -> Callable[[Instant], list[Effect]]:
        def act(now: Instant) -> list[Effect]:
            if self._state is not _State.BACKING_OFF or self._round != this_round:
                return []
            self._state = _State.IDLE
            return self.send_next(now)

        return act


def backoff_ms(failures: int, longest: int) -> int:
    """Milliseconds to wait after so many consecutive failures."""
    return min(longest, _BACKOFF_MS << min(failures, 16))
