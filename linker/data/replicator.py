"""The receiving side of one mirror partition: places chunks that continue the log. After a gap, a refusal or Declined
it subscribes again from the log end, after a pause that grows.

Chunks and holes wait in one queue. A chunk is placed once the partition's leader epoch is high enough; if it is not, it
is raised first. A hole is skipped once it is in the hole ledger and everything before it is placed. The position of a
replicator is the log end offset alone, which it asks of the region after every interruption.
"""

from collections import deque
from collections.abc import Callable
from functools import partial

from brokers.effects import Changed
from brokers.errors import KafkaError, Refusal
from brokers.ids import Instant, LeaderEpoch, Offset, TopicPartition
from brokers.metadata.commands.mirror_commands import RaiseLeaderEpochs
from brokers.region import PartitionState, Placed, PlaceRefused, SkipTo
from linker.data import truncation
from linker.data.common_offset import CommonOffset
from linker.data.destination_stream import DestinationStream
from linker.data.hole_finder import HoleFinder, HolesFound
from linker.data.lag import MirrorLag
from linker.data.log_start import LogStart, contradiction
from linker.data.mirror_link import Divergence, LinkOfMirror, ReplicatorHost
from linker.data.pending import PendingChunk, PendingHole, Queued, end_of
from linker.data.retry_backoff import RetryBackoff
from linker.data.start_offset import Start, StartOffset
from linker.errors import DIVERGED, FATAL, MirrorError
from linker.frames import Agreed, Chunk, Declined, Subscribe, Unsubscribe
from linker.offset_bounds import OffsetBounds
from linker.records import hole_ledger
from linker.region_client import Effects, RegionClient


class PartitionReplicator:
    """One partition of one mirror topic, from the stream into the log."""

    def __init__(
        self,
        region: RegionClient,
        link: LinkOfMirror,
        source: TopicPartition,
        mirror: TopicPartition,
        topic_id: bytes,
        host: ReplicatorHost,
    ) -> None:
        self.partition = mirror
        self.lag = MirrorLag()
        self.trouble = ""  # why it does not stream, for the operator
        self.common = CommonOffset()
        self._region = region
        self._link = link
        self.stream = DestinationStream()  # closed; `start` brings the one to the source's leader
        self._source_epoch: LeaderEpoch = -1
        self._host = host
        self._source_partition = source
        self._topic_id = topic_id
        self.running = False
        self._subscription = 0  # 0: none
        self._start = Start()
        self._start_offset = StartOffset(region, link, mirror)
        self._holes = HoleFinder(region, mirror, host)
        self._expected: Offset | None = None  # None until Agreed
        self._wanted_epoch: LeaderEpoch = -1
        self._queue: deque[Queued] = deque()
        self._placing = 0
        self._blocked = False  # waits for a proposal
        self._log_start = LogStart(region, link, mirror, host, self._settle)
        self._backoff = RetryBackoff(region)
        self._drained: list[Callable[[Instant], Effects]] = []

    # --- starting and stopping ---

    @property
    def subscription(self) -> int:
        return self._subscription

    @property
    def streams(self) -> bool:
        """Whether the source has agreed: `lag` is then of this subscription, not of an earlier one."""
        return self._expected is not None

    @property
    def is_drained(self) -> bool:
        """Whether the region has answered all that this replicator asked."""
        return not (self._placing or self._blocked or self._log_start.is_moving)

    def start(self, stream: DestinationStream, source_epoch: LeaderEpoch, now: Instant) -> Effects:
        """Subscribe on the open stream to the source's leader, once nothing of an earlier subscription is in flight.

        `source_epoch` is the leader epoch in which that broker leads; -1: not known.
        """
        effects = self.stop() if stream is not self.stream else []
        self.stream, self._source_epoch = stream, source_epoch
        self.running = True
        if self._subscription or self._backoff.is_waiting:
            return effects
        return effects + self.when_drained(self._subscribe, now)

    def stop(self) -> Effects:
        """Accept no more chunks. Those that are being placed still will be."""
        self.running = False
        self._backoff.cancel()
        return self._reset()

    def when_drained(self, then: Callable[[Instant], Effects], now: Instant) -> Effects:
        """`then` runs once the region has answered all that this replicator asked."""
        if self.is_drained:
            return then(now)
        self._drained.append(then)
        return []

    def _settle(self, now: Instant) -> Effects:
        if not self.is_drained:
            return []
        drained, self._drained = self._drained, []
        return [effect for then in drained for effect in then(now)]

    def _reset(self) -> Effects:
        effects: Effects = []
        if self._subscription:
            effects += self.stream.sender.send(Unsubscribe(self._subscription))
            self.stream.unsubscribe(self._subscription)
            self.lag.freeze()
        self._subscription, self._expected = 0, None
        queue, self._queue = self._queue, deque()
        for item in queue:
            if isinstance(item, PendingChunk):
                effects += item.window.release(len(item.chunk.data))
        return effects

    def _subscribe(self, now: Instant) -> Effects:
        if not self.running or self._subscription or self._backoff.is_waiting:
            return []
        state = self._state()
        if state is None:
            return self._try_later(f"{self.partition} is not open on this node", now)
        if state.shortage:
            return self._try_later(state.shortage, now)
        is_untouched = state.log_end_offset == 0 and not state.epochs
        begins = is_untouched and not self._host.is_restored(self.partition.topic)
        start = self._start_offset.decided() if begins else None
        if start:
            # It was decided, and then interrupted.
            self._drained.append(self._subscribe)
            return [self._skip_to(start)]
        self._start = self._start_offset.wanted() if begins and start is None else Start()
        if because := self._start_offset.beyond(self._start, self.stream.version):
            return self._try_later(because, now)
        self._subscription = self.stream.subscribe(self)
        self._wanted_epoch = -1
        subscribe = Subscribe(
            self._subscription,
            self._source_partition,
            self._topic_id,
            state.log_end_offset,
            state.epochs,
            self._start.from_latest,
            self._source_epoch,
            self._start.timestamp,
            self._link.config.weight_of(self._source_partition.topic),
            end_of(state),
        )
        return self.stream.sender.send(subscribe) + self._host.subscribed(self.partition, now)

    # --- frames ---

    def on_agreed(self, frame: Agreed, now: Instant) -> Effects:
        state = self._state()
        if state is None:
            return self._interrupt(f"{self.partition} went offline", now)
        expected = state.log_end_offset if self._expected is None else self._expected
        if because := contradiction(frame, expected):
            return self._doubt(MirrorError.ILLEGAL_STATE, because, now)
        self._log_start.agreed(frame, is_first=self._expected is None)
        chosen, self._start = self._start.cause, Start()
        if frame.start_offset > expected or chosen is not None:
            kept = self._keeps(frame, state, now)
            if kept is not None:
                return kept
        found = self._holes.agreed(frame, expected, chosen, state, now)
        if found.refused is not None:
            return self._stand_still(found)
        self._queue.extend(found.pending)
        self._expected = self.common.agreed(frame.start_offset)
        self.lag.subscribed(frame.start_offset)
        self._wanted_epoch = max(self._wanted_epoch, frame.leader_epoch)
        if frame.start_offset >= frame.bounds.high_watermark:
            self._recovered()
        effects = self.on_bounds(frame.bounds, frame.clock, now)
        return effects + self._advance(now)

    def _keeps(self, frame: Agreed, state: PartitionState, now: Instant) -> Effects | None:
        """What is done instead, where the log may not begin anew at the source's start."""
        if because := self._log_start.never_skips(frame, state):
            return self._fail(MirrorError.ILLEGAL_STATE, because, now)
        if self._log_start.may_skip(state):
            return None
        self.common.parted(state.log_end_offset if self._expected is None else self._expected)
        return self.stop()  # until the topic's state allows it

    def on_chunk(self, chunk: Chunk, now: Instant) -> Effects:
        window = self.stream.window
        if chunk.offset != self._expected or chunk.next_offset <= chunk.offset:
            because = f"expected offset {self._expected}, got [{chunk.offset}, {chunk.next_offset})"
            doubted = self._doubt(MirrorError.ILLEGAL_STATE, because, now)
            return [*window.release(len(chunk.data)), *doubted]
        found = self._holes.before(chunk, now)
        if found.refused is not None:
            return [*window.release(len(chunk.data)), *self._stand_still(found)]
        self._queue.extend(found.pending)
        self._expected = chunk.next_offset
        self._wanted_epoch = max(self._wanted_epoch, chunk.leader_epoch)
        self._queue.append(PendingChunk(chunk, window))
        self.lag.received(chunk.next_offset, len(chunk.data))
        effects = self._advance(now)
        return effects + self.on_bounds(chunk.bounds, chunk.clock, now)

    def _stand_still(self, found: HolesFound) -> Effects:
        self.trouble = found.because
        return self.stop() + (found.refused or [])

    def on_bounds(self, bounds: OffsetBounds, clock: Instant, now: Instant) -> Effects:
        self.lag.source_at(clock, bounds, self.stream.clock)
        self._log_start.of_source = bounds.deleted_below
        return self.progressed()

    def on_declined(self, frame: Declined, now: Instant) -> Effects:
        if frame.error is MirrorError.NOT_SET:
            return self._interrupt(frame.because, now)
        effects, self.trouble = self.stop(), frame.because
        divergence = Divergence.FAIL
        if frame.error in DIVERGED and frame.agreed_offset >= 0:
            self.common.parted(frame.agreed_offset, frame.began_at)
            divergence = self._host.on_divergence(self.partition, frame.agreed_offset)
        if divergence is Divergence.KEEP:
            return effects
        if divergence is Divergence.TRUNCATE:
            return effects + self.when_drained(partial(self._truncate, frame.agreed_offset), now)
        return effects + self._fail(frame.error, frame.because, now)

    def _truncate(self, offset: Offset, now: Instant) -> Effects:
        """Cut what the source does not have. The next leader epoch subscribes again."""
        self._blocked = True
        begin = partial(truncation.begin, self._region, self._host, self._link.name)
        return begin(self.partition, offset, self._on_truncated, now)

    def _on_truncated(self, refusal: Refusal | None, now: Instant) -> Effects:
        self._blocked = False
        effects = self._on_refused(refusal.error, refusal.because, now) if refusal else []
        return effects + self._settle(now)

    # --- the queue ---

    def _advance(self, now: Instant) -> Effects:
        if not self._subscription or self._blocked:
            return []
        state = self._state()
        if state is None:
            return self._interrupt(f"{self.partition} went offline", now)
        if self._wanted_epoch > state.leader_epoch:
            return self._raise(self._wanted_epoch)
        effects: Effects = []
        while self._queue:
            head = self._queue[0]
            if isinstance(head, PendingHole):
                return effects if self._placing else [*effects, self._record(head)]
            self._queue.popleft()
            effects.append(self._place(head))
        return effects

    def _place(self, head: PendingChunk) -> object:
        self._placing += 1
        return self._region.ask(
            lambda ticket: head.placing(ticket, self._link.name, self.partition),
            partial(self._on_placed, head),
        )

    def _on_placed(
        self, head: PendingChunk, answer: Placed | PlaceRefused, now: Instant
    ) -> Effects:
        self._placing -= 1
        effects: Effects = [*head.window.placed(len(head.chunk.data), now)]
        outdated = (KafkaError.OFFSET_OUT_OF_RANGE, head.chunk.offset)
        if isinstance(answer, Placed) and answer.next_offset != head.chunk.next_offset:
            because = f"batches up to {answer.next_offset} came as one to {head.chunk.next_offset}"
            effects += self._doubt(MirrorError.ILLEGAL_STATE, because, now)
        elif isinstance(answer, Placed):
            self._recovered()
            self._holes.placed(head.chunk)
            self.common.placed(answer.next_offset)
            effects += self.progressed()
        elif (answer.error, answer.log_end_offset) == outdated:
            # The chunk continues the log, its batches do not: the source has other batches there than before.
            effects += self._doubt(MirrorError.UNEXPECTED_TRUNCATION, answer.because, now)
        else:
            effects += self._on_refused(answer.error, answer.because, now)
        return effects + self._advance(now) + self._settle(now)

    def progressed(self) -> Effects:
        """The mirror's own high watermark moved."""
        state = self._state()
        if state is None:
            return []
        self.lag.mirror_at(state.high_watermark)
        return self._log_start.follow(state)

    def _raise(self, leader_epoch: LeaderEpoch) -> Effects:
        self._blocked = True
        return self._region.raise_leader_epochs(
            RaiseLeaderEpochs(
                topic=self.partition.topic, leader_epochs={self.partition.partition: leader_epoch}
            ),
            partial(self._on_raised, leader_epoch),
        )

    def _on_raised(self, leader_epoch: LeaderEpoch, result: object, now: Instant) -> Effects:
        self._blocked = False
        state = self._state()
        effects: Effects = []
        if isinstance(result, Refusal):
            effects += self._on_refused(result.error, result.because, now)
        elif state is not None and state.leader_epoch < leader_epoch:
            effects += self._interrupt(f"leader epoch {leader_epoch} is not in force yet", now)
        return effects + self._advance(now) + self._settle(now)

    def _record(self, skip: PendingHole) -> object:
        self._blocked = True
        command = hole_ledger.record(self._region.view.image, skip.hole)
        return self._region.propose(command, partial(self._on_recorded, skip))

    def _on_recorded(self, skip: PendingHole, result: object, now: Instant) -> Effects:
        self._blocked = False
        if isinstance(result, Refusal):
            return self._on_refused(result.error, result.because, now) + self._settle(now)
        self._region.holes.follow(self._region.view.image, ((skip.hole.kind, skip.hole.name),))
        if not self._queue or self._queue[0] is not skip:
            # It was interrupted: the same hole will be recorded again, under the same name.
            return self._settle(now)
        self._queue.popleft()
        if skip.offset is None:
            return [*skip.changes, *self._advance(now)]
        return [self._skip_to(skip.offset), *skip.changes]

    def _skip_to(self, offset: Offset) -> object:
        self._placing += 1
        return self._region.ask(
            lambda ticket: SkipTo(ticket, self._link.name, self.partition, offset),
            self._on_skipped,
        )

    def _on_skipped(self, answer: Placed | PlaceRefused, now: Instant) -> Effects:
        self._placing -= 1
        if isinstance(answer, PlaceRefused):
            return self._on_refused(answer.error, answer.because, now) + self._settle(now)
        self.common.placed(answer.next_offset)
        return self._advance(now) + self._settle(now)

    # --- failures ---

    def _recovered(self) -> None:
        self.trouble = ""
        self._backoff.restore()

    def _on_refused(self, error: KafkaError, because: str, now: Instant) -> Effects:
        if error is KafkaError.POLICY_VIOLATION:
            return self.stop()  # the link is not the topic's writer any more
        if error in FATAL:
            return self._doubt(FATAL[error], because, now)
        return self._interrupt(because or error.name, now)

    def _doubt(self, error: MirrorError, because: str, now: Instant) -> Effects:
        """The source is at fault. Subscribe again for `cluster.link.retry.timeout.ms`; after that, fail the mirror."""
        limit = self._link.config.number("cluster.link.retry.timeout.ms")
        if self._backoff.failed_for(now) < limit:
            return self._interrupt(because, now)
        return self._fail(error, because, now)

    def _fail(self, error: MirrorError, because: str, now: Instant) -> Effects:
        effects, self.trouble = self.stop(), because
        told = f"{self.partition}: {because}"
        return effects + self._host.fail_mirror(self.partition.topic, error, told, now)

    def _interrupt(self, because: str, now: Instant) -> Effects:
        """Drop the queue and subscribe again from the log end."""
        if not self._subscription and self._backoff.is_waiting:
            return []
        return [*self._reset(), *self._try_later(because, now)]

    def _try_later(self, because: str, now: Instant) -> Effects:
        if not self.running or self._backoff.is_waiting:
            return []
        self.trouble = because
        retry = partial(self.when_drained, self._subscribe)
        self._backoff.wait(*self._link.config.retry_pauses, retry, now)
        return [Changed(f"mirror {self.partition}", "asks again", because)]

    def _state(self) -> PartitionState | None:
        state = self._region.view.partition_state(self.partition)
        return state if state is not None and state.is_serving else None
