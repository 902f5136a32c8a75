"""One stream that another region's link opened to this one: the handshake, then data, topics and groups.

GREETING --Hello--> OPEN        or Refused and closed, if the other end is not the expected region

What touches nothing but this stream is `_contained`: if it raises, the stream is closed and the node goes on. What
fencing, reversals, retention holds, destinations and watch quotas have is of other streams, too, and is not.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Final, TypeAlias

from brokers.ids import Instant
from brokers.internal_errors import brief, raised
from brokers.region import GroupOffsetsChanged, ImageChanged, PartitionAdvanced
from linker.containment import Containment
from linker.control.older_destinations import COMPACTED, compacted_partitions, refusal
from linker.control.source_destinations import SourceDestinations
from linker.control.source_fencing import SourceFencing
from linker.control.source_holds import Holder, SourceHolds, SubscribedStream
from linker.control.source_metadata import GroupPublisher, TopicPublisher, brokers_of
from linker.control.source_reversals import SourceReversals
from linker.data import handshake
from linker.data.chunk_sizes import sizes_for
from linker.data.credit import SendBudget, StreamSender
from linker.data.drained_beacons import DrainedBeacons
from linker.data.source_replicator import SourceReplicator
from linker.data.subscription import OriginLag
from linker.errors import ONE_BROKER, LinkError, MirrorError
from linker.events import CloseStream, Stream
from linker.frames import (
    TOPICS_MAX,
    AskBeacon,
    Credit,
    Declined,
    Frame,
    Hello,
    MirroredTopics,
    Refused,
    RewatchTopics,
    SourceBroker,
    Subscribe,
    Superseded,
    Unsubscribe,
    WatchGroups,
    WatchTopics,
)
from linker.hold_frames import HoldRetention, MirrorPositions
from linker.protocol_versions import (
    COMPACTED_FROM,
    DELETES_OFFSETS_FROM,
    SEVERAL_BROKERS_FROM,
    TELLS_ACTIVITY_FROM,
)
from linker.records.mirror_record import MIRROR_KIND
from linker.region_client import Effects, RegionClient
from linker.reversal_frames import CheckReversals, Reverse, WithdrawReversals
from linker.sliced_work import Job, SlicedWork, Step
from linker.watch_quotas import WatchShare, filters_size, names_size

BEACON_MS: Final = 500  # at least this often a destination learns that nothing else has changed
RegionChange: TypeAlias = PartitionAdvanced | ImageChanged | GroupOffsetsChanged
# Of a stream that this end has closed because of an error of its own: no StreamLost follows.
WhenFailed: TypeAlias = Callable[[Stream, str, Instant], Effects]


class SourceStream:
    """The source's side of one stream."""

    def __init__(
        self,
        region: RegionClient,
        stream: Stream,
        budget: SendBudget,
        fencing: SourceFencing,
        reversals: SourceReversals,
        holds: SourceHolds,
        destinations: SourceDestinations,
        origin_lag: OriginLag,
        when_failed: WhenFailed,
    ) -> None:
        self._origin_lag = origin_lag
        self._when_failed = when_failed
        self._contained = Containment(self._on_error)
        self.because = "the destination was refused"  # once it is closed by this end
        self._region = region
        self._holds = holds
        self._destinations = destinations
        self._fencing = fencing
        self._reversals = reversals
        self._destination = ""  # its cluster id
        self._link_name = ""
        self._budget = budget
        self._stream = stream
        self._sender = StreamSender(stream)
        self._work = SlicedWork(region)
        self._topics = TopicPublisher(region, self._sender)
        self._groups = GroupPublisher(region, self._sender, self._topics, self._contained)
        self._source: SourceReplicator | None = None  # from the handshake on
        self._drained: DrainedBeacons | None = None  # the same
        self._checking = 0  # topics of CheckReversals that are not answered yet
        self._timer: int | None = None
        self.version = 0  # of the protocol, from the handshake on
        self._share = WatchShare(self._subscriptions, self._watched_bytes)
        region.watching.add(self._share)
        self._is_versed = False  # whether the destination knows regions of several brokers
        self._sent_brokers: tuple[SourceBroker, ...] = ()

    @property
    def _holder(self) -> Holder:
        return Holder(self._destination, self._link_name)

    @property
    def is_greeting(self) -> bool:
        """Whether the other end has not said yet which side it is."""
        return self._source is None

    @property
    def closed(self) -> bool:
        """Whether the stream is closed, by this end or the other."""
        return self._sender.stream is None

    def on_frame(self, frame: Frame, now: Instant) -> Effects:
        if self.closed:
            return []
        if self._source is None:
            return self._contained.do(partial(self._greet, frame), now)
        match frame:
            case Subscribe():
                return self._subscribe(self._source, frame, now)
            case WatchTopics() | RewatchTopics() | WatchGroups():
                because = self._too_much(frame)
                if because:
                    return self._refuse(Refused(LinkError.UNKNOWN.value, because))
            case HoldRetention():
                return self._holds.asked(frame, self._holder, self._sender, now)
            case MirrorPositions(positions):
                for partition, offset in self._source.located(positions):
                    self._holds.told(self._holder, partition, offset, self._stream)
                return []
            case Superseded():
                return self._fencing.superseded(frame, self._destination, now)
            case MirroredTopics():
                return self._destinations.told(frame, self._holder, self._sender, now)
            case Reverse():
                by = (self._destination, self._link_name)
                return self._reversals.reverse(frame, *by, self._sender, now)
            case WithdrawReversals():
                return self._reversals.withdraw(frame, self._destination, now)
        return self._contained.do(partial(self._on_own_frame, self._source, frame), now)

    def _on_own_frame(self, source: SourceReplicator, frame: Frame, now: Instant) -> Effects:
        """One that touches nothing but this stream."""
        match frame:
            case Unsubscribe(subscription):
                source.unsubscribe(subscription)
                return []
            case Credit(granted_bytes):
                return source.credit(granted_bytes, now)
            case WatchTopics(topics, filters):
                watching = self._add(self._topics.watch(topics, filters), now)
                return [*watching, *self._add(self._groups.topics_watched(), now)]
            case RewatchTopics(added, removed):
                watching = self._add(self._topics.rewatch(added, removed), now)
                return [*watching, *self._add(self._groups.topics_watched(), now)]
            case WatchGroups(filters):
                return self._add(self._groups.watch(filters), now)
            case CheckReversals():
                return self._check_reversals(frame, now)
            case AskBeacon(nonce, topic, metadata_offset):
                assert self._drained is not None
                nonces = self._drained.ask(nonce, topic, metadata_offset) if topic else [nonce]
                return self._answer_beacons(nonces, now)
            case _:
                return self._refuse(Refused("UNKNOWN", f"a source takes no {type(frame).__name__}"))

    def _check_reversals(self, frame: CheckReversals, now: Instant) -> Effects:
        """More topics than a link may have are not answered: they are kept until then."""
        count = max(1, len(frame.topics))
        if self._checking + count > TOPICS_MAX:
            return []
        self._checking += count

        def job() -> Job:
            by = (self._destination, self._link_name)
            yield from self._reversals.check(frame, *by, self._sender)
            self._checking -= count

        return self._add(job(), now)

    def _subscribe(self, source: SourceReplicator, frame: Subscribe, now: Instant) -> Effects:
        refused = self._contained.do(partial(self._decline, frame), now)
        if refused:
            return refused
        on = SubscribedStream(self._stream, source.subscribed)
        self._holds.subscribed(self._holder, frame.partition, frame.offset, on)
        return self._contained.do(partial(source.subscribe, frame), now)

    def _decline(self, frame: Subscribe, now: Instant) -> Effects:
        """Nothing where it can be served."""
        is_older = self.version < COMPACTED_FROM
        because = refusal(self._region.view, frame) if is_older else ""
        because = because or self._no_room(frame)
        if not because:
            return []
        return self._sender.send(Declined(frame.subscription, MirrorError.NOT_SET, because))

    # --- errors of this end ---

    def _add(self, job: Job, now: Instant) -> Effects:
        return self._work.add(self._contained.job(job, lambda: self._work.now), now)

    def _on_error(self, error: Exception, now: Instant) -> Effects:
        """Ends this stream. To close it is safe at any time, and may be done twice."""
        stream, self.because = self._stream, f"an internal error of the source: {brief(error)}"
        effects: Effects = [raised(f"stream of link {self._link_name}", error)]
        if not self.closed:
            effects.append(CloseStream(stream))
            # Later, as whoever is called now has not returned yet.
            self._region.timers.set(now, partial(self._when_failed, stream, self.because))
        self.lost()
        return effects

    # --- what the stream may have this node follow ---

    def _subscriptions(self) -> int:
        return len(self._source.subscribed) if self._source is not None else 0

    def _watched_bytes(self) -> int:
        return self._topics.watched_bytes + self._groups.watched_bytes

    def _no_room(self, frame: Subscribe) -> str:
        """A later subscription of a partition replaces the earlier one."""
        assert self._source is not None
        if frame.partition in self._source.subscribed:
            return ""
        return self._region.watching.no_subscription(self._share)

    def _too_much(self, frame: WatchTopics | RewatchTopics | WatchGroups) -> str:
        match frame:
            case WatchTopics(topics, filters):
                size = names_size(topics) + filters_size(filters)
            case RewatchTopics(added, removed):
                size = names_size(added) + names_size(removed)
            case WatchGroups(filters):
                size = filters_size(filters)
        return self._region.watching.no_names(self._share, size)

    def _greet(self, frame: Frame, now: Instant) -> Effects:
        view = self._region.view
        answer = handshake.answer(frame, view.cluster_id, view.broker_id)
        if isinstance(answer, Refused):
            return self._refuse(answer)
        self.version = answer.version
        self._is_versed = answer.version >= SEVERAL_BROKERS_FROM
        if self._region.has_several_brokers and not self._is_versed:
            return self._refuse(Refused(LinkError.UNKNOWN.value, ONE_BROKER))
        assert isinstance(frame, Hello)
        self._destination, self._link_name = frame.cluster_id, frame.link_name
        sizes = sizes_for(frame, answer.version, self._stream)
        self._source = SourceReplicator(
            self._region,
            self._sender,
            sizes,
            self._budget,
            frame.pace,
            self._origin_lag,
            self._contained,
        )
        self._groups.tells_deletions = answer.version >= DELETES_OFFSETS_FROM
        self._groups.tells_activity = answer.version >= TELLS_ACTIVITY_FROM
        self._topics.hides_compaction = answer.version < COMPACTED_FROM
        self._drained = DrainedBeacons(self._region, self._source)
        self._arm(now)
        return [*self._sender.send(answer), *self._send_brokers()]

    def _send_brokers(self) -> Effects:
        """The brokers of this region, unless the destination knows them already."""
        found = brokers_of(self._region.view.image)
        if not self._is_versed or found.brokers == self._sent_brokers:
            return []
        self._sent_brokers = found.brokers
        return self._sender.send(found)

    def _refuse(self, refused: Refused) -> Effects:
        effects = [*self._sender.send(refused), CloseStream(self._stream)]
        self.lost()
        return effects

    def _arm(self, now: Instant) -> None:
        due = self._contained.later(self._on_beacon_due)
        self._timer = self._region.timers.set(now + BEACON_MS, due)

    def _on_beacon_due(self, now: Instant) -> Effects:
        self._arm(now)
        return self._source.beacon(now) if self._source is not None else []

    def _answer_beacons(self, nonces: Iterable[int], now: Instant) -> Effects:
        return [effect for nonce in nonces for effect in self._add(self._answer_beacon(nonce), now)]

    def _answer_beacon(self, nonce: int) -> Job:
        """Whoever asks wants to know that everything before has been sent."""
        if self._source is not None:
            beacon = self._source.beacon(self._work.now, nonce)
            yield Step(1, [*self._groups.flush(), *beacon])

    def on_chunk_sent(self, now: Instant) -> Effects:
        if self._source is None or self.closed:
            return []
        return self._contained.do(self._source.chunk_sent, now)

    def on_region(self, effect: RegionChange, now: Instant) -> Effects:
        """Something changed in this region."""
        if self._source is None or self._drained is None or self.closed:
            return []
        return self._contained.do(
            partial(self._on_region, self._source, self._drained, effect), now
        )

    def _on_region(
        self, source: SourceReplicator, drained: DrainedBeacons, effect: RegionChange, now: Instant
    ) -> Effects:
        match effect:
            case PartitionAdvanced(partition):
                effects = source.advanced(partition, now)
                return effects + self._answer_beacons(drained.advanced(partition), now)
            case GroupOffsetsChanged(group, offsets):
                return self._groups.committed(group, offsets, now)
            case ImageChanged(delta):
                if self._region.has_several_brokers and not self._is_versed:
                    return self._refuse(Refused(LinkError.UNKNOWN.value, ONE_BROKER))
                effects = self._send_brokers() if delta.brokers_changed else []
                effects += source.led(delta.partitions_changed)
                if self.version < COMPACTED_FROM:
                    topics_of = (*delta.topics_created, *delta.topic_configs_changed)
                    compacted = compacted_partitions(self._region.view, topics_of)
                    effects += source.led(compacted, COMPACTED)
                effects += self._answer_beacons(drained.due(), now)
                topics = (
                    *delta.topics_deleted,
                    *delta.topics_created,
                    *delta.topics_changed,
                    *delta.topic_configs_changed,
                    *(name for kind, name in delta.documents_changed if kind == MIRROR_KIND),
                )
                effects += self._add(self._topics.changed(dict.fromkeys(topics)), now)
                return effects + self._add(self._groups.topics_watched(), now)

    def lost(self) -> None:
        """The stream was lost or closed; nothing is sent on it any more."""
        self._sender.stream = None
        self._work.stop()
        self._region.watching.remove(self._share)
        if self._source is not None:
            self._source.close()
            self._holds.closed(self._stream)
        if self._timer is not None:
            self._region.timers.cancel(self._timer)
            self._timer = None
