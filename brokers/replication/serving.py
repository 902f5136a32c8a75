"""A leader answers its followers: what is new in their sessions, at once when it is data, soon when it is not.

A request says how far the follower has come; that may commit records, and lets it into the in-sync set. What it gets
are whole batches up to the log's end, written or not: a follower may have them before the leader's own disk does.
"""

from collections.abc import Iterator, Sequence
from uuid import UUID

from brokers.effects import Effect, FindRanges, Range, Reply
from brokers.errors import KafkaError, Refusal
from brokers.events import RangesFound, Request
from brokers.ids import Instant, TopicPartition
from brokers.partition.leadership import Leadership
from brokers.partition.replica import Replica
from brokers.replication.host import Host
from brokers.replication.sessions import SESSIONLESS, FollowerSession, Sessions, Tracked
from brokers.wire.messages.fetch import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    PartitionData,
)

# A high watermark without data waits this long for some to ride with: a round trip saved under steady appends.
LINGER_MS = 20
_REPORTED = (KafkaError.NOT_LEADER_OR_FOLLOWER, KafkaError.FENCED_LEADER_EPOCH)


class Serving:
    """Takes followers' requests; `settle` wakes those that something happened for since."""

    def __init__(self, host: Host, *, linger_ms: int = LINGER_MS) -> None:
        self.host = host
        self.linger_ms = linger_ms
        self.sessions = Sessions()
        self.woken: dict[PendingAnswer, None] = {}

    def on_fetch(self, request: Request, now: Instant) -> list[Effect]:
        """A `FetchRequest` of version 15 or newer with a replica's id in it."""
        message = request.message
        assert isinstance(message, FetchRequest) and message.replica_state is not None
        asking = message.replica_state
        if message.cluster_id not in (None, self.host.cluster_id):
            refused = FetchResponse(error_code=KafkaError.INCONSISTENT_CLUSTER_ID)
            return [Reply(request.ticket, refused)]
        try:
            session = self.sessions.find(
                message.session_id, message.session_epoch, asking.replica_id, asking.replica_epoch
            )
        except Refusal as refusal:
            return [Reply(request.ticket, FetchResponse(error_code=refusal.error))]
        session.contact.at = now
        for forgotten in message.forgotten_topics_data:
            for index in forgotten.partitions:
                session.forget(forgotten.topic_id, index)
        effects: list[Effect] = []
        for topic in message.topics:
            for asked in topic.partitions:
                effects += self._take(session, topic.topic_id, asked, now)
        return effects + PendingAnswer(self, request, message, session).start(now)

    def settle(self, now: Instant) -> list[Effect]:
        """At the end of a step: answer what the step gave news to."""
        effects: list[Effect] = []
        while self.woken:
            woken, self.woken = self.woken, {}
            for pending in woken:
                effects += pending.resume(now)
        return effects

    def _take(
        self, session: FollowerSession, topic_id: UUID, asked: FetchPartition, now: Instant
    ) -> list[Effect]:
        """Note how far the follower is, if it stands on our history."""
        tracked = session.listed(topic_id, asked)
        try:
            replica = self.admit(tracked)
            if diverges(replica, asked) is not None:
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

    def admit(self, tracked: Tracked) -> Replica:
        """The replica to read from; raises `Refusal` where a follower must not."""
        asked, session = tracked.asked, tracked.session
        topic = self.host.image.topics_by_id.get(tracked.topic_id)
        if topic is None:
            tracked.watch(None)
            raise Refusal(KafkaError.UNKNOWN_TOPIC_ID)
        tracked.partition = TopicPartition(topic.name, asked.partition)
        replica = self.host.partitions.get(tracked.partition)
        tracked.watch(replica)
        if replica is None:
            raise Refusal(KafkaError.NOT_LEADER_OR_FOLLOWER)
        replica.require_leader_epoch(asked.current_leader_epoch)
        replica.require_leader()
        replica.require_log()
        self._require_replica(replica, session)
        return replica

    def _require_replica(self, replica: Replica, session: FollowerSession) -> None:
        """Refuses brokers that hold none of it, and those that are not who they were (KIP-903)."""
        broker = self.host.image.brokers.get(session.replica_id)
        was_another = broker is not None and broker.broker_epoch > session.broker_epoch >= 0
        if was_another or session.replica_id not in require_leadership(replica).progress.followers:
            because = f"broker {session.replica_id} holds no replica of {replica.partition}"
            raise Refusal(KafkaError.NOT_LEADER_OR_FOLLOWER, because)


class PendingAnswer:
    """One request: looks at the news of its session, then replies or parks."""

    def __init__(
        self, serving: Serving, request: Request, message: FetchRequest, session: FollowerSession
    ) -> None:
        self._serving = serving
        self._host = serving.host
        self._ticket = request.ticket
        self._message = message
        self._session = session
        self._deadline: Instant = 0
        self._timer: int | None = None
        self._is_due = message.max_wait_ms <= 0
        self._items: dict[Tracked, PartitionData] = {}

    def start(self, now: Instant) -> list[Effect]:
        self._deadline = now + self._message.max_wait_ms
        return self._look(now)

    def resume(self, now: Instant) -> list[Effect]:
        """It was parked, and there is news or no more time."""
        self._unpark()
        return self._look(now)

    def _look(self, now: Instant) -> list[Effect]:
        self._items = {}
        wanted = list(self._wanted())
        if not wanted:
            return self._decide(now)
        items, ranges = zip(*wanted, strict=True)
        ticket = self._host.new_ticket()
        self._host.answered[ticket] = lambda event, at: self._on_found(items, event, at)
        return [FindRanges(ticket, ranges, self._message.max_bytes)]

    def _wanted(self) -> Iterator[tuple[PartitionData, Range]]:
        """What to read for which item of the answer; items with nothing to read are made on the way."""
        for tracked in list(self._session.news):
            asked = tracked.asked
            try:
                replica = self._serving.admit(tracked)
                item = self._item(tracked, replica)
            except Refusal as refusal:
                self._refuse(tracked, refusal)
                continue
            end = replica.require_log().log_end_offset
            if item.diverging_epoch is None and asked.fetch_offset < end:
                yield (
                    item,
                    Range(replica.partition, asked.fetch_offset, end, asked.partition_max_bytes),
                )

    def _on_found(
        self, items: Sequence[PartitionData], event: RangesFound, now: Instant
    ) -> list[Effect]:
        for item, found in zip(items, event.found, strict=True):
            if found.error:
                item.error_code = found.error
            elif len(found.data):
                item.records = found.data
        return self._decide(now)

    def _item(self, tracked: Tracked, replica: Replica) -> PartitionData:
        log, asked = replica.require_log(), tracked.asked
        divergence = diverges(replica, asked)
        item = self._items[tracked] = PartitionData(
            partition_index=asked.partition,
            high_watermark=replica.high_watermark,
            last_stable_offset=replica.last_stable_offset,
            log_start_offset=log.log_start_offset,
            diverging_epoch=divergence,
            aborted_transactions=None,
        )
        return item

    def _refuse(self, tracked: Tracked, refusal: Refusal) -> None:
        item = PartitionData(
            partition_index=tracked.asked.partition,
            error_code=refusal.error,
            high_watermark=-1,
            aborted_transactions=None,
        )
        replica = tracked.watched
        if replica is not None:
            item.high_watermark = replica.high_watermark
            item.log_start_offset = -1 if replica.log is None else replica.log.log_start_offset
            if refusal.error in _REPORTED:
                item.current_leader = LeaderIdAndEpoch(
                    leader_id=replica.leader, leader_epoch=replica.leader_epoch
                )
        self._items[tracked] = item

    # --- reply or park ---

    def _decide(self, now: Instant) -> list[Effect]:
        urgent, soft = self._is_due or now >= self._deadline, False
        for tracked, item in list(self._items.items()):
            _renew_bounds(tracked, item)
            is_told = (
                item.error_code or item.diverging_epoch is not None or item.records is not None
            )
            if is_told or tracked.is_new:
                urgent = True
            elif (item.high_watermark, item.log_start_offset) != tracked.sent:
                soft = True
            else:
                del self._items[tracked]
                if not self._has_more(tracked):
                    self._session.news.pop(tracked, None)
        if urgent:
            return self._reply()
        linger = min(self._deadline, now + self._serving.linger_ms)
        return self._park(linger if soft else self._deadline, now)

    def _has_more(self, tracked: Tracked) -> bool:
        """Data that the budget had no room for, or a log that went offline since it was looked at."""
        replica = tracked.watched
        log = None if replica is None else replica.log
        return log is None or tracked.asked.fetch_offset < log.log_end_offset

    def _park(self, due: Instant, now: Instant) -> list[Effect]:
        if due <= now:
            self._is_due = True
            return self._reply()
        self._timer = self._host.timers.set(due, self._on_time)
        self._host.abandoned[self._ticket] = self._unpark
        self._session.poke = self._poke
        return []

    def _poke(self) -> None:
        self._serving.woken[self] = None

    def _on_time(self, now: Instant) -> list[Effect]:
        self._timer, self._is_due = None, True
        return self.resume(now)

    def _unpark(self) -> None:
        if self._timer is not None:
            self._host.timers.cancel(self._timer)
            self._timer = None
        self._session.poke = None
        self._serving.woken.pop(self, None)
        self._host.abandoned.pop(self._ticket, None)

    def _reply(self) -> list[Effect]:
        session, response = self._session, FetchResponse(session_id=self._session.id)
        topics: dict[UUID, FetchableTopicResponse] = {}
        for tracked, item in self._items.items():
            topic = topics.get(tracked.topic_id)
            if topic is None:
                topic = topics[tracked.topic_id] = FetchableTopicResponse(topic_id=tracked.topic_id)
                response.responses.append(topic)
            topic.partitions.append(item)
            self._sent(tracked, item)
        if self._message.session_epoch == SESSIONLESS:
            session.end()
        return [Reply(self._ticket, response)]

    def _sent(self, tracked: Tracked, item: PartitionData) -> None:
        """What is answered is news no more: of data, errors and divergence a follower speaks again by itself."""
        tracked.is_new = False
        # After an error everything is news once it recovers.
        tracked.sent = (-1, -1) if item.error_code else (item.high_watermark, item.log_start_offset)
        is_told = item.error_code or item.diverging_epoch is not None or item.records is not None
        if is_told or not self._has_more(tracked):
            self._session.news.pop(tracked, None)
        if item.records is None:
            item.records = b""


def _renew_bounds(tracked: Tracked, item: PartitionData) -> None:
    """They may have moved while other partitions were read."""
    replica = tracked.watched
    if replica is not None and replica.log is not None and not item.error_code:
        item.high_watermark = replica.high_watermark
        item.log_start_offset = replica.log.log_start_offset


def require_leadership(replica: Replica) -> Leadership:
    """Refuses where there are no followers."""
    if replica.leadership is None:
        raise Refusal(KafkaError.NOT_LEADER_OR_FOLLOWER)
    return replica.leadership


def diverges(replica: Replica, asked: FetchPartition) -> EpochEndOffset | None:
    """Where a follower's history parts from ours, if it does; raises `Refusal` where it stands on none of it."""
    log = replica.require_log()
    if asked.last_fetched_epoch >= 0:
        epoch, end = log.epochs.end_offset_for(asked.last_fetched_epoch, log.log_end_offset)
        if epoch < 0 or asked.fetch_offset < log.log_start_offset:
            raise Refusal(KafkaError.OFFSET_OUT_OF_RANGE)
        if epoch < asked.last_fetched_epoch or end < asked.fetch_offset:
            return EpochEndOffset(epoch=epoch, end_offset=end)
    if not log.log_start_offset <= asked.fetch_offset <= log.log_end_offset:
        raise Refusal(KafkaError.OFFSET_OUT_OF_RANGE)
    return None
