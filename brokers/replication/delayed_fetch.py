"""One Fetch request of a follower (Kafka's DelayedFetch): read what changed in its session, answer at once or wait.

Data, errors and divergence are answered at once; a high watermark alone waits up to `LINGER_MS` for data.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from brokers.effects import Effect, FindRanges, Range, Reply
from brokers.errors import KafkaError, Refusal
from brokers.events import RangesFound, Request
from brokers.ids import Instant
from brokers.partition.replica import Replica
from brokers.replication.fetch_sessions import SESSIONLESS, CachedPartition, FetchSession
from brokers.replication.fetch_validation import (
    diverging_epoch,
    replica_for_fetch,
    require_leadership,
)
from brokers.replication.host import Host
from brokers.replication.replication_quota import ReplicationQuota
from brokers.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    PartitionData,
)

# A high watermark without data waits this long for some to ride with: a round trip saved under steady appends.
LINGER_MS = 20
_REPORTED = (KafkaError.NOT_LEADER_OR_FOLLOWER, KafkaError.FENCED_LEADER_EPOCH)


@dataclass(slots=True)
class FetchPurgatory:
    """What all delayed fetches of a node share. `woken` are the parked ones whose partitions have changed."""

    host: Host
    throttle: ReplicationQuota
    linger_ms: int = LINGER_MS
    woken: "dict[DelayedFetch, None]" = field(default_factory=dict)


class _Wanted(NamedTuple):
    """What to look for, and the part of the answer that it is for."""

    replica: Replica
    item: PartitionData
    range: Range


class DelayedFetch:
    """One request: reads the session's changed partitions, then replies or parks."""

    def __init__(
        self, desk: FetchPurgatory, request: Request, message: FetchRequest, session: FetchSession
    ) -> None:
        self._desk = desk
        self._host = desk.host
        self._ticket = request.ticket
        self._message = message
        self._session = session
        self._deadline: Instant = 0
        self._timer: int | None = None
        self._is_due = message.max_wait_ms <= 0
        self._answer_at: Instant = 0  # if nothing urgent comes before
        self._throttled_ms = 0
        self._items: dict[CachedPartition, PartitionData] = {}

    def start(self, now: Instant) -> list[Effect]:
        self._deadline = now + self._message.max_wait_ms
        return self._look(now)

    def resume(self, now: Instant) -> list[Effect]:
        """Read again: a partition has changed, or the time is over."""
        self._unpark()
        return self._look(now)

    def _look(self, now: Instant) -> list[Effect]:
        self._items, self._throttled_ms = {}, 0
        wanted = tuple(self._wanted(now))
        if not wanted:
            return self._decide(now)
        ticket = self._host.new_ticket()
        ranges = tuple(each.range for each in wanted)
        self._host.answered[ticket] = lambda event, at: self._on_found(wanted, event, at)
        return [FindRanges(ticket, ranges, self._message.max_bytes)]

    def _wanted(self, now: Instant) -> Iterator[_Wanted]:
        """What to look for; items with nothing to be found are made on the way."""
        for tracked in list(self._session.news):
            asked = tracked.asked
            try:
                replica = replica_for_fetch(self._host, tracked)
                item = self._item(tracked, replica)
            except Refusal as refusal:
                self._refuse(tracked, refusal)
                continue
            end = replica.require_log().log_end_offset
            if (
                item.diverging_epoch is None
                and asked.fetch_offset < end
                and not self._is_throttled(replica, now)
            ):
                where = Range(replica.partition, asked.fetch_offset, end, asked.partition_max_bytes)
                yield _Wanted(replica, item, where)

    def _on_found(
        self, wanted: Sequence[_Wanted], event: RangesFound, now: Instant
    ) -> list[Effect]:
        for (replica, item, _), found in zip(wanted, event.found, strict=True):
            if found.error:
                item.error_code = found.error
            elif size := len(found.data):
                item.records = found.data
                self._spend(replica, size, now)
                if replica.leadership is not None:
                    replica.leadership.gave_out(found.next_offset)
        return self._decide(now)

    def _is_throttled(self, replica: Replica, now: Instant) -> bool:
        """Whether a replica that catches up must leave room for clients now."""
        throttle, broker = self._desk.throttle, self._session.replica_id
        if not throttle.is_set or broker in require_leadership(replica).progress.isr:
            return False
        wait_ms = throttle.wait_ms(replica.partition, broker, now)
        self._throttled_ms = max(self._throttled_ms, wait_ms)
        return wait_ms > 0

    def _item(self, tracked: CachedPartition, replica: Replica) -> PartitionData:
        log, asked = replica.require_log(), tracked.asked
        divergence = diverging_epoch(replica, asked)
        item = self._items[tracked] = PartitionData(
            partition_index=asked.partition,
            high_watermark=replica.high_watermark,
            last_stable_offset=replica.last_stable_offset,
            log_start_offset=log.log_start_offset,
            diverging_epoch=divergence,
            aborted_transactions=None,
        )
        return item

    def _refuse(self, tracked: CachedPartition, refusal: Refusal) -> None:
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

    def _spend(self, replica: Replica, size: int, now: Instant) -> None:
        throttle, leadership = self._desk.throttle, replica.leadership
        broker = self._session.replica_id
        if throttle.is_set and leadership is not None and broker not in leadership.progress.isr:
            throttle.spend(replica.partition, broker, size, now)

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
        self._answer_at = self._deadline
        if soft:
            self._answer_at = min(self._deadline, now + self._desk.linger_ms)
        return self._park(now)

    def _has_more(self, tracked: CachedPartition) -> bool:
        """Data that the budget had no room for, or a log that went offline since it was looked at."""
        replica = tracked.watched
        log = None if replica is None else replica.log
        return log is None or tracked.asked.fetch_offset < log.log_end_offset

    def _park(self, now: Instant) -> list[Effect]:
        if self._answer_at <= now:
            return self._reply()
        again_at = now + self._throttled_ms if self._throttled_ms else self._answer_at
        self._timer = self._host.timers.set(min(self._answer_at, again_at), self._on_time)
        self._host.abandoned[self._ticket] = self._unpark
        self._session.poke = self._poke
        return []

    def _poke(self) -> None:
        self._desk.woken[self] = None

    def _on_time(self, now: Instant) -> list[Effect]:
        self._timer, self._is_due = None, now >= self._answer_at
        return self.resume(now)

    def _unpark(self) -> None:
        if self._timer is not None:
            self._host.timers.cancel(self._timer)
            self._timer = None
        self._session.poke = None
        self._desk.woken.pop(self, None)
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

    def _sent(self, tracked: CachedPartition, item: PartitionData) -> None:
        """Remove what was answered from the changed partitions: after data, errors and divergence the follower lists
        the partition again."""
        tracked.is_new = False
        # After an error everything is news once it recovers.
        tracked.sent = (-1, -1) if item.error_code else (item.high_watermark, item.log_start_offset)
        is_told = item.error_code or item.diverging_epoch is not None or item.records is not None
        if is_told or not self._has_more(tracked):
            self._session.news.pop(tracked, None)
        if item.records is None:
            item.records = b""


def _renew_bounds(tracked: CachedPartition, item: PartitionData) -> None:
    """Bring the offsets up to date: they may have moved while other partitions were read."""
    replica = tracked.watched
    if replica is not None and replica.log is not None and not item.error_code:
        item.high_watermark = replica.high_watermark
        item.log_start_offset = replica.log.log_start_offset
