"""One stream as the cores see it: a place to send frames. Without a stream, what is sent vanishes."""

from linker.events import Send, Stream
from linker.frames import Credit, Frame

CREDIT_STEPS = 8  # credit is told in steps of this fraction of the window


class StreamSender:
    """`stream` is None while there is none."""

    def __init__(self, stream: Stream | None = None) -> None:
        self.stream = stream

    def send(self, *frames: Frame) -> list[Send]:
        return [Send(self.stream, frame) for frame in frames] if self.stream is not None else []


class CreditWindow:
    """How much a source may have under way to us on one stream; grows again as chunks are placed or dropped."""

    def __init__(self, line: StreamSender, capacity_bytes: int) -> None:
        self._line = line
        self._stream = line.stream
        self._capacity_bytes = capacity_bytes
        self._granted_bytes = capacity_bytes
        self._released_bytes = 0

    def open(self) -> list[Send]:
        return self._line.send(Credit(self._granted_bytes))

    def release(self, size: int) -> list[Send]:
        """`size` bytes are no longer under way."""
        self._released_bytes += size
        if self._released_bytes < self._capacity_bytes // CREDIT_STEPS:
            return []
        self._granted_bytes += self._released_bytes
        self._released_bytes = 0
        if self._line.stream != self._stream:
            return []  # a later stream has a window of its own
        return self._line.send(Credit(self._granted_bytes))
