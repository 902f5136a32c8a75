"""The leader's side of its followers' Fetch requests.

The fetch offset of a request may advance the high watermark and add the follower to the in-sync set. The response has
whole batches up to the log end, also those that the leader has not written yet.
"""

from uuid import UUID

from brokers.effects import Effect, Reply
from brokers.errors import KafkaError, Refusal
from brokers.events import Request
from brokers.ids import Instant
from brokers.replication.delayed_fetch import DelayedFetch, DelayedFetches
from brokers.replication.fetch_sessions import FetchSession, FetchSessionCache
from brokers.replication.fetch_validation import (
    diverging_epoch,
    replica_for_fetch,
    require_leadership,
)
from brokers.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse


class FollowerFetches:
    """`settle` resumes the requests whose partitions have changed."""

    def __init__(self, shared: DelayedFetches, lag_ms_max: int) -> None:
        self._shared = shared
        self._lag_ms_max = lag_ms_max
        self._sessions = FetchSessionCache()

    def on_fetch(self, request: Request, now: Instant) -> list[Effect]:
        """A `FetchRequest` of version 15 or newer with a replica id."""
        message = request.message
        assert isinstance(message, FetchRequest) and message.replica_state is not None
        sender = message.replica_state
        if message.cluster_id not in (None, self._shared.host.cluster_id):
            refused = FetchResponse(error_code=KafkaError.INCONSISTENT_CLUSTER_ID)
            return [Reply(request.ticket, refused)]
        try:
            session = self._sessions.find(
                message.session_id, message.session_epoch, sender.replica_id, sender.replica_epoch
            )
        except Refusal as refusal:
            return [Reply(request.ticket, FetchResponse(error_code=refusal.error))]
        was_silent = now - session.last_fetch.at > self._lag_ms_max
        session.last_fetch.at = now
        for forgotten in message.forgotten_topics_data:
            for index in forgotten.partitions:
                session.forget(forgotten.topic_id, index)
        effects: list[Effect] = []
        for topic in message.topics:
            for fetch in topic.partitions:
                effects += self._update_follower(session, topic.topic_id, fetch, now)
        if was_silent:
            _expand_isr(session, now)
        return effects + DelayedFetch(self._shared, request, message, session).start(now)

    @property
    def is_due(self) -> bool:
        """Whether `settle` has anything to do."""
        return bool(self._shared.woken)

    def settle(self, now: Instant) -> list[Effect]:
        """At the end of a step: resume the fetches that the step woke."""
        effects: list[Effect] = []
        shared = self._shared
        while shared.woken:
            woken, shared.woken = shared.woken, {}
            for pending in woken:
                effects += pending.resume(now)
        return effects

    def _update_follower(
        self, session: FetchSession, topic_id: UUID, fetch: FetchPartition, now: Instant
    ) -> list[Effect]:
        """Record the follower's offset, unless its log diverges."""
        cached = session.update(topic_id, fetch)
        try:
            replica = replica_for_fetch(self._shared.host, cached)
            if diverging_epoch(replica, fetch) is not None:
                return []
            return require_leadership(replica).fetched(
                session.replica_id,
                fetch.fetch_offset,
                fetch.log_start_offset,
                session.broker_epoch,
                session.last_fetch,
                now,
            )
        except Refusal:
            return []  # the response has the error


def _expand_isr(session: FetchSession, now: Instant) -> None:
    """Propose the follower again for partitions that it need not list: silent, it was not eligible."""
    for replica in session.replicas:
        if replica.leadership is not None:
            replica.leadership.expand(now)
