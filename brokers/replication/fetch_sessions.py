"""The leader's side of fetch sessions: the partitions that each follower fetches (KIP-227).

A session lists partitions once; a request then names only those that changed, and an answer only those with news. Here
a partition of a session is looked at when something moved (`FollowerSession.news`): those that are quiet cost nothing.

    request (id, epoch)   meaning
    (any, -1)             without a session; a named one ends
    (any, 0)              everything anew; a named one ends, another begins
    (id, n)               what changed since request n - 1
"""

from collections.abc import Callable, Iterator
from uuid import UUID

from brokers.errors import KafkaError, Refusal
from brokers.ids import BrokerId, Offset, TopicPartition
from brokers.partition.remote_replica import Contact
from brokers.partition.replica import Replica
from brokers.wire.messages.fetch import FetchPartition

SESSIONLESS = -1
FULL = 0
EPOCH_MAX = 2**31 - 1
UNTOLD = 2**63 - 1  # a follower that does not say which high watermark it knows
# Two for each of the most fetchers that num.replica.fetchers allows; those that asked longest ago go first.
SESSIONS_PER_BROKER_MAX = 2_048
STALE_MS = 120_000  # not gone on with for so long, the answer that named it was lost; Kafka's

Key = tuple[UUID, int]  # topic id, partition index


class CachedPartition:
    """One partition of a session (Kafka's CachedPartition): its last request and its last response."""

    __slots__ = ("asked", "is_new", "partition", "sent", "session", "topic_id", "watched")

    def __init__(self, session: "FetchSession", topic_id: UUID, asked: FetchPartition) -> None:
        self.session = session
        self.topic_id = topic_id
        self.partition: TopicPartition | None = None  # None while the topic id is unknown
        self.asked = asked
        self.is_new = True
        self.sent: tuple[Offset, Offset] = (-1, -1)  # high watermark, log start offset
        self.watched: Replica | None = None

    def moved(self) -> None:
        """Something about the partition changed."""
        self.session.mark(self)

    def watch(self, replica: Replica | None) -> None:
        """From now on hear of this replica."""
        if self.watched is replica:
            return
        if self.watched is not None:
            self.watched.waiting.unwatch(self)
        if replica is not None:
            replica.waiting.watch(self)
        self.watched = replica


class FetchSession:
    """A fetch session of one follower (Kafka's FetchSession). `news` are its partitions that may have changed."""

    __slots__ = (
        "_tracked",
        "broker_epoch",
        "contact",
        "id",
        "news",
        "next_epoch",
        "poke",
        "replica_id",
    )

    def __init__(self, session_id: int, replica_id: BrokerId, broker_epoch: int) -> None:
        self.id = session_id
        self.replica_id = replica_id
        self.broker_epoch = broker_epoch
        self.next_epoch = 1
        self.contact = Contact()
        self.news: dict[CachedPartition, None] = {}
        self.poke: Callable[[], None] | None = None  # while a request is parked
        self._tracked: dict[Key, CachedPartition] = {}

    def __len__(self) -> int:
        return len(self._tracked)

    @property
    def watched(self) -> Iterator[Replica]:
        """The replicas here of all that it lists."""
        return (each.watched for each in self._tracked.values() if each.watched is not None)

    def mark(self, tracked: CachedPartition) -> None:
        self.news[tracked] = None
        if self.poke is not None:
            self.poke()

    def listed(self, topic_id: UUID, asked: FetchPartition) -> CachedPartition:
        """The request names this partition: it is new, or its offsets are."""
        key = (topic_id, asked.partition)
        tracked = self._tracked.get(key)
        if tracked is None:
            tracked = self._tracked[key] = CachedPartition(self, topic_id, asked)
        tracked.asked = asked
        if asked.high_watermark != UNTOLD:
            # It may not have taken what it was answered last (KIP-1166).
            tracked.sent = (asked.high_watermark, tracked.sent[1])
        self.news[tracked] = None
        return tracked

    def forget(self, topic_id: UUID, index: int) -> None:
        tracked = self._tracked.pop((topic_id, index), None)
        if tracked is not None:
            if tracked.watched is not None and tracked.watched.leadership is not None:
                tracked.watched.leadership.let_go(self.replica_id, self.contact)
            tracked.watch(None)
            self.news.pop(tracked, None)

    def end(self) -> None:
        """The session is over: stop watching its replicas."""
        for tracked in self._tracked.values():
            tracked.watch(None)
        self._tracked.clear()
        self.news.clear()
        self.poke = None


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
        """The session that a request goes on with, begins, or does without; raises `Refusal`."""
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
        """One more; of the same broker those of an earlier life go, the stale, and some if they become too many."""
        same = [each for each in self._sessions.values() if each.replica_id == session.replica_id]
        same.sort(key=lambda each: each.contact.at)
        excess = len(same) + 1 - SESSIONS_PER_BROKER_MAX
        for number, each in enumerate(same):
            is_stale = same[-1].contact.at - each.contact.at > STALE_MS
            if each.broker_epoch < session.broker_epoch or is_stale or number < excess:
                self._close(each.id, each.replica_id)
        self._last_id = session.id = self._last_id % EPOCH_MAX + 1
        self._sessions[session.id] = session
        return session
