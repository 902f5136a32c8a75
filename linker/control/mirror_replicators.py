"""The replicators of one mirror topic on this broker: one for each partition that it leads (Kafka's fetcher threads).

Each uses the stream to the broker of the source that leads its partition there, and moves when another one does.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Protocol, TypeAlias

from brokers.ids import Instant, TopicPartition
from linker.control.source_brokers import Fetcher, SourceBrokers
from linker.control.stream_requests import LeaderPair
from linker.data.destination_stream import DestinationStream
from linker.data.mirror_link import LinkOfMirror, ReplicatorHost
from linker.data.replicator import PartitionReplicator
from linker.data.source_watch import SourceWatch
from linker.frames import NO_BROKER, TopicState
from linker.records.mirror_record import MirrorRecord
from linker.records.mirror_state import LIVE
from linker.region_client import Effects, RegionClient

_Proof: TypeAlias = tuple[DestinationStream, int]  # a stream, and the number of a subscription


class MirrorReplicatorsHost(ReplicatorHost, Protocol):
    """What the replicators of a topic call of their link."""

    def leading_changed(self) -> None:
        """This broker leads partitions of a mirror topic now, or none any more."""


class ReplicatedMirror(Protocol):
    """The mirror topic that is replicated."""

    @property
    def topic(self) -> str: ...

    @property
    def record(self) -> MirrorRecord: ...

    @property
    def source_state(self) -> TopicState | None: ...

    @property
    def partition_count(self) -> int: ...

    @property
    def streams(self) -> bool: ...

    @property
    def is_watched(self) -> bool: ...


class MirrorReplicators:
    """`by_index` has those that were needed once; `refresh` after whatever may have changed who runs."""

    def __init__(
        self,
        region: RegionClient,
        link: LinkOfMirror,
        sources: SourceBrokers,
        host: MirrorReplicatorsHost,
        mirror: ReplicatedMirror,
    ) -> None:
        self.by_index: dict[int, PartitionReplicator] = {}
        self._watches: dict[int, SourceWatch] = {}  # of those that are to be watched, not copied
        self._asked: set[_Proof] = set()  # subscriptions for which a beacon was asked
        self._proven: set[_Proof] = set()  # those for which it came
        self._served: dict[int, Instant] = {}  # partitions that this broker leads, and since when
        self._region = region
        self._link = link
        self._sources = sources
        self._host = host
        self._mirror = mirror

    @property
    def leads(self) -> bool:
        """Whether this broker leads partitions of the topic, while it is a live mirror."""
        return bool(self._served)

    def refresh(self, now: Instant) -> Effects:
        """Replicators, or watches, run exactly for what this broker leads, each while the stream to its source's leader
        is open."""
        fetchers: dict[int, Fetcher] = {}
        was_leading = self.leads
        self._served = {
            index: self._served.get(index, now)
            for index in range(self._mirror.partition_count)
            if self._serves(index)
        }
        effects: Effects = []
        if self.leads is not was_leading:
            self._host.leading_changed()
        for index in range(self._mirror.partition_count):
            if index not in self._served:
                effects += self._stop_one(index)
                continue
            fetcher = self._fetcher_of(index)
            if fetcher is not None:
                fetchers[index] = fetcher
            effects += self._start(index, fetcher, now)
        self._sources.share(self._mirror.topic, self._pairs())
        effects += self._sources.want(self._mirror.topic, fetchers.values(), now)
        return effects + self.prove(now)

    def _serves(self, index: int) -> bool:
        partition = TopicPartition(self._mirror.topic, index)
        return self._mirror.record.state in LIVE and self._region.view.is_serving(partition)

    def _fetcher_of(self, index: int) -> Fetcher | None:
        """None while it is not to be copied or watched, or its source's leader is not known."""
        state = self._mirror.source_state
        if not self._has_source or state is None or not state.topic_id:
            return None
        leader = self._sources.leader_of(state, index)
        partition = TopicPartition(self._mirror.topic, index)
        return None if leader is None else self._sources.fetcher_of(partition, leader)

    @property
    def _has_source(self) -> bool:
        return self._mirror.streams or self._mirror.is_watched

    def _pairs(self) -> Iterator[LeaderPair]:
        """The leaders of what is to be copied or watched, whichever broker that is."""
        state = self._mirror.source_state
        image = self._region.view.image.topics_by_name.get(self._mirror.topic)
        if not self._has_source or state is None or not state.topic_id or image is None:
            return
        for index, partition in enumerate(image.partitions):
            source = self._sources.leader_of(state, index)
            if source is not None and partition.leader != NO_BROKER:
                yield LeaderPair(source, partition.leader)

    def _start(self, index: int, fetcher: Fetcher | None, now: Instant) -> Effects:
        stream = self._sources.stream_of(fetcher) if fetcher is not None else None
        if stream is None or self._mirror.source_state is None:
            return self._stop_one(index)
        if index not in self.by_index:
            self.by_index[index] = PartitionReplicator(
                self._region,
                self._link,
                TopicPartition(self._mirror.record.source_topic, index),
                TopicPartition(self._mirror.topic, index),
                self._mirror.record.source_topic_id.bytes,
                self._host,
            )
        epochs = self._mirror.source_state.leader_epochs
        source_epoch = epochs[index] if index < len(epochs) else -1
        if self._mirror.streams:
            return self._end_watch(index) + self.by_index[index].start(stream, source_epoch, now)
        return self._stop_replicator(index) + self._watch(index).start(stream, source_epoch, now)

    def _watch(self, index: int) -> SourceWatch:
        if index not in self._watches:
            record = self._mirror.record
            self._watches[index] = SourceWatch(
                self._region,
                self._link,
                TopicPartition(record.source_topic, index),
                record.source_topic_id.bytes,
                self.by_index[index],
            )
        return self._watches[index]

    def _end_watch(self, index: int) -> Effects:
        watch = self._watches.pop(index, None)
        return watch.stop() if watch is not None else []

    def trouble_of(self, index: int) -> str:
        """Why a partition that this broker leads is not copied; empty if it is, or is not to be."""
        if self._lacks_stream(index):
            return self._sources.trouble_with(self._fetcher_of(index))
        replicator = self.by_index.get(index)
        return replicator.trouble if replicator is not None else ""

    def unreached_since(self, index: int) -> Instant | None:
        """Since when this broker leads a partition whose leader at the source it does not reach; None if it does."""
        return self._served[index] if self._lacks_stream(index) else None

    def _lacks_stream(self, index: int) -> bool:
        """Whether it is not copied for that reason."""
        if index not in self._served or not self._mirror.streams:
            return False
        fetcher = self._fetcher_of(index)
        if fetcher is not None:
            return self._sources.stream_of(fetcher) is None
        return self._mirror.source_state is None and not self._sources.is_open

    def advanced(self, index: int, now: Instant) -> Effects:
        """The log of a partition was opened, or its high watermark moved."""
        replicator, watch = self.by_index.get(index), self._watches.get(index)
        if replicator is not None and replicator.running:
            return replicator.progressed()
        if watch is not None:
            watch.progressed()
        if index not in self._served:
            return self.refresh(now) if self._serves(index) else []
        return self._start(index, self._fetcher_of(index), now) + self.prove(now)

    def progressed(self) -> Effects:
        """The topic's state may allow more."""
        running = (each for each in self.by_index.values() if each.running)
        return [effect for each in running for effect in each.progressed()]

    def forget_comparisons(self) -> Effects:
        """What was found in common with the source was found for something else: `refresh` asks anew.

        Those that run are stopped for that. A broker that reads two records at once has not seen the mirror FAILED in
        between, and a source that has agreed is not asked again.
        """
        effects: Effects = []
        for index, replicator in self.by_index.items():
            effects += self._stop_replicator(index)
            replicator.common.forget()
        return effects

    def _stop_one(self, index: int) -> Effects:
        return self._end_watch(index) + self._stop_replicator(index)

    def _stop_replicator(self, index: int) -> Effects:
        replicator = self.by_index.get(index)
        return replicator.stop() if replicator is not None and replicator.running else []

    def stop(self) -> Effects:
        effects = [effect for index in list(self._watches) for effect in self._end_watch(index)]
        return effects + [effect for each in self.by_index.values() for effect in each.stop()]

    def stream_closed(self, stream: DestinationStream) -> Effects:
        """Nothing comes on this stream any more."""
        for proofs in (self._asked, self._proven):
            proofs.difference_update([proof for proof in proofs if proof[0] is stream])
        watches = [index for index, each in self._watches.items() if each.stream is stream]
        effects = [effect for index in watches for effect in self._end_watch(index)]
        running = (each for each in self.by_index.values() if each.stream is stream)
        return effects + [effect for each in running for effect in each.stop()]

    # --- the proof of a promotion or reversal ---

    def prove(self, now: Instant) -> Effects:
        """Ask each source for a beacon: it comes after all that the source had when it was asked, of all that is
        subscribed by then."""
        record = self._mirror.record
        if not record.is_provable:
            return []
        fence = (record.source_topic, record.fenced_at) if record.is_reversing else ("", 0)
        effects: Effects = []
        for stream, subscriptions in self._unasked().items():
            proofs = [(stream, number) for number in subscriptions]
            self._asked.update(proofs)
            effects += stream.ask_beacon(partial(self._on_beacon, proofs), *fence)
        return effects

    def _unasked(self) -> dict[DestinationStream, list[int]]:
        found: dict[DestinationStream, list[int]] = {}
        for each in self.by_index.values():
            is_subscribed = each.running and each.stream.is_open and each.subscription
            if is_subscribed and (each.stream, each.subscription) not in self._asked:
                found.setdefault(each.stream, []).append(each.subscription)
        return found

    def _on_beacon(self, proofs: Iterable[_Proof], now: Instant) -> Effects:
        self._proven.update(proof for proof in proofs if proof in self._asked)
        return []

    def is_proven(self, replicator: PartitionReplicator) -> bool:
        """Whether the partition holds all that its source had when the promotion began, or after."""
        has_beacon = (replicator.stream, replicator.subscription) in self._proven
        return has_beacon and replicator.streams and replicator.lag.caught_up

    def forget_proofs(self) -> None:
        """They are of another promotion."""
        self._asked.clear()
        self._proven.clear()
