"""A link at its source, where the source dials (`link.mode` SOURCE): this broker's streams to those of the destination.

The first one is opened through `bootstrap.servers`. The destination names its brokers on it, and says which of them
mirror what this broker leads: to each of those there are `num.cluster.link.fetchers` streams. Once another stream is
open, the first one stays only if it is wanted, too. A destination of a release before version 9 of the protocol does
not say, and gets streams to all of its brokers; so does one whose link coordinator is out of reach (`wanted_streams`).
"""

from collections.abc import Callable, Iterable
from typing import Protocol

from brokers.ids import BrokerId, Instant, Offset
from linker.config import LinkConfig
from linker.control.availability import LinkAvailability
from linker.control.connection import ConnectionHost, LinkConnection
from linker.control.link_settings import LinkSettings, record_other_end
from linker.control.source_brokers import FIRST, Fetcher, must_redial
from linker.control.source_stream import SourceStream
from linker.control.wanted_streams import WantedByDestination
from linker.data import handshake
from linker.errors import LinkError
from linker.events import (
    ChunkSent,
    FrameArrived,
    PartArrived,
    Stream,
    StreamDialed,
    StreamEvent,
    StreamLost,
)
from linker.frames import Announce, Brokers, Frame, Hello, WantedStreams
from linker.protocol_versions import WANTS_STREAMS_FROM
from linker.records.link_state import LinkRecord, LinkState
from linker.region_client import Effects, RegionClient

SourceStreams = dict[Stream, SourceStream]


def dials_as_source(record: LinkRecord, config: LinkConfig) -> bool:
    """Whether this region dials as the source. With BIDIRECTIONAL the secret says that the other one does not."""
    return config.is_source or (config.is_bidirectional and bool(record.secret))


MakeStream = Callable[[Stream], SourceStream]


class DestinationConnectionHost(ConnectionHost["DestinationConnection"], Protocol):
    """Is called when a stream opens and closes."""

    def on_open(self, connection: "DestinationConnection", hello: Hello, now: Instant) -> Effects:
        """The destination has answered as expected, and is served from now on."""


class DestinationConnection(LinkConnection):
    """A stream to a broker of the destination. While it is open, `source_stream` serves it."""

    def __init__(
        self,
        region: RegionClient,
        link: LinkSettings,
        new_stream: Callable[[], Stream],
        host: DestinationConnectionHost,
        fetcher: Fetcher,
        make_stream: MakeStream,
    ) -> None:
        super().__init__(region, link, new_stream, host, fetcher.broker_id)
        self.fetcher = fetcher
        self.source_stream: SourceStream | None = None
        self.served: Stream = 0  # the stream that was served last
        self._opening_host = host
        self._make_stream = make_stream

    def _greeting(self) -> Announce:
        view, record = self._region.view, self._link.record
        return Announce(
            self._link.name,
            view.cluster_id,
            record.source_cluster_id,
            view.broker_id,
            self.fetcher.number,
            record.secret,
        )

    def on_greeting(self, frame: Frame, now: Instant) -> Effects:
        hello = handshake.check_hello(
            frame,
            cluster_id=self._region.view.cluster_id,
            expected_cluster_id=self._link.record.source_cluster_id,
        )
        if isinstance(hello, handshake.HandshakeMismatch):
            return self._refused(hello, now)
        self._opened(hello.broker_id, now)
        self.served = self.stream
        self.source_stream = self._make_stream(self.stream)
        effects = self.source_stream.on_frame(frame, now)
        if self.source_stream.closed:
            return effects + self.on_lost(LinkError.UNKNOWN, self.source_stream.because, now)
        return effects + self._opening_host.on_open(self, hello, now)

    def on_frame(self, frame: Frame, now: Instant) -> Effects:
        """A frame of the open stream."""
        assert self.source_stream is not None
        effects = self.source_stream.on_frame(frame, now)
        if self.source_stream.closed:
            effects += self.on_lost(LinkError.UNKNOWN, self.source_stream.because, now)
        return effects

    def _watch(self, now: Instant) -> None:
        """A destination that has all says nothing. One that is gone is found by gRPC's keepalive."""
        self._disarm()

    def _forget(self, now: Instant) -> Effects:
        if self.source_stream is not None:
            self.source_stream.lost()
            self.source_stream = None
        return super()._forget(now)


class SourceLink:
    """One link of `link.mode` SOURCE, on this broker. `streams` are those that this broker serves, of all links."""

    def __init__(
        self,
        region: RegionClient,
        record: LinkRecord,
        version: Offset,
        new_stream: Callable[[], Stream],
        make_stream: MakeStream,
        streams: SourceStreams,
    ) -> None:
        self._settings = LinkSettings(record, version)
        self._region = region
        self._new_stream = new_stream
        self._make_stream = make_stream
        self._streams = streams
        self._availability = LinkAvailability(self._settings)
        self._first = self._connection(Fetcher(-1, FIRST))
        self._others: dict[Fetcher, DestinationConnection] = {}
        self._endpoints: dict[BrokerId, str] = {}
        self._alive: tuple[BrokerId, ...] = ()
        self._metadata_offset: Offset = -1
        self._attempts = 0  # to open the first stream, since it was open
        self._wanted = WantedByDestination()
        self._timer: int | None = None  # looks which streams are wanted, as time has passed

    def _connection(self, fetcher: Fetcher) -> DestinationConnection:
        return DestinationConnection(
            self._region, self._settings, self._new_stream, self, fetcher, self._make_stream
        )

    @property
    def name(self) -> str:
        return self._settings.name

    @property
    def record(self) -> LinkRecord:
        """The link's document in the metadata log, of version `version`."""
        return self._settings.record

    @property
    def version(self) -> Offset:
        return self._settings.version

    @property
    def config(self) -> LinkConfig:
        return self._settings.config

    @property
    def state(self) -> LinkState:
        return self._availability.state

    @property
    def error(self) -> LinkError:
        return self._availability.error

    @property
    def because(self) -> str:
        """Why the link is not ACTIVE."""
        return self._availability.because

    # --- the metadata log ---

    def begin(self, now: Instant) -> Effects:
        """The link is new, or its node has started."""
        return self._reconsider(now)

    def adopt(self, record: LinkRecord, version: Offset, now: Instant) -> Effects:
        """The metadata log has a newer record of this link."""
        before = self._settings.adopt(record, version)
        return self._reconsider(now) if must_redial(before, self.config) else []

    def close(self, now: Instant) -> Effects:
        """The link is deleted, or dials anew."""
        self._endpoints, self._alive, self._metadata_offset, self._attempts = {}, (), -1, 0
        self._wanted.clear()
        others, self._others = self._others, {}
        effects = self._first.close(now)
        for each in others.values():
            effects += each.close(now)
        self._disarm()
        return effects

    def _reconsider(self, now: Instant) -> Effects:
        effects = self.close(now)
        if self.config.paused:
            return effects + self._availability.paused()
        return effects + self._availability.resumed() + self._first.open(now)

    # --- the streams ---

    def has_stream(self, stream: Stream) -> bool:
        """Whether this is a stream that is open or being opened."""
        return any(each.stream == stream for each in self._connections())

    def _connections(self) -> list[DestinationConnection]:
        return [self._first, *self._others.values()]

    def on_event(self, event: StreamEvent, now: Instant) -> Effects:
        """Of one of its streams."""
        connection = next(each for each in self._connections() if each.stream == event.stream)
        match event:
            case StreamDialed():
                return connection.on_dialed(now)
            case StreamLost(_, error, because):
                return connection.on_lost(error, because, now)
            case ChunkSent():
                served = connection.source_stream
                return served.on_chunk_sent(now) if served is not None else []
            case FrameArrived(_, frame):
                return self._on_frame(connection, frame, now)
            case PartArrived():
                return []  # only a destination takes them

    def _on_frame(self, connection: DestinationConnection, frame: Frame, now: Instant) -> Effects:
        connection.frame_received()
        if connection.source_stream is None:
            return connection.on_greeting(frame, now)
        match frame:
            case Brokers():
                return self._on_brokers(frame, now)
            case WantedStreams():
                self._wanted.says(connection.broker_id, frame)
                return self._follow_wanted(now)
            case _:
                return connection.on_frame(frame, now)

    def _on_brokers(self, frame: Brokers, now: Instant) -> Effects:
        """A broker of the destination has named all of them: each gets its streams."""
        if frame.metadata_offset < self._metadata_offset:
            return []  # that broker is behind another one
        self._metadata_offset = frame.metadata_offset
        self._endpoints.update({one.broker_id: one.endpoint for one in frame.brokers})
        self._alive = tuple(one.broker_id for one in frame.brokers)
        return self._follow_wanted(now)

    def _follow_wanted(self, now: Instant) -> Effects:
        """Open the streams that are wanted and closed, close those that are not wanted any more."""
        self._look(now)
        count = self.config.number("num.cluster.link.fetchers")
        wanted = self._wanted.fetchers(self._alive, count)
        effects = self._close_unwanted(wanted, now)
        for fetcher in wanted:
            is_first = fetcher == Fetcher(self._first.broker_id, FIRST)
            if fetcher not in self._others and not is_first:
                connection = self._others[fetcher] = self._connection(fetcher)
                effects += connection.open(now)
        self._rearm()
        return effects

    def _look(self, now: Instant) -> None:
        """Some brokers may be reached now, or not any more."""
        open_ones = (one for one in self._connections() if one.source_stream is not None)
        reached = {one.fetcher.broker_id for one in open_ones}
        self._wanted.look(self._alive, reached, now)

    def _close_unwanted(self, wanted: Iterable[Fetcher], now: Instant) -> Effects:
        there = [*self._others, *([self._first.fetcher] if self._is_replaceable else [])]
        over = self._wanted.outlived(there, wanted, now)
        gone = [one for one in self._others if one.broker_id not in self._alive]
        effects: Effects = []
        for fetcher in [one for one in self._others if one in over or one in gone]:
            effects += self._others.pop(fetcher).close(now)
        if self._first.fetcher in over and self._is_replaceable:
            effects += self._replace_first(now)
        return effects

    def _rearm(self) -> None:
        self._disarm()
        if (due := self._wanted.due) is not None:
            self._timer = self._region.timers.set(due, self._on_due)

    def _on_due(self, now: Instant) -> Effects:
        self._timer = None
        return self._follow_wanted(now)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._region.timers.cancel(self._timer)
            self._timer = None

    @property
    def _is_replaceable(self) -> bool:
        return self._first.source_stream is not None and self._successor() is not None

    def _successor(self) -> DestinationConnection | None:
        """What can take the place of the first stream."""
        found = (one for fetcher, one in self._others.items() if fetcher.number == FIRST)
        return next((one for one in found if one.source_stream is not None), None)

    def _replace_first(self, now: Instant) -> Effects:
        successor, before = self._successor(), self._first
        assert successor is not None
        self._first = self._others.pop(successor.fetcher)
        return before.close(now)

    # --- the host of the connections ---

    def endpoint_for(self, connection: DestinationConnection) -> str:
        """As for a destination that dials: brokers that were named are tried in turn with `bootstrap.servers`."""
        if connection is not self._first:
            return self._endpoints[connection.fetcher.broker_id]
        self._attempts += 1
        taken = {each.fetcher.broker_id for each in self._others.values()}
        others = [each for each in self._alive if each not in taken]
        choices = [*(self._endpoints[each] for each in others), ""]
        return choices[(self._attempts - 1) % len(choices)]

    def on_open(self, connection: DestinationConnection, hello: Hello, now: Instant) -> Effects:
        assert connection.source_stream is not None
        self._streams[connection.stream] = connection.source_stream
        if connection.source_stream.version >= WANTS_STREAMS_FROM:
            self._wanted.will_say(hello.broker_id)
        else:
            self._wanted.says(hello.broker_id, None)
        if connection is not self._first:
            return self._follow_wanted(now)
        self._attempts = 0
        connection.fetcher = Fetcher(hello.broker_id, FIRST)
        effects = self._availability.welcomed(hello.cluster_id)
        replaced = self._others.pop(Fetcher(hello.broker_id, FIRST), None)
        effects += replaced.close(now) if replaced is not None else []
        if self._region.is_coordinator and self.config.is_source:
            effects += record_other_end(self._region, self._settings, hello.cluster_id)
        return effects + self._follow_wanted(now)

    def on_closed(self, connection: DestinationConnection, now: Instant) -> Effects:
        self._streams.pop(connection.served, None)
        successor = self._successor() if connection is self._first else None
        if successor is not None and connection.fetcher.broker_id in self._endpoints:
            self._first = self._others.pop(successor.fetcher)
            self._others[connection.fetcher] = connection
        self._look(now)
        self._rearm()
        return []

    def on_failed(
        self, connection: DestinationConnection, error: LinkError, because: str
    ) -> Effects:
        return self._availability.failed(error, because) if connection is self._first else []

    def on_refused(
        self, connection: DestinationConnection, error: LinkError, because: str
    ) -> Effects:
        return self._availability.refused(error, because) if connection is self._first else []
