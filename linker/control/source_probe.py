"""Asks the region at the other end for its cluster id before a link is created, or whether it takes a secret."""

from collections.abc import Callable
from typing import TypeAlias

from brokers.ids import Instant
from linker.config import LinkConfig
from linker.data import handshake
from linker.errors import LINK_HINTS, LinkError, LinkRefusal
from linker.events import CloseStream, Dial, Send, Stream
from linker.frames import Announce, Frame, Hello
from linker.records.link_state import LinkRecord
from linker.region_client import Effects, RegionClient

Found: TypeAlias = Callable[[str | LinkRefusal, Instant], Effects]


class SourceProbe:
    """`found` is called once: with the other region's cluster id, or why it is not known. Where this end `announces`
    itself, as a source does, the other one looks at the link's secret."""

    def __init__(
        self,
        region: RegionClient,
        stream: Stream,
        record: LinkRecord,
        config: LinkConfig,
        found: Found,
        *,
        announces: bool,
    ) -> None:
        self._region = region
        self._stream = stream
        self._record = record
        self._config = config
        self._announces = announces
        self._found: Found | None = found
        self._timer: int | None = None

    def begin(self, now: Instant) -> Effects:
        timeout_ms = self._config.number("request.timeout.ms")
        self._timer = self._region.timers.set(now + 2 * timeout_ms, self._on_silence)
        return [Dial(self._stream, self._config.bootstrap_servers, timeout_ms)]

    def on_dialed(self) -> Effects:
        return [Send(self._stream, self._announce() if self._announces else self._hello())]

    def on_frame(self, frame: Frame, now: Instant) -> Effects:
        ids = {
            "cluster_id": self._region.view.cluster_id,
            "expected_cluster_id": self._record.source_cluster_id,
        }
        check = handshake.check_hello if self._announces else handshake.check
        answer = check(frame, **ids)
        close = CloseStream(self._stream)
        if isinstance(answer, handshake.HandshakeMismatch):
            return [close, *self._refuse(answer.error, answer.because, now)]
        return [close, *self._finish(answer.cluster_id, now)]

    def on_lost(self, error: LinkError, because: str, now: Instant) -> Effects:
        return self._refuse(error, because, now)

    def _on_silence(self, now: Instant) -> Effects:
        refused = self._refuse(LinkError.TIMEOUT_ERROR, "the other region does not answer", now)
        return [CloseStream(self._stream), *refused]

    def _refuse(self, error: LinkError, because: str, now: Instant) -> Effects:
        return self._finish(LinkRefusal(error.value, because, hint=LINK_HINTS[error]), now)

    def _finish(self, answer: str | LinkRefusal, now: Instant) -> Effects:
        found, self._found = self._found, None
        if self._timer is not None:
            self._region.timers.cancel(self._timer)
        return found(answer, now) if found is not None else []

    def _hello(self) -> Hello:
        record = self._record
        return Hello(
            record.name, record.link_id, self._region.view.cluster_id, record.source_cluster_id
        )

    def _announce(self) -> Announce:
        view, record = self._region.view, self._record
        expected = record.source_cluster_id
        return Announce(
            record.name, view.cluster_id, expected, view.broker_id, secret=record.secret
        )
