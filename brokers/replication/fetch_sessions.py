"""The leader's side of fetch sessions: the partitions that each follower fetches (KIP-227).

A session lists its partitions once; later requests and responses have only those that changed. The leader reads only
the partitions in `FetchSession.changed`: idle ones cost nothing.

    request (id, epoch)   meaning
    (any, -1)             no session; ends the session with this id
    (any, 0)              a full request; ends the session with this id, begins a new one
    (id, n)               the changes since request n - 1
"""

from collections.abc import Callable, Iterator
from uuid import UUID

from brokers.errors import KafkaError, Refusal
from brokers.ids import BrokerId, Offset, TopicPartition
from brokers.partition.remote_replica import LastFetch
from brokers.partition.replica import Replica
from brokers.wire.messages.fetch import FetchPartition

SESSIONLESS = -1
FULL = 0
EPOCH_MAX = 2**31 - 1
NO_HIGH_WATERMARK = 2**63 - 1  # the follower did not send one
# Two for each fetcher, of which num.replica.fetchers allows 1,000; those that fetched longest ago end first.
SESSIONS_PER_BROKER_MAX = 2_048
STALE_MS = 120_000  # Kafka's: the response with its id was probably lost

Key = tuple[UUID, int]  # topic id, partition index


class CachedPartition:
    """One partition of a session (Kafka's CachedPartition): its last request and its last response."""

    __slots__ = ("fetch", "is_new", "partition", "sent", "session", "topic_id", "replica")

    def __init__(self, session: "FetchSession", topic_id: UUID, fetch: FetchPartition) -> None:
        self.session = session
        self.topic_id = topic_id
        self.partition: TopicPartition | None = None  # None while the topic id is unknown
        self.fetch = fetch
        self.is_new = True
        self.sent: tuple[Offset, Offset] = (-1, -1)  # high watermark, log start offset
        self.replica: Replica | None = None

    def moved(self) -> None:
        """The partition's offsets or leadership changed."""
        self.session.mark_changed(self)

    def watch(self, replica: Replica | None) -> None:
        """Be notified of the changes of this replica."""
        if self.replica is replica:
            return
        if self.replica is not None:
            self.replica.delayed.unwatch(self)
        if replica is not None:
            replica.delayed.watch(self)
        self.replica = replica


class FetchSession:
    """A fetch session of one follower (Kafka's FetchSession). `changed` are the partitions to read."""

    __slots__ = (
        "_partitions",
        "broker_epoch",
        "last_fetch",
        "id",
        "changed",
        "next_epoch",
        "wake",
        "replica_id",
    )

    def __init__(self, session_id: int, replica_id: BrokerId, broker_epoch: int) -> None:
        self.id = session_id
        self.replica_id = replica_id
        self.broker_epoch = broker_epoch
        self.next_epoch = 1
        self.last_fetch = LastFetch()
        self.changed: dict[CachedPartition, None] = {}
        self.wake: Callable[[], None] | None = None  # while a request waits
        self._partitions: dict[Key, CachedPartition] = {}

    def __len__(self) -> int:
        return len(self._partitions)

    @property
    def replicas(self) -> Iterator[Replica]:
        """The replicas of its partitions."""
        return (each.replica for each in self._partitions.values() if each.replica is not None)

    def mark_changed(self, cached: CachedPartition) -> None:
        self.changed[cached] = None
        if self.wake is not None:
            self.wake()

    def update(self, topic_id: UUID, fetch: FetchPartition) -> CachedPartition:
        """The request lists this partition: it or its offsets are new."""
        key = (topic_id, fetch.partition)
        cached = self._partitions.get(key)
        if cached is None:
            cached = self._partitions[key] = CachedPartition(self, topic_id, fetch)
        cached.fetch = fetch
        if fetch.high_watermark != NO_HIGH_WATERMARK:
            # It may have lost the last response (KIP-1166).
            cached.sent = (fetch.high_watermark, cached.sent[1])
        self.changed[cached] = None
        return cached

    def forget(self, topic_id: UUID, index: int) -> None:
        cached = self._partitions.pop((topic_id, index), None)
        if cached is not None:
            if cached.replica is not None and cached.replica.leadership is not None:
                cached.replica.leadership.leave_session(self.replica_id, self.last_fetch)
            cached.watch(None)
            self.changed.pop(cached, None)

    def end(self) -> None:
        """The session is over: stop watching its replicas."""
        for cached in self._partitions.values():
            cached.watch(None)
        self._partitions.clear()
        self.changed.clear()
        self.wake = None


class FetchSessionCache:
    """All sessions of a node, by id."""

    def __init__(self) -> None:
        self._sessions: dict[int, FetchSession] = {}
        self._last_id = 0

    def __len__(self) -> int:
        return len(self._sessions)

    def find(
        self, session_id: int, epoch: int, replica_id: BrokerId, broker_epoch: int
    ) -> FetchSession:
        """The session of a request: known, new, or a temporary one. Raises `Refusal`."""
        if epoch in (FULL, SESSIONLESS):
            self._close(session_id, replica_id)
            session = FetchSession(0, replica_id, broker_epoch)
            return self._keep(session) if epoch == FULL else session
        known = self._sessions.get(session_id)
        if known is None or (known.replica_id, known.broker_epoch) != (replica_id, broker_epoch):
            raise Refusal(KafkaError.FETCH_SESSION_ID_NOT_FOUND)
        if epoch != known.next_epoch:
            raise Refusal(KafkaError.INVALID_FETCH_SESSION_EPOCH)
        known.next_epoch = 1 if epoch == EPOCH_MAX else epoch + 1
        return known

    def _close(self, session_id: int, replica_id: BrokerId) -> None:
        known = self._sessions.get(session_id)
        if known is not None and known.replica_id == replica_id:
            del self._sessions[session_id]
            known.end()

    def _keep(self, session: FetchSession) -> FetchSession:
        """Add the session; end the broker's sessions of older broker epochs, stale ones, and the oldest of too many."""
        same = [each for each in self._sessions.values() if each.replica_id == session.replica_id]
        same.sort(key=lambda each: each.last_fetch.at)
        excess = len(same) + 1 - SESSIONS_PER_BROKER_MAX
        for number, each in enumerate(same):
            is_stale = same[-1].last_fetch.at - each.last_fetch.at > STALE_MS
            if each.broker_epoch < session.broker_epoch or is_stale or number < excess:
                self._close(each.id, each.replica_id)
        self._last_id = session.id = self._last_id % EPOCH_MAX + 1
        self._sessions[session.id] = session
        return session
