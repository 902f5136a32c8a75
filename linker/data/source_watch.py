"""How a partition stands at its source while its records are not wanted: its mirror is paused, or has failed.

A subscription without data. The source tells of it in its beacons, with all others that changed, so the lag stays exact
and the source's clock in it goes on. From version 10 of the protocol on.
"""

from functools import partial

from brokers.ids import Instant, LeaderEpoch, TopicPartition
from linker.data.destination_stream import DestinationStream
from linker.data.mirror_link import LinkOfMirror
from linker.data.pending import end_of
from linker.data.replicator import PartitionReplicator
from linker.data.retry_backoff import RetryBackoff
from linker.errors import MirrorError
from linker.frames import Agreed, Chunk, Declined, Subscribe, Unsubscribe
from linker.offset_bounds import OffsetBounds
from linker.protocol_versions import WATCHES_FROM
from linker.region_client import Effects, RegionClient


class SourceWatch:
    """Of one partition, whose `replicator` does not run meanwhile. What is heard goes into the replicator's lag."""

    def __init__(
        self,
        region: RegionClient,
        link: LinkOfMirror,
        source: TopicPartition,
        topic_id: bytes,
        replicator: PartitionReplicator,
    ) -> None:
        self._region = region
        self._link = link
        self._source = source
        self._topic_id = topic_id
        self._replicator = replicator
        self.stream = DestinationStream()  # closed; `start` brings the one to the source's leader
        self._source_epoch: LeaderEpoch = -1
        self._subscription = 0  # 0: none
        self._is_running = False
        self._is_refused = False  # for good: the histories have parted
        self._backoff = RetryBackoff(region)

    def start(self, stream: DestinationStream, source_epoch: LeaderEpoch, now: Instant) -> Effects:
        """As of a replicator."""
        effects = self.stop() if stream is not self.stream else []
        self.stream, self._source_epoch = stream, source_epoch
        self._is_running = stream.version >= WATCHES_FROM
        if self._subscription or self._is_refused or self._backoff.is_waiting:
            return effects
        return effects + self._replicator.when_drained(self._subscribe, now)

    def stop(self) -> Effects:
        """Nothing more is heard. The lag says so."""
        self._is_running = self._is_refused = False
        self._backoff.cancel()
        return self._end()

    def _end(self) -> Effects:
        subscription, self._subscription = self._subscription, 0
        if not subscription:
            return []
        self.stream.unsubscribe(subscription)
        self._replicator.lag.freeze()
        return [*self.stream.sender.send(Unsubscribe(subscription))]

    def _subscribe(self, now: Instant) -> Effects:
        partition = self._replicator.partition
        state = self._region.view.partition_state(partition)
        is_able = self._is_running and state is not None and state.is_serving
        if not is_able or state is None or self._subscription or self._backoff.is_waiting:
            return []
        self._subscription = self.stream.subscribe(self)
        subscribe = Subscribe(
            self._subscription,
            self._source,
            self._topic_id,
            state.log_end_offset,
            state.epochs,
            leader_epoch=self._source_epoch,
            segment=end_of(state),
            is_watched=True,
        )
        return [*self.stream.sender.send(subscribe)]

    # --- frames ---

    def on_agreed(self, frame: Agreed, now: Instant) -> Effects:
        self._backoff.restore()
        self._replicator.lag.subscribed(frame.start_offset)
        return self.on_bounds(frame.bounds, frame.clock, now)

    def on_bounds(self, bounds: OffsetBounds, clock: Instant, now: Instant) -> Effects:
        """Chunks of others have a later clock, and say nothing of what is watched: the beacons' clock counts."""
        lag = self._replicator.lag
        lag.source_at(clock, bounds, self.stream.beacon_clock)
        self.progressed()
        return []

    def progressed(self) -> None:
        """The mirror's high watermark moved: what was placed last is replicated."""
        state = self._region.view.partition_state(self._replicator.partition)
        if state is not None:
            self._replicator.lag.mirror_at(state.high_watermark)

    def on_chunk(self, chunk: Chunk, now: Instant) -> Effects:
        """A source that is in order sends none."""
        return [*self.stream.window.release(len(chunk.data))]

    def on_declined(self, frame: Declined, now: Instant) -> Effects:
        effects = self._end()
        if frame.error is not MirrorError.NOT_SET:
            self._is_refused = True
            return effects
        retry = partial(self._replicator.when_drained, self._subscribe)
        self._backoff.wait(*self._link.config.retry_pauses, retry, now)
        return effects
