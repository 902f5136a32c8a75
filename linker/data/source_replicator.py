"""The sending side of one stream: which committed range is sent next, within the receiver's credit.

    Subscribe -> Agreed | Declined          decided by `lineage`, from the two histories
    credit, progress -> ReadToHighWatermark       one read per partition, a few per stream, in turn by weight
    HighWatermarkRead -> Chunk                  split where a segment begins, so that the mirror rolls there too
    no chunk to send -> Beacon              offset bounds that changed, at once; an empty one every 500 ms

Always: a chunk continues its subscription exactly.
"""

from collections.abc import Callable, Iterable, Iterator, KeysView
from functools import partial

from brokers.errors import KafkaError
from brokers.ids import Instant, Offset, Ticket, TopicPartition
from brokers.records.batch import parse_header
from brokers.region import (
    FindOffset,
    HighWatermarkRead,
    OffsetFound,
    PartitionState,
    ReadToHighWatermark,
    RegionEvent,
)
from linker.containment import NOTHING_CONTAINED, Containment
from linker.data import lineage
from linker.data.chunk_sizes import ChunkSizes
from linker.data.credit import SendBudget, StreamSender
from linker.data.fair_queue import FairQueue
from linker.data.read_ahead import ReadAhead
from linker.data.subscription import (
    OriginLag,
    Subscription,
    began_at,
    bounds_of,
    pieces,
    skipped,
    subscription_of,
)
from linker.errors import MirrorError
from linker.frames import AT_ONCE, Agreed, Beacon, Chunk, Declined, Pace, Subscribe
from linker.offset_bounds import AT_ORIGIN, OffsetBounds
from linker.region_client import Effects, RegionClient, Then


class SourceReplicator:
    """The subscriptions of one destination on one stream."""

    def __init__(
        self,
        region: RegionClient,
        sender: StreamSender,
        sizes: ChunkSizes,
        budget: SendBudget,
        pace: Pace = AT_ONCE,
        origin_lag: OriginLag = lambda partition, now: AT_ORIGIN,
        contained: Containment = NOTHING_CONTAINED,
    ) -> None:
        """`origin_lag`: how far a topic of this region is behind the one in which its records begin."""
        self._region = region
        self._sender = sender
        self._sizes = sizes
        self._reads = ReadAhead(budget, sizes.wanted)
        self._asked: set[Ticket] = set()  # of the region, and not answered yet
        self._contained = contained
        self._pace = pace
        self._origin_lag = origin_lag
        self._subscriptions: dict[int, Subscription] = {}
        self._numbers: dict[TopicPartition, int] = {}
        self._ready = FairQueue()  # whose next chunk can be read
        self._stale: dict[int, None] = {}  # whose offset bounds may differ from `sent_bounds`
        self._watched: dict[int, None] = {}  # of those, what is watched: each beacon has them
        self._chained: dict[int, None] = {}  # those of mirrors

    def subscribe(self, frame: Subscribe, now: Instant) -> Effects:
        """A later subscription of a partition replaces the earlier one."""
        self.unsubscribe(self._numbers.get(frame.partition, 0))
        # A number has one partition, even if the peer uses it twice.
        self.unsubscribe(frame.subscription)
        state = self._region.view.partition_state(frame.partition)
        topic = self._region.view.image.topics_by_name.get(frame.partition.topic)
        because = ""
        if state is None or topic is None or topic.id.bytes != frame.topic_id:
            because = f"{frame.partition} of that topic id is not here"
        elif not state.is_serving:
            because = self._why_not(frame.partition)
        elif frame.leader_epoch not in (-1, state.leader_epoch):
            # A leader that was succeeded, or one that is not known here yet, must not judge the mirror's history.
            because = f"{frame.partition} has leader epoch {state.leader_epoch} here, not {frame.leader_epoch}"
        if because or state is None:
            return self._sender.send(Declined(frame.subscription, MirrorError.NOT_SET, because))
        if frame.from_timestamp >= 0:
            return self._begin_at_time(frame, state)
        return self._compare(frame, state, now)

    def _begin_at_time(self, frame: Subscribe, begun: PartitionState) -> Effects:
        """A later subscription of the partition, or the end of this one, makes the answer useless."""
        waiting = self._add(frame, begun, -1)

        def found(answer: OffsetFound, now: Instant) -> Effects:
            if self._subscriptions.get(waiting.number) is not waiting:
                return []
            state = self._serving(waiting)
            if state is None:
                return self._end(waiting)
            waiting.position = answer.offset if answer.offset >= 0 else state.high_watermark
            self._ready.add(waiting.number)
            return self._pump(now)

        find = partial(FindOffset, partition=frame.partition, timestamp=frame.from_timestamp)
        return self._ask(find, found)

    def _ask(self, question: Callable[[Ticket], RegionEvent], then: Then) -> Effects:
        """`then` is called with the answer, unless the stream ends before."""

        def asked(ticket: Ticket) -> RegionEvent:
            self._asked.add(ticket)
            return question(ticket)

        def answered(answer: OffsetFound | HighWatermarkRead, now: Instant) -> Effects:
            self._asked.discard(answer.ticket)
            return then(answer, now)

        return [self._region.ask(asked, self._contained.then(answered))]

    def _add(self, frame: Subscribe, state: PartitionState, position: Offset) -> Subscription:
        topic = self._region.view.image.topics_by_name[frame.partition.topic]
        subscription = subscription_of(frame, state, position, is_chained=topic.writer is not None)
        self._subscriptions[subscription.number] = subscription
        self._numbers[subscription.partition] = subscription.number
        if subscription.is_chained:
            self._chained[subscription.number] = None
        return subscription

    @property
    def subscribed(self) -> KeysView[TopicPartition]:
        """The partitions that are sent on this stream."""
        return self._numbers.keys()

    def located(
        self, positions: Iterable[tuple[int, Offset]]
    ) -> Iterator[tuple[TopicPartition, Offset]]:
        """By partition what the destination has said by subscription."""
        for number, offset in positions:
            subscription = self._subscriptions.get(number)
            if subscription is not None:
                yield subscription.partition, offset

    def _serving(self, subscription: Subscription) -> PartitionState | None:
        """None where this node does not lead the partition in the same epoch any more, or its log is not open."""
        state = self._region.view.partition_state(subscription.partition)
        if state is None or not state.is_serving:
            return None
        return state if state.leader_epoch == subscription.leader_epoch else None

    def _why_not(self, partition: TopicPartition) -> str:
        state = self._region.view.partition_state(partition)
        if state is not None and state.is_serving:
            return f"{partition} has leader epoch {state.leader_epoch} here now"
        if state is not None and state.is_leader:
            return f"{partition} is offline"
        return f"broker {self._region.view.broker_id} does not lead {partition}"

    def led(self, partitions: Iterable[TopicPartition], because: str = "") -> Effects:
        """Those with new leaders, or new leader epochs, are not sent any more; because of something else none is."""
        effects: Effects = []
        for partition in partitions:
            subscription = self._subscriptions.get(self._numbers.get(partition, 0))
            if subscription is None:
                continue
            if because or self._serving(subscription) is None:
                effects += self._end(subscription, because)
            else:
                self._stale[subscription.number] = None  # other replicas may be in sync
        return effects

    def _compare(self, frame: Subscribe, state: PartitionState, now: Instant) -> Effects:
        start, began = state.high_watermark, began_at(self._region, frame.partition, state)
        if not frame.from_latest:
            start, error, because = lineage.compare(
                frame.lineage,
                frame.offset,
                state.epochs,
                log_start=state.log_start_offset,
                log_end=state.log_end_offset,
                began_at=began,
            )
            if error is not MirrorError.NO_ERROR:
                return self._sender.send(Declined(frame.subscription, error, because, start, began))
        subscription = self._add(frame, state, start)
        if subscription.is_watched:
            return self._agree(subscription, start, state, now)
        self._ready.add(subscription.number)
        effects: Effects = []
        if start >= state.log_start_offset:
            effects += self._agree(subscription, start, state, now)
        return effects + self._pump(now)

    def unsubscribe(self, number: int) -> None:
        subscription = self._subscriptions.pop(number, None)
        if subscription is not None:
            self._numbers.pop(subscription.partition, None)
        self._ready.remove(number)
        for numbers in (self._stale, self._watched, self._chained):
            numbers.pop(number, None)

    def credit(self, granted_bytes: int, now: Instant) -> Effects:
        self._reads.grant(granted_bytes)
        return self._pump(now)

    def chunk_sent(self, now: Instant) -> Effects:
        self._reads.chunk_sent()
        return self._pump(now)

    def close(self) -> None:
        """The stream has ended. Questions may have been lost with it: they are not answered."""
        self._subscriptions.clear()
        self._ready.clear()
        self._reads.close()
        for ticket in self._asked:
            self._region.forget(ticket)
        self._asked.clear()

    def advanced(self, partition: TopicPartition, now: Instant) -> Effects:
        """The partition's log moved: send what is new, or its offset bounds if there is nothing to send."""
        subscription = self._subscriptions.get(self._numbers.get(partition, 0))
        if subscription is None:
            return []
        self._stale[subscription.number] = None
        if subscription.is_watched:
            self._watched[subscription.number] = None
        if subscription.reading or subscription.position < 0 or subscription.is_watched:
            return []
        self._ready.add(subscription.number)
        effects = self._pump(now)
        state = self._serving(subscription)
        if state is None:
            return effects  # the read above has ended the subscription, or the next beacon does
        if subscription.position >= state.high_watermark:
            effects += self._send_bounds(self._changed_bounds([subscription.number], now), now)
        return effects

    def beacon(self, now: Instant, nonce: int = 0) -> Effects:
        """All offset bounds that were sent before are still true, except those in this beacon."""
        self._stale.update({} if nonce else self._chained)  # that time passes is told now and then
        effects = self._end_unknown()
        changed = self._changed_bounds(list(self._stale), now)
        return [*effects, *self._sender.send(Beacon(now, tuple(changed), nonce))]

    def _end_unknown(self) -> Effects:
        """End subscriptions whose partition went offline before its new bounds were sent: the old ones are not true."""
        effects: Effects = []
        for number in list(self._stale):
            subscription = self._subscriptions[number]
            if self._serving(subscription) is None:
                effects += self._end(subscription)
        return effects

    def _send_bounds(self, changed: list[tuple[int, OffsetBounds]], now: Instant) -> Effects:
        if not changed:
            return []
        watched = self._changed_bounds(list(self._watched), now)
        return self._sender.send(Beacon(now, (*changed, *watched)))

    def _changed_bounds(self, numbers: list[int], now: Instant) -> list[tuple[int, OffsetBounds]]:
        changed = []
        for number in numbers:
            self._stale.pop(number, None)
            self._watched.pop(number, None)
            subscription = self._subscriptions[number]
            state = self._serving(subscription)
            if not subscription.agreed or state is None:
                continue
            bounds = bounds_of(state, subscription, self._origin_lag, now)
            if bounds != subscription.sent_bounds:
                subscription.sent_bounds = bounds
                changed.append((number, bounds))
        return changed

    def _agree(
        self, subscription: Subscription, start: Offset, state: PartitionState, now: Instant
    ) -> Effects:
        what = skipped(self._region, subscription, start, state)
        subscription.agree(start, state)
        bounds = subscription.sent_bounds = bounds_of(state, subscription, self._origin_lag, now)
        return self._sender.send(
            Agreed(subscription.number, start, state.leader_epoch, bounds, now, *what)
        )

    def _pump(self, now: Instant) -> Effects:
        """Read for the partitions that are ready, in turn, while credit and the network allow."""
        effects: Effects = []
        while self._ready and self._reads.may_read:
            effects += self._take_turn(self._subscriptions[self._ready.pop()], now)
        return effects

    def _take_turn(self, subscription: Subscription, now: Instant) -> Effects:
        state = self._serving(subscription)
        if state is None:
            return self._end(subscription)
        offset = max(subscription.position, state.log_start_offset)
        if offset >= state.high_watermark:
            outrun = offset > subscription.position or not subscription.agreed
            return self._agree(subscription, offset, state, now) if outrun else []
        subscription.reading = True
        size = self._reads.begin_read()
        return self._ask(
            lambda ticket: ReadToHighWatermark(ticket, subscription.partition, offset, size),
            partial(self._on_read, subscription, size),
        )

    def _on_read(
        self, subscription: Subscription, size: int, read: HighWatermarkRead, now: Instant
    ) -> Effects:
        subscription.reading = False
        self._reads.end_read(size)
        is_wanted = subscription.number in self._subscriptions
        effects = self._offer(subscription, read, now) if is_wanted else []
        return effects + self._pump(now)

    def _offer(self, subscription: Subscription, read: HighWatermarkRead, now: Instant) -> Effects:
        state = self._serving(subscription)
        if read.error not in (KafkaError.NONE, KafkaError.OFFSET_OUT_OF_RANGE):
            return self._end(subscription, f"{subscription.partition}: {read.error.name}")
        if state is None:
            return self._end(subscription)
        if because := self._sizes.unsendable(read):
            return self._end(subscription, because)
        if read.error is KafkaError.OFFSET_OUT_OF_RANGE:
            self._ready.add(subscription.number)
            return []  # the log start moved in between: the next read starts from there
        if self._must_wait(subscription, read, state, now):
            return []
        self._ready.charge(subscription.number, len(read.data), subscription.weight)
        self._ready.add(subscription.number)
        effects: Effects = []
        base_offset = parse_header(read.data).base_offset
        if subscription.position < read.offset and base_offset > subscription.position:
            effects += self._agree(subscription, base_offset, state, now)
        elif not subscription.agreed:
            # A batch that holds the first record of a time may begin before it.
            start = min(subscription.position, base_offset)
            effects += self._agree(subscription, start, state, now)
        return effects + self._send(subscription, read, state, now)

    def _must_wait(
        self,
        subscription: Subscription,
        read: HighWatermarkRead,
        state: PartitionState,
        now: Instant,
    ) -> bool:
        is_all, before = read.next_offset >= state.high_watermark, subscription.waits_until
        until = subscription.waits(len(read.data), self._pace, now, is_all=is_all)
        if until is not None and before is None:
            resume = self._contained.later(partial(self._resume, subscription))
            self._region.timers.set(until, resume)
        return until is not None

    def _resume(self, subscription: Subscription, now: Instant) -> Effects:
        if self._subscriptions.get(subscription.number) is not subscription:
            return []
        self._ready.add(subscription.number)
        return self._pump(now)

    def _send(
        self,
        subscription: Subscription,
        read: HighWatermarkRead,
        state: PartitionState,
        now: Instant,
    ) -> Effects:
        effects: Effects = []
        self._stale.pop(subscription.number, None)
        for piece in pieces(
            read.data, subscription.position, read.next_offset, state.segment_bases
        ):
            self._reads.put(len(piece.data))
            subscription.sent(piece)
            subscription.sent_bounds = bounds_of(state, subscription, self._origin_lag, now)
            effects += self._sender.send(
                Chunk(
                    subscription=subscription.number,
                    offset=piece.offset,
                    next_offset=piece.next_offset,
                    leader_epoch=lineage.epoch_before(state.epochs, piece.next_offset),
                    roll=piece.base >= 0,
                    bounds=subscription.sent_bounds,
                    clock=now,
                    data=piece.data,
                    is_compressed=self._pace.is_compressed,
                )
            )
        return effects

    def _end(self, subscription: Subscription, because: str = "") -> Effects:
        """Because of something, or because the partition is not sent from here any more."""
        self.unsubscribe(subscription.number)
        because = because or self._why_not(subscription.partition)
        return self._sender.send(Declined(subscription.number, MirrorError.NOT_SET, because))
