"""One Fetch request of a follower (Kafka's DelayedFetch): read its session's changed partitions, reply or wait.

Data, errors and divergence are sent at once; a high watermark alone waits up to `LINGER_MS` for data.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from brokers.effects import Effect, FindRanges, Range, Reply
from brokers.errors import KafkaError, Refusal
from brokers.events import RangesFound, Request
from brokers.ids import Instant, Offset
from brokers.log.completeness import Completeness
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

# A high watermark waits this long for data to be sent with: it saves round trips under steady appends.
LINGER_MS = 20
_REPORTED = (KafkaError.NOT_LEADER_OR_FOLLOWER, KafkaError.FENCED_LEADER_EPOCH)


@dataclass(slots=True)
class DelayedFetches:
    """What all delayed fetches of a node share. `woken` are those that wait and whose partitions have changed."""

    host: Host
    quota: ReplicationQuota
    linger_ms: int = LINGER_MS
    woken: "dict[DelayedFetch, None]" = field(default_factory=dict)


class _Read(NamedTuple):
    """A range to read, and the part of the response that it belongs to. `completeness`: of the log that is read, which
    may have been closed or have begun anew once the result comes."""

    replica: Replica
    item: PartitionData
    range: Range
    completeness: Completeness

    @property
    def complete_from(self) -> Offset:
        """Up to where what was read may lack records; -1: it has them all. Asked once it was read: a log says so before
        a cleaning changes it."""
        lacks = self.completeness.complete_from
        return lacks if lacks > self.range.offset else -1


class DelayedFetch:
    """One request: reads the session's changed partitions, then replies or waits."""

    def __init__(
        self, shared: DelayedFetches, request: Request, message: FetchRequest, session: FetchSession
    ) -> None:
        self._shared = shared
        self._host = shared.host
        self._ticket = request.ticket
        self._message = message
        self._session = session
        self._deadline: Instant = 0
        self._timer: int | None = None
        self._is_due = message.max_wait_ms <= 0
        self._reply_at: Instant = 0  # without data or an error before
        self._throttled_ms = 0
        self._items: dict[CachedPartition, PartitionData] = {}

    def start(self, now: Instant) -> list[Effect]:
        self._deadline = now + self._message.max_wait_ms
        return self._read(now)

    def resume(self, now: Instant) -> list[Effect]:
        """Read again: a partition has changed, or a timer ended."""
        self._stop_waiting()
        return self._read(now)

    def _read(self, now: Instant) -> list[Effect]:
        self._items, self._throttled_ms = {}, 0
        reads = tuple(self._reads(now))
        if not reads:
            return self._complete_or_wait(now)
        ticket = self._host.new_ticket()
        ranges = tuple(each.range for each in reads)
        self._host.answered[ticket] = lambda event, at: self._on_found(reads, event, at)
        return [FindRanges(ticket, ranges, self._message.max_bytes)]

    def _reads(self, now: Instant) -> Iterator[_Read]:
        """The ranges to read. Adds the response items of all changed partitions."""
        for cached in list(self._session.changed):
            fetch = cached.fetch
            try:
                replica = replica_for_fetch(self._host, cached)
                item = self._item(cached, replica)
            except Refusal as refusal:
                self._add_error(cached, refusal)
                continue
            log = replica.require_log()
            end = log.log_end_offset
            if (
                item.diverging_epoch is None
                and fetch.fetch_offset < end
                and not self._is_throttled(replica, now)
            ):
                where = Range(replica.partition, fetch.fetch_offset, end, fetch.partition_max_bytes)
                yield _Read(replica, item, where, log.completeness)

    def _on_found(self, reads: Sequence[_Read], event: RangesFound, now: Instant) -> list[Effect]:
        for read, found in zip(reads, event.found, strict=True):
            replica, item = read.replica, read.item
            if found.error:
                item.error_code = found.error
            elif size := len(found.data):
                item.records = found.data
                item.complete_from = read.complete_from
                self._count(replica, size, now)
                if replica.leadership is not None:
                    replica.leadership.on_sent(found.next_offset)
        return self._complete_or_wait(now)

    def _is_throttled(self, replica: Replica, now: Instant) -> bool:
        """Whether the quota stops a replica that is not in sync."""
        quota, broker = self._shared.quota, self._session.replica_id
        if not quota.is_set or broker in require_leadership(replica).isr_state.isr:
            return False
        wait_ms = quota.wait_ms(replica.partition, broker, now)
        self._throttled_ms = max(self._throttled_ms, wait_ms)
        return wait_ms > 0

    def _item(self, cached: CachedPartition, replica: Replica) -> PartitionData:
        log, fetch = replica.require_log(), cached.fetch
        divergence = diverging_epoch(replica, fetch)
        item = self._items[cached] = PartitionData(
            partition_index=fetch.partition,
            high_watermark=replica.high_watermark,
            last_stable_offset=replica.last_stable_offset,
            log_start_offset=log.log_start_offset,
            diverging_epoch=divergence,
            aborted_transactions=None,
        )
        return item

    def _add_error(self, cached: CachedPartition, refusal: Refusal) -> None:
        item = PartitionData(
            partition_index=cached.fetch.partition,
            error_code=refusal.error,
            high_watermark=-1,
            aborted_transactions=None,
        )
        replica = cached.replica
        if replica is not None:
            item.high_watermark = replica.high_watermark
            item.log_start_offset = -1 if replica.log is None else replica.log.log_start_offset
            if refusal.error in _REPORTED:
                item.current_leader = LeaderIdAndEpoch(
                    leader_id=replica.leader, leader_epoch=replica.leader_epoch
                )
        self._items[cached] = item

    def _count(self, replica: Replica, size: int, now: Instant) -> None:
        quota, leadership = self._shared.quota, replica.leadership
        broker = self._session.replica_id
        if quota.is_set and leadership is not None and broker not in leadership.isr_state.isr:
            quota.spend(replica.partition, broker, size, now)

    # --- reply or wait ---

    def _complete_or_wait(self, now: Instant) -> list[Effect]:
        urgent, has_new_offsets = self._is_due or now >= self._deadline, False
        for cached, item in list(self._items.items()):
            _update_offsets(cached, item)
            has_result = (
                item.error_code or item.diverging_epoch is not None or item.records is not None
            )
            if has_result or cached.is_new:
                urgent = True
            elif (item.high_watermark, item.log_start_offset) != cached.sent:
                has_new_offsets = True
            else:
                del self._items[cached]
                if not self._has_more(cached):
                    self._session.changed.pop(cached, None)
        if urgent:
            return self._reply()
        self._reply_at = self._deadline
        if has_new_offsets:
            self._reply_at = min(self._deadline, now + self._shared.linger_ms)
        return self._wait(now)

    def _has_more(self, cached: CachedPartition) -> bool:
        """Whether there are data beyond the size limit, or the log went offline during the read."""
        replica = cached.replica
        log = None if replica is None else replica.log
        return log is None or cached.fetch.fetch_offset < log.log_end_offset

    def _wait(self, now: Instant) -> list[Effect]:
        if self._reply_at <= now:
            return self._reply()
        again_at = now + self._throttled_ms if self._throttled_ms else self._reply_at
        self._timer = self._host.timers.set(min(self._reply_at, again_at), self._on_time)
        self._host.abandoned[self._ticket] = self._stop_waiting
        self._session.wake = self._wake
        return []

    def _wake(self) -> None:
        self._shared.woken[self] = None

    def _on_time(self, now: Instant) -> list[Effect]:
        self._timer, self._is_due = None, now >= self._reply_at
        return self.resume(now)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._host.timers.cancel(self._timer)
            self._timer = None
        self._session.wake = None
        self._shared.woken.pop(self, None)
        self._host.abandoned.pop(self._ticket, None)

    def _reply(self) -> list[Effect]:
        session, response = self._session, FetchResponse(session_id=self._session.id)
        topics: dict[UUID, FetchableTopicResponse] = {}
        for cached, item in self._items.items():
            topic = topics.get(cached.topic_id)
            if topic is None:
                topic = topics[cached.topic_id] = FetchableTopicResponse(topic_id=cached.topic_id)
                response.responses.append(topic)
            topic.partitions.append(item)
            self._sent(cached, item)
        if self._message.session_epoch == SESSIONLESS:
            session.end()
        return [Reply(self._ticket, response)]

    def _sent(self, cached: CachedPartition, item: PartitionData) -> None:
        """Remove the partition from the changed ones: after data or an error the follower lists it again."""
        cached.is_new = False
        # After an error, all offsets are to be sent again.
        cached.sent = (-1, -1) if item.error_code else (item.high_watermark, item.log_start_offset)
        has_result = item.error_code or item.diverging_epoch is not None or item.records is not None
        if has_result or not self._has_more(cached):
            self._session.changed.pop(cached, None)
        if item.records is None:
            item.records = b""


def _update_offsets(cached: CachedPartition, item: PartitionData) -> None:
    """Update the offsets, which may have changed while the ranges were read."""
    replica = cached.replica
    if replica is not None and replica.log is not None and not item.error_code:
        item.high_watermark = replica.high_watermark
        item.log_start_offset = replica.log.log_start_offset
