"""Where a source that dials is asked to have streams to, by each broker of the destination (version 9).

Who leads what is known to the link coordinator for all mirrors, to another broker for those that it leads itself. So
every broker of the source is asked for a stream to the coordinator, which asks it for all others; and a broker that
gets data goes on asking for its streams by itself, so that these outlive a coordinator, and that a broker of the source
which does not reach the coordinator, and has a stream to everybody, hears it. A broker without any mirror partition has
one stream: it knows by that whether the source is there.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple, Protocol

from brokers.ids import BrokerId, Instant
from linker.control.source_metadata import brokers_of
from linker.data.destination_stream import DestinationStream
from linker.frames import WantedStreams
from linker.protocol_versions import WANTS_STREAMS_FROM
from linker.region_client import Effects, RegionClient

GATHER_MS: Final = 20


class LeaderPair(NamedTuple):
    """The leaders of a partition."""

    source: BrokerId
    mirror: BrokerId


class Sources(Protocol):
    """The streams that the brokers of the source have to this one."""

    @property
    def alive(self) -> Sequence[BrokerId]:
        """The brokers that the source has."""

    @property
    def told(self) -> Iterator[DestinationStream]:
        """The open streams on which to say it: one of each broker."""

    def broker_of(self, stream: DestinationStream) -> BrokerId:
        """At the other end."""

    def needs(self, source: BrokerId) -> bool:
        """Whether this broker gets data of that one."""


class StreamRequests:
    """`changed` after whatever may have changed what is wanted."""

    def __init__(self, region: RegionClient, sources: Sources) -> None:
        self._region = region
        self._sources = sources
        self._pairs_of: dict[str, frozenset[LeaderPair]] = {}  # by mirror topic
        self._pairs: Counter[LeaderPair] = Counter()
        self._told: dict[DestinationStream, WantedStreams] = {}
        self._is_due = False
        self._told_at: Instant = 0

    def share(self, topic: str, pairs: Iterable[LeaderPair]) -> None:
        """Which brokers share partitions of a mirror topic, as this broker knows it."""
        found = frozenset(pairs)
        before = self._pairs_of.pop(topic, frozenset())
        if found:
            self._pairs_of[topic] = found
        if found == before:
            return
        self._pairs.subtract(before)
        self._pairs.update(found)
        self._pairs += Counter()  # drops what no topic has
        self.changed()

    def changed(self) -> None:
        """Brokers are told soon: what changes many topics calls this for each of them."""
        if not self._is_due:
            self._is_due = True
            self._region.timers.set(self._told_at + GATHER_MS, self._on_due)

    def _on_due(self, now: Instant) -> Effects:
        self._is_due, self._told_at = False, now
        return self.tell()

    def tell(self) -> Effects:
        """Where it has changed."""
        effects: Effects = []
        streams = [one for one in self._sources.told if one.version >= WANTS_STREAMS_FROM]
        self._told = {one: self._told[one] for one in streams if one in self._told}
        for stream in streams:
            wanted = self.wanted_of(self._sources.broker_of(stream))
            if self._told.get(stream) != wanted:
                self._told[stream] = wanted
                effects += stream.sender.send(wanted)
        return effects

    def wanted_of(self, source: BrokerId) -> WantedStreams:
        """What a broker of the source is to be told now."""
        here, coordinator = self._region.view.broker_id, self._region.coordinator
        data = {here} if self._sources.needs(source) else set()
        metadata = {coordinator.id} if coordinator is not None else set()
        if self._region.is_coordinator:
            data |= {mirror for one, mirror in self._pairs if one == source}
            metadata |= self._idle(source)
        return WantedStreams(tuple(sorted(data)), tuple(sorted(metadata - data)))

    def _idle(self, source: BrokerId) -> set[BrokerId]:
        """Those that have no other stream, spread over the brokers of the source."""
        sources = sorted(self._sources.alive)
        if source not in sources:
            return set()
        busy = {mirror for one, mirror in self._pairs if one in sources}
        brokers = (one.broker_id for one in brokers_of(self._region.view.image).brokers)
        others = [one for one in brokers if one not in busy and one != self._region.view.broker_id]
        return set(others[sources.index(source) :: len(sources)])
