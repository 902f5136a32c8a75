"""A leader and its followers' requests.

A request says how far the follower has come; that may commit records, and lets it into the in-sync set. What it gets
are whole batches up to the log's end, written or not: a follower may have them before the leader's own disk does.
"""

from uuid import UUID

from brokers.effects import Effect, Reply
from brokers.errors import KafkaError, Refusal
from brokers.events import Request
from brokers.ids import Instant
from brokers.replication.delayed_fetch import DelayedFetch, FetchPurgatory
from brokers.replication.fetch_sessions import FetchSession, FetchSessionCache
from brokers.replication.fetch_validation import (
    diverging_epoch,
    replica_for_fetch,
    require_leadership,
)
from brokers.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse


class FollowerFetches:
    """Takes followers' requests; `settle` wakes those that something happened for since."""

    def __init__(self, desk: FetchPurgatory, lag_ms_max: int) -> None:
        self._desk = desk
        self._lag_ms_max = lag_ms_max
        self._sessions = FetchSessionCache()

    def on_fetch(self, request: Request, now: Instant) -> list[Effect]:
        """A `FetchRequest` of version 15 or newer with a replica's id in it."""
        message = request.message
        assert isinstance(message, FetchRequest) and message.replica_state is not None
        asking = message.replica_state
        if message.cluster_id not in (None, self._desk.host.cluster_id):
            refused = FetchResponse(error_code=KafkaError.INCONSISTENT_CLUSTER_ID)
            return [Reply(request.ticket, refused)]
        try:
            session = self._sessions.find(
                message.session_id, message.session_epoch, asking.replica_id, asking.replica_epoch
            )
        except Refusal as refusal:
            return [Reply(request.ticket, FetchResponse(error_code=refusal.error))]
        was_silent = now - session.contact.at > self._lag_ms_max
        session.contact.at = now
        for forgotten in message.forgotten_topics_data:
            for index in forgotten.partitions:
                session.forget(forgotten.topic_id, index)
        effects: list[Effect] = []
        for topic in message.topics:
            for asked in topic.partitions:
                effects += self._take(session, topic.topic_id, asked, now)
        if was_silent:
            _welcome(session, now)
        return effects + DelayedFetch(self._desk, request, message, session).start(now)

    @property
    def is_due(self) -> bool:
        """Whether `settle` has anything to do."""
        return bool(self._desk.woken)

    def settle(self, now: Instant) -> list[Effect]:
        """At the end of a step: answer what the step gave news to."""
        effects: list[Effect] = []
        desk = self._desk
        while desk.woken:
            woken, desk.woken = desk.woken, {}
            for pending in woken:
                effects += pending.resume(now)
        return effects

    def _take(
        self, session: FetchSession, topic_id: UUID, asked: FetchPartition, now: Instant
    ) -> list[Effect]:
        """Note how far the follower is, if it stands on our history."""
        tracked = session.listed(topic_id, asked)
        try:
            replica = replica_for_fetch(self._desk.host, tracked)
            if diverging_epoch(replica, asked) is not None:
                return []
            return require_leadership(replica).fetched(
                session.replica_id,
                asked.fetch_offset,
                asked.log_start_offset,
                session.broker_epoch,
                session.contact,
                now,
            )
        except Refusal:
            return []  # said again, to the follower, when the answer is made


def _welcome(session: FetchSession, now: Instant) -> None:
    """It was not thought of while nothing was heard of it, and goes on without a word of what it had all along."""
    for replica in session.watched:
        if replica.leadership is not None:
            replica.leadership.expand(now)
