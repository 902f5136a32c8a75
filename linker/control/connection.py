"""The stream of a link to its source: opened, checked, and opened again after it was lost.

    RESTING --due--> DIALING --StreamDialed--> GREETING --Welcome--> OPEN
       ^                |                         |                   |
       '----------------'-------- lost -----------'-------------------'

A lost stream, a failed dial and `availability.check.ms` without a frame are each a failed availability check. After
`availability.check.consecutive.failure.threshold` of them in a row the link is UNAVAILABLE. It dials again after pauses
that grow and are drawn at random, so that many links do not dial at once.
"""

from collections.abc import Callable
from enum import Enum
from typing import Final, Protocol

from brokers.effects import Changed
from brokers.ids import Instant
from linker.control.link_settings import LinkSettings
from linker.data import handshake
from linker.data.credit import StreamSender
from linker.errors import SEVERAL_NODES, LinkError
from linker.events import CloseStream, Dial, Stream
from linker.frames import Frame, Hello
from linker.records.link_state import TRANSITIONS, LinkState, LinkTrigger
from linker.region_client import Effects, RegionClient

PAUSE_MS_MAX: Final = 2_000


class Phase(Enum):
    """The state of the one stream of a link."""

    RESTING = "RESTING"
    DIALING = "DIALING"
    GREETING = "GREETING"
    OPEN = "OPEN"


class ConnectionHost(Protocol):
    """Is called when the stream opens and closes."""

    def on_open(self, source_cluster_id: str, now: Instant) -> Effects: ...

    def on_closed(self, now: Instant) -> Effects: ...


class SourceConnection:
    """Keeps one stream open while the link is not paused."""

    def __init__(
        self,
        region: RegionClient,
        link: LinkSettings,
        sender: StreamSender,
        new_stream: Callable[[], Stream],
        host: ConnectionHost,
    ) -> None:
        self.phase = Phase.RESTING
        self.state = LinkState.UNKNOWN
        self.error = LinkError.NO_ERROR
        self.because = ""
        self._region = region
        self._link = link
        self._sender = sender
        self._new_stream = new_stream
        self._host = host
        self.is_suspended = False  # this region has several brokers
        self._stream: Stream = 0
        self._failures = 0
        self._timer: int | None = None
        self._has_received = False

    @property
    def stream(self) -> Stream:
        """The stream that is open or being opened; 0 without one."""
        return self._stream

    def reconsider(self, now: Instant) -> Effects:
        """The configuration or the set of brokers is new: pause, suspend, or dial with it."""
        effects = self._hang_up(now)
        if self._link.config.paused:
            return effects + self._turn(LinkTrigger.PAUSE, "cluster.link.paused")
        self._failures = 0
        effects += self._turn(LinkTrigger.RESUME, "")
        self.is_suspended = self._region.has_several_brokers
        if self.is_suspended:
            self.error, self.because = LinkError.UNKNOWN, SEVERAL_NODES
            return effects + self._turn(LinkTrigger.SUSPEND, SEVERAL_NODES)
        return effects + self._dial(now)

    def brokers_changed(self, now: Instant) -> Effects:
        """A broker of this region was registered or unregistered: suspend the link, or dial again."""
        is_over = self._region.has_several_brokers == self.is_suspended
        return [] if is_over or self._link.config.paused else self.reconsider(now)

    def close(self, now: Instant) -> Effects:
        """The link is deleted."""
        return self._hang_up(now)

    def _dial(self, now: Instant) -> Effects:
        self._stream = self._new_stream()
        self.phase = Phase.DIALING
        config = self._link.config
        timeout_ms = config.number("request.timeout.ms")
        # The host has a timeout of its own; this one is in case that it never answers.
        self._arm(now + 2 * timeout_ms, self._on_silence)
        return [Dial(self._stream, config.bootstrap_servers, timeout_ms)]

    def on_dialed(self, now: Instant) -> Effects:
        if self.phase is not Phase.DIALING:
            return []
        self.phase = Phase.GREETING
        self._sender.stream = self._stream
        self._arm(now + self._link.config.number("request.timeout.ms"), self._on_silence)
        return [*self._sender.send(self._hello())]

    def _hello(self) -> Hello:
        return self._link.hello(self._region.view.cluster_id)

    def on_greeting(self, frame: Frame, now: Instant) -> Effects:
        """The first frame of the source."""
        hello = self._hello()
        answer = handshake.check(
            frame, cluster_id=hello.cluster_id, expected_cluster_id=hello.expected_cluster_id
        )
        if isinstance(answer, handshake.HandshakeMismatch):
            self.error, self.because = answer
            effects = self._hang_up(now) + self._turn(LinkTrigger.REFUSED, answer.because)
            return effects + self._rest(now)
        self.phase = Phase.OPEN
        self._failures = 0
        self.error, self.because = LinkError.NO_ERROR, ""
        self._watch(now)
        effects = self._turn(LinkTrigger.WELCOMED, f"region {answer} answers")
        return effects + self._host.on_open(answer, now)

    def frame_received(self) -> None:
        """A frame arrived."""
        self._has_received = True

    def on_lost(self, error: LinkError, because: str, now: Instant) -> Effects:
        """The stream was lost, or could not be opened."""
        self._failures += 1
        self.error, self.because = error, because
        effects = self._forget(now)
        threshold = self._link.config.number("availability.check.consecutive.failure.threshold")
        if self._failures >= threshold:
            effects += self._turn(LinkTrigger.UNREACHABLE, because)
        return effects + self._rest(now)

    def _turn(self, trigger: LinkTrigger, why: str) -> Effects:
        state = TRANSITIONS[self.state, trigger]
        if state is self.state:
            return []
        self.state = state
        return [Changed(f"link {self._link.name}", state.value, why)]

    def _rest(self, now: Instant) -> Effects:
        first = self._link.config.number("retry.backoff.ms")
        pause = min(first << min(max(self._failures - 1, 0), 16), PAUSE_MS_MAX)
        self._arm(now + pause // 2 + int(self._region.rng.random() * pause / 2), self._dial)
        return []

    def _watch(self, now: Instant) -> None:
        self._has_received = False
        self._arm(now + self._link.config.number("availability.check.ms"), self._on_check)

    def _on_check(self, now: Instant) -> Effects:
        if not self._has_received:
            return self._on_silence(now)
        self._watch(now)
        return []

    def _on_silence(self, now: Instant) -> Effects:
        stream = self._stream
        because = "the source region stopped answering"
        return [CloseStream(stream), *self.on_lost(LinkError.TIMEOUT_ERROR, because, now)]

    def _hang_up(self, now: Instant) -> Effects:
        if not self._stream:
            return self._forget(now)
        stream = self._stream
        return [*self._forget(now), CloseStream(stream)]

    def _forget(self, now: Instant) -> Effects:
        self.phase, self._stream, self._sender.stream = Phase.RESTING, 0, None
        self._disarm()
        return self._host.on_closed(now)

    def _arm(self, due: Instant, act: object) -> None:
        self._disarm()
        self._timer = self._region.timers.set(due, act)  # type: ignore[arg-type]

    def _disarm(self) -> None:
        if self._timer is not None:
            self._region.timers.cancel(self._timer)
            self._timer = None
