"""A stream to a broker of the source, at the destination: dialed, or accepted from a source that dials."""

from collections.abc import Callable
from typing import Protocol

from brokers.ids import Instant
from linker.control.connection import ConnectionHost, LinkConnection
from linker.control.link_settings import LinkSettings
from linker.data import handshake
from linker.data.byte_rate import ByteRate
from linker.data.destination_stream import DestinationStream
from linker.errors import LinkError
from linker.events import CloseStream, Stream
from linker.frames import NO_BROKER, Announce, Frame, Hello, Welcome
from linker.records.link_secret import is_secret
from linker.region_client import Effects, RegionClient
from linker.window_budget import WindowBudget


class SourceConnectionHost(ConnectionHost["SourceConnection"], Protocol):
    """Is called when a stream opens and closes."""

    def on_open(self, connection: "SourceConnection", welcome: Welcome, now: Instant) -> Effects:
        """The source has answered as expected."""


class SourceConnection(LinkConnection):
    """`data` is open while the stream is."""

    def __init__(
        self,
        region: RegionClient,
        link: LinkSettings,
        new_stream: Callable[[], Stream],
        host: SourceConnectionHost,
        rate: ByteRate,
        broker_id: int = NO_BROKER,
    ) -> None:
        super().__init__(region, link, new_stream, host, broker_id)
        self.data = DestinationStream(
            lambda: link.config.window_bytes, rate, self._budget, self._on_excess
        )
        self.welcome: Welcome | None = None  # of the open stream
        self._source_host = host

    def _on_excess(self, now: Instant) -> Effects:
        stream, because = self._stream, "the source has sent more than it was granted"
        return [CloseStream(stream), *self.on_lost(LinkError.UNKNOWN, because, now)]

    def _budget(self) -> WindowBudget | None:
        return None if self._link.config.is_window_fixed else self._region.windows

    def _window_bytes(self) -> int:
        budget = self._budget()
        return self._link.config.window_bytes + (budget.bytes_max if budget is not None else 0)

    def _greeting(self) -> Hello:
        self.data.sender.stream = self._stream
        return self._link.hello(self._region)

    def on_greeting(self, frame: Frame, now: Instant) -> Effects:
        answer = handshake.check(
            frame,
            cluster_id=self._region.view.cluster_id,
            expected_cluster_id=self._link.record.source_cluster_id,
        )
        if isinstance(answer, handshake.HandshakeMismatch):
            return self._refused(answer, now)
        self._opened(answer.broker_id, now)
        self.welcome = answer
        opening = self.data.open(answer.version, now - self._greeted_at, now)
        return [*opening, *self._source_host.on_open(self, answer, now)]

    def _forget(self, now: Instant) -> Effects:
        self.welcome, self.data.sender.stream = None, None
        self.data.close()
        return super()._forget(now)


class AcceptedConnection(SourceConnection):
    """A stream that a broker of the source has opened. It is not opened again from here."""

    def accept(self, stream: Stream, announce: Announce, now: Instant) -> Effects:
        """Greet as if this end had dialed."""
        self._stream, self.broker_id = stream, announce.broker_id
        return self._greet(now)

    def _rest(self, now: Instant) -> Effects:
        return []


def mismatch_of(link: LinkSettings, announce: Announce, cluster_id: str) -> tuple[str, str] | None:
    """The code and the reason why this link takes no stream of that source; None if it does."""
    if not link.config.is_dialed:
        because = (
            f"link {link.name} is OUTBOUND in the destination, which dials its source:"
            " leave it to that, or create it there with connection.mode=INBOUND"
        )
        return LinkError.MISCONFIGURATION_ERROR.value, because
    if link.config.paused:
        return LinkError.UNKNOWN.value, f"link {link.name} is paused here (cluster.link.paused)"
    if not is_secret(link.record.secret_digest, announce.secret):
        because = f"the secret of link {link.name} is another"
        return LinkError.AUTHENTICATION_ERROR.value, because
    found = handshake.answer_announce(
        announce, cluster_id=cluster_id, expected_cluster_id=link.record.source_cluster_id
    )
    return None if found is None else (found.error.value, found.because)
