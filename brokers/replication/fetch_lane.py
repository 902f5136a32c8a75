"""One request after another to one leader, each when the answer before it is stored.

    idle --kick--> asking --answered--> storing --the disk has it--> idle, and at once asking again
                   asking --failed--> resting --after a while--> idle

A fetch offset says "I have everything below", synced where the topic asks for it; so nothing is asked for before what
came is stored, and one request is enough to tell the leader about all partitions at once.
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
# A leader is taken for gone for so many failures: some seconds, in which the controller has chosen another or sees more
# than we do.
_GONE_FAILURES_MAX = 8
_GONE = (AskFailure.REFUSED, AskFailure.CLOSED)
_LOST_SESSION = (
    KafkaError.FETCH_SESSION_ID_NOT_FOUND,
    KafkaError.INVALID_FETCH_SESSION_EPOCH,
    KafkaError.FETCH_SESSION_TOPIC_ID_ERROR,
)


class _State(Enum):
    IDLE = "idle"
    ASKING = "asking"
    STORING = "storing"
    RESTING = "resting"


class LaneFetcher(Protocol):
    """What a lane needs of its `ReplicaFetcher`."""

    def round_over(self, lane: "FetchLane", now: Instant) -> list[Effect]:
        """Everything that was answered is stored: partitions may change lanes now."""

    def wait_ms(self, lane: "FetchLane", now: Instant) -> int:
        """How long the next request may wait at the leader."""

    def taken(self, following: PartitionFetch, size: int, now: Instant) -> None:
        """`size` bytes were appended for this partition."""

    def failed(self, lane: "FetchLane", following: PartitionFetch, now: Instant) -> None:
        """The leader has nothing for this partition now; it is out of the lane."""


class FetchLane:
    """A connection's worth of fetching. `ends_at` is when the request under way is answered at the latest."""

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
        self._round = 0
        self.asking = FetchSessionHandler()
        self.ends_at: Instant = 0

    @property
    def is_asking(self) -> bool:
        return self._state is _State.ASKING

    @property
    def is_at_rest(self) -> bool:
        """Whether neither an answer nor the disk is waited for."""
        return not self.is_asking and not self._storing

    def put(self, following: PartitionFetch) -> None:
        self.asking.put(following)

    def take_out(self, following: PartitionFetch) -> None:
        following.replica.leader_is_gone = False
        self.asking.take_out(following.key)
        self._storing.pop(following, None)

    def kick(self, now: Instant) -> list[Effect]:
        """Ask, if there is anything to ask for and nothing under way."""
        if self._state is _State.STORING and not self._storing:
            self._state = _State.IDLE
        broker = self._host.image.brokers.get(self._leader)
        if self._state is not _State.IDLE or not self.asking.members or broker is None:
            return []
        effects = self._owner.round_over(self, now)
        if not self.asking.members:
            return effects
        self._state, self._round = _State.ASKING, self._round + 1
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
            return self._answered(answered, now) if self._round == this_round else []

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
        self.asking.fill(request, settings)
        return request

    # --- answers ---

    def _answered(self, answered: Answered, now: Instant) -> list[Effect]:
        response = answered.message
        if not isinstance(response, FetchResponse):
            self._note_gone(answered.failure in _GONE and self._failures < _GONE_FAILURES_MAX)
            return self._rest(f"{answered.failure.value}", now)
        if self._failures:
            self._note_gone(False)
        if response.error_code:
            return self._refused(error_from_code(response.error_code), now)
        self._failures = 0
        self._state = _State.STORING
        self.asking.opened(response.session_id)
        effects: list[Effect] = []
        for topic in response.responses:
            for item in topic.partitions:
                following = self.asking.meant((topic.topic_id, item.partition_index))
                if following is not None:
                    effects += self._take(following, item, now)
        return effects + self.kick(now)

    def _refused(self, error: KafkaError, now: Instant) -> list[Effect]:
        if error in _LOST_SESSION and self._failures == 0:
            self._failures, self._state = 1, _State.IDLE
            self.asking.reset()
            return self.kick(now)
        return self._rest(error.name, now)

    def _take(self, following: PartitionFetch, item: PartitionData, now: Instant) -> list[Effect]:
        effects, outcome = following.answered(item, now)
        match outcome:
            case FetchOutcome.STORING:
                self._storing[following] = None
                self.asking.put(following)
                self._owner.taken(following, len(item.records or b""), now)
            case FetchOutcome.AGAIN:
                self.asking.put(following)
            case FetchOutcome.PAUSED:
                self.take_out(following)
            case FetchOutcome.FAILED:
                self.take_out(following)
                self._owner.failed(self, following, now)
        return effects

    def stored(self, following: PartitionFetch, now: Instant) -> list[Effect]:
        """The disk has what came for this partition."""
        if following not in self._storing:
            return []
        del self._storing[following]
        return [] if self._storing else self.kick(now)

    # --- failure ---

    def _rest(self, why: str, now: Instant) -> list[Effect]:
        """Wait, longer after each failure, before the next request. The image may name another leader meanwhile."""
        self.asking.reset()
        self._state = _State.RESTING
        delay = backoff_ms(self._failures, self._settings.backoff_ms_max)
        self._failures += 1
        self._host.timers.set(now + delay, self._rested(self._round))
        if self._failures > 1:
            return []
        return [Changed(f"replication from broker {self._leader}", "interrupted", why)]

    def _note_gone(self, is_gone: bool) -> None:
        """While `is_gone`, metadata responses name no leader: a client that knows of a leader whose process is gone
        tries to connect to it in vain, with growing delays.
        """
        for following in self.asking.members.values():
            following.replica.leader_is_gone = is_gone

    def _rested(self, this_round: int) -> Callable[[Instant], list[Effect]]:
        def act(now: Instant) -> list[Effect]:
            if self._state is not _State.RESTING or self._round != this_round:
                return []
            self._state = _State.IDLE
            return self.kick(now)

        return act


def backoff_ms(failures: int, longest: int) -> int:
    """How long to wait after so many failures in a row."""
    return min(longest, _BACKOFF_MS << min(failures, 16))
