"""One stream to a broker of the other region: opened, checked, and opened again after it was lost.

    RESTING --due--> DIALING --StreamDialed--> GREETING --Welcome--> OPEN
       ^                |                         |                   |
       '----------------'-------- lost -----------'-------------------'

It dials again after pauses that grow and are drawn at random, so that many links do not dial at once. They grow until a
stream has lasted: one that is lost as soon as it is open, or refused, is dialed no faster than one that nobody answers.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import Enum
from typing import Any, Final, Protocol, TypeVar

from brokers.ids import BrokerId, Instant
from linker.control.link_settings import LinkSettings
from linker.data.handshake import HandshakeMismatch
from linker.errors import LinkError
from linker.events import CloseStream, Dial, Send, Stream
from linker.frames import NO_BROKER, Frame
from linker.region_client import Effects, RegionClient

PAUSE_MS_MAX: Final = 2_000


class Phase(Enum):
    """The state of a connection."""

    RESTING = "RESTING"
    DIALING = "DIALING"
    GREETING = "GREETING"
    OPEN = "OPEN"


Connection = TypeVar("Connection", contravariant=True)


class ConnectionHost(Protocol[Connection]):
    """Is called when a stream opens and closes."""

    def endpoint_for(self, connection: Connection) -> str:
        """The `link.listener` to dial now; empty: ask `bootstrap.servers` for one."""

    def on_closed(self, connection: Connection, now: Instant) -> Effects:
        """The stream was lost or closed, or could not be opened."""

    def on_failed(self, connection: Connection, error: LinkError, because: str) -> Effects:
        """The stream was lost, or could not be opened."""

    def on_refused(self, connection: Connection, error: LinkError, because: str) -> Effects:
        """The other end refused, or is not the region expected."""


class LinkConnection(ABC):
    """Keeps one stream open from `open` to `close`. `broker_id` is that of the broker at the other end."""

    def __init__(
        self,
        region: RegionClient,
        link: LinkSettings,
        new_stream: Callable[[], Stream],
        host: ConnectionHost[Any],
        broker_id: BrokerId = NO_BROKER,
    ) -> None:
        self.phase = Phase.RESTING
        self.broker_id = broker_id
        self.because = ""  # why it is not open
        self._region = region
        self._link = link
        self._new_stream = new_stream
        self._host = host
        self._stream: Stream = 0
        self._failures = 0
        self._bootstraps = 0  # how often `bootstrap.servers` were asked
        self._timer: int | None = None
        self._greeted_at: Instant = 0
        self._opened_at: Instant | None = None
        self._has_received = False

    @property
    def stream(self) -> Stream:
        """The stream that is open or being opened; 0 without one."""
        return self._stream

    def open(self, now: Instant) -> Effects:
        """Dial, unless it is being done already."""
        return [] if self._stream or self._timer is not None else self._dial(now)

    def close(self, now: Instant) -> Effects:
        """Hang up; `open` begins anew."""
        self._failures, self._opened_at = 0, None
        if not self._stream:
            return self._forget(now)
        stream = self._stream
        return [*self._forget(now), CloseStream(stream)]

    def _dial(self, now: Instant) -> Effects:
        self._stream = self._new_stream()
        self.phase = Phase.DIALING
        config = self._link.config
        timeout_ms = config.number("request.timeout.ms")
        # The host has a timeout of its own; this one is in case that it never answers.
        self._arm(now + 2 * timeout_ms, self._on_silence)
        endpoint = self._host.endpoint_for(self)
        buffer_bytes = config.number("replica.socket.receive.buffer.bytes")
        servers = self._servers(endpoint)
        window_bytes = self._window_bytes()
        return [Dial(self._stream, servers, timeout_ms, endpoint, buffer_bytes, window_bytes)]

    def _servers(self, endpoint: str) -> tuple[str, ...]:
        """`bootstrap.servers`, each first in turn: one that answers to nobody takes the whole time of an attempt."""
        servers = self._link.config.bootstrap_servers
        if endpoint or not servers:
            return servers
        first = self._bootstraps % len(servers)
        self._bootstraps += 1
        return servers[first:] + servers[:first]

    def _window_bytes(self) -> int:
        """Of chunks that may be under way to this end."""
        return 0

    def on_dialed(self, now: Instant) -> Effects:
        if self.phase is not Phase.DIALING:
            return []
        return self._greet(now)

    def _greet(self, now: Instant) -> Effects:
        self.phase, self._greeted_at = Phase.GREETING, now
        self._arm(now + self._link.config.number("request.timeout.ms"), self._on_silence)
        return [Send(self._stream, self._greeting())]

    @abstractmethod
    def _greeting(self) -> Frame:
        """The first frame of this end."""

    @abstractmethod
    def on_greeting(self, frame: Frame, now: Instant) -> Effects:
        """The first frame of the other end: the stream is `_opened`, or `_refused`."""

    def _opened(self, broker_id: BrokerId, now: Instant) -> None:
        self.phase, self._opened_at = Phase.OPEN, now
        self.broker_id, self.because = broker_id, ""
        self._watch(now)

    def _refused(self, mismatch: HandshakeMismatch, now: Instant) -> Effects:
        self._count_failure(now)
        stream, self.because = self._stream, mismatch.because
        effects = [*self._forget(now), CloseStream(stream)]
        return effects + self._host.on_refused(self, *mismatch) + self._rest(now)

    def frame_received(self) -> None:
        """A frame arrived, or a part of one."""
        self._has_received = True

    def on_lost(self, error: LinkError, because: str, now: Instant) -> Effects:
        """The stream was lost, or could not be opened."""
        self._count_failure(now)
        self.because = because
        effects = self._forget(now) + self._host.on_failed(self, error, because)
        return effects + self._rest(now)

    def _count_failure(self, now: Instant) -> None:
        has_lasted = self._opened_at is not None and now - self._opened_at >= PAUSE_MS_MAX
        self._failures = 1 if has_lasted else self._failures + 1
        self._opened_at = None

    def _rest(self, now: Instant) -> Effects:
        first = self._link.config.number("retry.backoff.ms")
        longest = max(first, PAUSE_MS_MAX)  # an operator may want fewer attempts
        pause = min(first << min(max(self._failures - 1, 0), 16), longest)
        self._arm(now + pause // 2 + int(self._region.rng.random() * pause / 2), self._dial)
        return []

    def _watch(self, now: Instant) -> None:
        self._has_received = False
        config = self._link.config
        silence = min(map(config.number, ("availability.check.ms", "replica.socket.timeout.ms")))
        self._arm(now + silence, self._on_check)

    def _on_check(self, now: Instant) -> Effects:
        if not self._has_received:
            return self._on_silence(now)
        self._watch(now)
        return []

    def _on_silence(self, now: Instant) -> Effects:
        stream = self._stream
        because = "the other region stopped answering"
        return [CloseStream(stream), *self.on_lost(LinkError.TIMEOUT_ERROR, because, now)]

    def _forget(self, now: Instant) -> Effects:
        self.phase, self._stream = Phase.RESTING, 0
        self._disarm()
        return self._host.on_closed(self, now)

    def _arm(self, due: Instant, act: object) -> None:
        self._disarm()
        self._timer = self._region.timers.set(due, act)  # type: ignore[arg-type]

    def _disarm(self) -> None:
        if self._timer is not None:
            self._region.timers.cancel(self._timer)
            self._timer = None
