"""The streams of one link from this broker to those of the source region.

The first one is opened through `bootstrap.servers`, later also to any broker of the source that it has named. It brings
the state of topics, and says who leads their partitions. To each broker that leads a partition which this one mirrors
there are `num.cluster.link.fetchers` streams; the first stream is one of them where it has come to such a broker.

Where the source dials (`connection.mode` is INBOUND), its brokers open the streams that `requests` asks them for. The
first of those that are open takes the place of the first stream.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple, Protocol
from zlib import crc32

from brokers.ids import BrokerId, Instant, Offset, TopicPartition
from linker.config import PACES, LinkConfig
from linker.control.availability import LinkAvailability
from linker.control.link_settings import LinkSettings
from linker.control.source_connection import AcceptedConnection, SourceConnection
from linker.control.source_metadata import brokers_of
from linker.control.stream_requests import LeaderPair, StreamRequests
from linker.data.byte_rate import ByteRate
from linker.data.destination_stream import DestinationStream
from linker.errors import LinkError
from linker.events import Stream
from linker.frames import NO_BROKER, Announce, Brokers, TopicState, Welcome
from linker.region_client import Effects, RegionClient

FIRST: Final = 0  # of the streams to a broker


class Fetcher(NamedTuple):
    """One of the streams to a broker of the source (Kafka's BrokerIdAndFetcherId)."""

    broker_id: BrokerId
    number: int


class SourceBrokersHost(Protocol):
    """Is called when streams open and close."""

    def on_open(self, stream: DestinationStream, welcome: Welcome, now: Instant) -> Effects:
        """A stream is open; the first one, if `first` of the brokers is it."""

    def on_closed(self, stream: DestinationStream, now: Instant) -> Effects:
        """A stream was lost or closed, or could not be opened."""


class SourceBrokers:
    """`first` is the stream that has the state of topics."""

    def __init__(
        self,
        region: RegionClient,
        link: LinkSettings,
        new_stream: Callable[[], Stream],
        host: SourceBrokersHost,
    ) -> None:
        self.availability = LinkAvailability(link)
        self.watches_groups = False  # whether a stream to every broker of the source is wanted
        self._region = region
        self._link = link
        self._new_stream = new_stream
        self._host = host
        self._rate = ByteRate(
            region, lambda: link.config.bytes_per_second(region.limits.per_second)
        )
        self._first = SourceConnection(region, link, new_stream, self, self._rate)
        self._others: dict[Fetcher, SourceConnection] = {}
        self._endpoints: dict[BrokerId, str] = {}  # the latest of each broker that was named
        self._alive: tuple[BrokerId, ...] = ()
        self._metadata_offset: Offset = -1
        self._attempts = 0  # to open the first stream, since it was open
        self._timer: int | None = None  # looks whether the source has dialed
        self._is_closed = False  # every stream is being closed
        self._fetchers_of: dict[str, frozenset[Fetcher]] = {}  # by mirror topic
        self._wanted: Counter[Fetcher] = Counter()
        self._requests = StreamRequests(region, self)

    # --- the streams ---

    @property
    def first(self) -> DestinationStream:
        return self._first.data

    @property
    def is_open(self) -> bool:
        """Whether the first stream is open."""
        return self.first.is_open

    @property
    def metadata_streams(self) -> Iterator[DestinationStream]:
        """The open streams on which topics are watched: the first, and for groups one to each other broker."""
        if self.first.is_open:
            yield self.first
        if self.watches_groups:
            for fetcher, each in self._others.items():
                is_another = each.broker_id != self._first.broker_id
                if fetcher.number == FIRST and each.data.is_open and is_another:
                    yield each.data

    @property
    def reaches_all(self) -> bool:
        """Whether every broker whose groups are watched is reached."""
        if not self.is_open:
            return False
        others = set(self._alive) - {self._first.broker_id} if self.watches_groups else set()
        reached = {fetcher.broker_id for fetcher, each in self._others.items() if each.data.is_open}
        return others <= reached

    @property
    def why_silent(self) -> str:
        """Why a question to the source has no answer."""
        if self._link.config.paused:
            return f"link {self._link.name} is paused here (cluster.link.paused)"
        return "the source did not answer"

    def leader_of(self, state: TopicState, index: int) -> BrokerId | None:
        """The broker of the source that leads a partition; None where none does."""
        if not state.leaders:
            return self._first.broker_id  # an older release, which has one broker
        leader = state.leaders[index] if index < len(state.leaders) else NO_BROKER
        return None if leader == NO_BROKER else leader

    def fetcher_of(self, partition: TopicPartition, broker_id: BrokerId) -> Fetcher:
        """The stream that a mirror partition uses: the same after each restart."""
        count = self._fetcher_count(broker_id)
        return Fetcher(broker_id, (crc32(partition.topic.encode()) + partition.partition) % count)

    def _fetcher_count(self, broker_id: BrokerId) -> int:
        """By the configuration of the end that dials."""
        if not self._link.config.is_dialed:
            return self._link.config.number("num.cluster.link.fetchers")
        there = (one.number for one in self._others if one.broker_id == broker_id)
        return 1 + max(there, default=FIRST)

    def stream_of(self, fetcher: Fetcher) -> DestinationStream | None:
        """None while it is not open."""
        other = self._others.get(fetcher)
        if other is not None and other.data.is_open:
            return other.data
        return self.first if self._is_first(fetcher) else None

    def trouble_with(self, fetcher: Fetcher | None) -> str:
        """Why there is no stream; None: to any broker of the source."""
        who = "no broker" if fetcher is None else f"broker {fetcher.broker_id}"
        if self._link.config.is_dialed:
            has = "a stream" if fetcher is None else "no stream"
            return f"{who} of the source has {has} to broker {self._region.view.broker_id}"
        other = self._others.get(fetcher) if fetcher is not None else None
        because = other.because if other is not None else self._first.because
        return because or f"{who} of the source is {'' if fetcher is None else 'not '}reached yet"

    def has_stream(self, stream: Stream) -> bool:
        """Whether this is a stream that is open or being opened."""
        return self.connection_of(stream) is not None

    def connection_of(self, stream: Stream) -> SourceConnection | None:
        return next((each for each in self._connections() if each.stream == stream), None)

    def _connections(self) -> list[SourceConnection]:
        return list(dict.fromkeys((self._first, *self._others.values())))

    def _is_first(self, fetcher: Fetcher) -> bool:
        """Whether the first stream is that one. It may come to another broker whenever it is opened."""
        return self.first.is_open and fetcher == (self._first.broker_id, FIRST)

    # --- opening and closing ---

    def reconsider(self, now: Instant) -> Effects:
        """The configuration is new: hang up, and dial with it unless the link is paused."""
        effects = self.close(now)
        if self._link.config.paused:
            return effects + self.availability.paused()
        effects += self.availability.resumed()
        if self._link.config.is_dialed:
            self._await_source(now)
            return effects
        return effects + self._first.open(now)

    def _await_source(self, now: Instant) -> None:
        """A source that does not dial is unavailable, as one that does not answer."""
        if self._timer is not None:
            self._region.timers.cancel(self._timer)
        pause = self._link.config.number("availability.check.ms")
        self._timer = self._region.timers.set(now + pause, self._on_check)

    def _on_check(self, now: Instant) -> Effects:
        self._timer = None
        if self.is_open or self._is_closed or self._link.config.paused:
            return []
        self._await_source(now)
        because = "no broker of the source has connected"
        return self.availability.failed(LinkError.TIMEOUT_ERROR, because)

    def accept(self, stream: Stream, announce: Announce, now: Instant) -> Effects:
        """A broker of the source has opened a stream."""
        fetcher = Fetcher(announce.broker_id, announce.fetcher)
        earlier = self._others.pop(fetcher, None)
        effects = earlier.close(now) if earlier is not None else []
        connection = AcceptedConnection(
            self._region, self._link, self._new_stream, self, self._rate
        )
        self._others[fetcher] = connection
        return effects + connection.accept(stream, announce, now)

    def send_brokers(self) -> Effects:
        """A source that dials has to know whom."""
        if not self._link.config.is_dialed:
            return []
        self._requests.changed()
        brokers = brokers_of(self._region.view.image)
        return [
            send
            for each in self._connections()
            if each.data.is_open
            for send in each.data.sender.send(brokers)
        ]

    def close(self, now: Instant) -> Effects:
        """Hang up everywhere. What is known of the source is forgotten: it may be another one."""
        self._is_closed = True
        self._endpoints, self._alive, self._metadata_offset, self._attempts = {}, (), -1, 0
        effects = self._first.close(now)
        others, self._others = self._others, {}
        for each in others.values():
            effects += each.close(now)
        self._is_closed = False
        return effects

    def share(self, topic: str, pairs: Iterable[LeaderPair]) -> None:
        """Which brokers of both regions share partitions of a mirror topic; of use where the source dials."""
        if self._link.config.is_dialed:
            self._requests.share(topic, pairs)

    @property
    def alive(self) -> tuple[BrokerId, ...]:
        """The brokers that the source has."""
        return self._alive

    @property
    def told(self) -> Iterator[DestinationStream]:
        """Of each broker that has dialed the first of its open streams."""
        for fetcher, each in self._others.items():
            if fetcher.number == FIRST and each.data.is_open:
                yield each.data

    def broker_of(self, stream: DestinationStream) -> BrokerId:
        """At the other end of an open stream."""
        return next(each.broker_id for each in self._connections() if each.data is stream)

    def needs(self, source: BrokerId) -> bool:
        """Whether this broker gets data of that one of the source."""
        return any(fetcher.broker_id == source for fetcher in self._wanted)

    def want(self, topic: str, fetchers: Iterable[Fetcher], now: Instant) -> Effects:
        """The streams that a mirror topic needs from now on."""
        wanted = frozenset(fetchers)
        before = self._fetchers_of.get(topic, frozenset())
        if wanted == before:
            return []
        self._fetchers_of[topic] = wanted
        self._wanted.subtract(before)
        self._wanted.update(wanted)
        self._wanted += Counter()  # drops what nobody wants
        return self.follow_wanted(now)

    def follow_wanted(self, now: Instant) -> Effects:
        """Open the streams that are wanted and closed, close the others."""
        if self._link.config.is_dialed:
            self._requests.changed()
        if self._link.config.paused or self._link.config.is_dialed:
            return []
        wanted = dict.fromkeys(self._wanted)
        if self.watches_groups:
            wanted |= dict.fromkeys(Fetcher(broker_id, FIRST) for broker_id in self._alive)
        effects: Effects = []
        for fetcher in [one for one in self._others if one not in wanted]:
            effects += self._others.pop(fetcher).close(now)
        for fetcher in wanted:
            is_there = fetcher in self._others or self._is_first(fetcher)
            if not is_there and fetcher.broker_id in self._endpoints:
                connection = SourceConnection(
                    self._region,
                    self._link,
                    self._new_stream,
                    self,
                    self._rate,
                    fetcher.broker_id,
                )
                self._others[fetcher] = connection
                effects += connection.open(now)
        return effects

    def on_brokers(self, frame: Brokers, teller: SourceConnection, now: Instant) -> Effects:
        """A broker of the source has named all of them."""
        if frame.metadata_offset < self._metadata_offset:
            return []  # that broker is behind another one
        self._metadata_offset = frame.metadata_offset
        self._endpoints.update({one.broker_id: one.endpoint for one in frame.brokers})
        self._alive = tuple(one.broker_id for one in frame.brokers)
        effects: Effects = []
        if self.is_open and teller is not self._first and self._first.broker_id not in self._alive:
            effects = self._replace_first(teller, now)
        return effects + self.follow_wanted(now)

    def _replace_first(self, teller: SourceConnection, now: Instant) -> Effects:
        """Its broker is reached from here, and cut off from its own region: it does not hear who leads what."""
        if not self._link.config.is_dialed:
            return self._first.close(now) + self._first.open(now)
        assert teller.welcome is not None
        self._first = teller
        return self._host.on_open(teller.data, teller.welcome, now)

    # --- the host of the connections ---

    def endpoint_for(self, connection: SourceConnection) -> str:
        """Brokers that were named are tried in turn with `bootstrap.servers` (KIP-899 calls this rebootstrapping)."""
        if connection is not self._first:
            # Whoever answered there last time may have called itself another broker.
            fetcher = next(key for key, one in self._others.items() if one is connection)
            return self._endpoints[fetcher.broker_id]
        self._attempts += 1
        others = [each for each in self._alive if each != connection.broker_id]
        choices = [*(self._endpoints[each] for each in others), ""] if others else [""]
        return choices[(self._attempts - 1) % len(choices)]

    def on_open(self, connection: SourceConnection, welcome: Welcome, now: Instant) -> Effects:
        effects: Effects = []
        if self._link.config.is_dialed:
            effects += connection.data.sender.send(brokers_of(self._region.view.image))
            effects += self._requests.tell()
            if not self._first.data.is_open:
                self._first = connection
        if connection is self._first:
            self._attempts = 0
            effects += self.availability.welcomed(welcome.cluster_id) + self.follow_wanted(now)
        return effects + self._host.on_open(connection.data, welcome, now)

    def on_closed(self, connection: SourceConnection, now: Instant) -> Effects:
        effects = self._host.on_closed(connection.data, now)
        if self._link.config.is_dialed:
            return effects + self._forget_accepted(connection, now)
        # What the first stream carried may need one of its own now.
        return effects + (self.follow_wanted(now) if connection is self._first else [])

    def _forget_accepted(self, connection: SourceConnection, now: Instant) -> Effects:
        """Another stream takes the place of the first one."""
        self._others = {key: one for key, one in self._others.items() if one is not connection}
        if connection is not self._first or self._is_closed:
            return []
        for other in self._others.values():
            if other.welcome is not None:
                self._first = other
                return self._host.on_open(other.data, other.welcome, now)
        self._await_source(now)
        return []

    def on_failed(self, connection: SourceConnection, error: LinkError, because: str) -> Effects:
        return self.availability.failed(error, because) if connection is self._first else []

    def on_refused(self, connection: SourceConnection, error: LinkError, because: str) -> Effects:
        return self.availability.refused(error, because) if connection is self._first else []


def must_redial(before: LinkConfig, config: LinkConfig) -> bool:
    """Whether a change of the configuration is in force only on new streams."""
    names = (
        "cluster.link.paused",
        "replica.fetch.max.bytes",
        "replica.fetch.response.max.bytes",
        *PACES,
        "replica.socket.receive.buffer.bytes",
        "num.cluster.link.fetchers",
    )
    values = [
        (
            each.bootstrap_servers,
            each.is_window_fixed,
            each.bytes_per_second(-1),
            *(each.value(name) for name in names),
        )
        for each in (before, config)
    ]
    return values[0] != values[1]
