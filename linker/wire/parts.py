"""A frame in parts, for a receiver whose messages are shorter (version 8); whole frames are in `frames`."""

from collections.abc import Iterator
from mmap import MAP_ANONYMOUS, MAP_PRIVATE, mmap
from typing import Final

from brokers.ids import Buffer
from linker.wire.limits import FrameError
from linker.wire.v1 import link_pb2 as pb

PART_BYTES: Final = 3 << 20
# Of each part but the last one: who sends a frame gets on with it.
PART_BYTES_MIN: Final = 1 << 20
_NUMBER: Final = pb.Frame.FRAME_PART_FIELD_NUMBER
# The field's tag on the wire, which takes two bytes from number 16 on.
_TAG: Final = bytes((_NUMBER << 3 & 0x7F | 0x82, _NUMBER >> 4))


def split(frame: bytes) -> Iterator[bytes]:
    """The messages that a frame is sent as."""
    for start in range(0, len(frame), PART_BYTES):
        part = pb.FramePart(frame_bytes=len(frame), data=frame[start : start + PART_BYTES])
        yield pb.Frame(frame_part=part).SerializeToString()


def is_part(message: bytes) -> bool:
    return message[:2] == _TAG


class LongFrame:
    """A frame whose parts come one by one."""

    def __init__(self, first: bytes, bytes_max: int) -> None:
        """`first` is its first part. Raises FrameError."""
        part = _parse(first)
        if part.frame_bytes > bytes_max:
            raise FrameError(f"a frame of {part.frame_bytes} bytes, above {bytes_max}")
        self.size: int = part.frame_bytes
        self.received_bytes = 0
        # Pages of its own, which take memory once they are written. The heap would keep them afterwards.
        self._data = mmap(-1, max(self.size, 1), flags=MAP_PRIVATE | MAP_ANONYMOUS)
        self._add(part)

    @property
    def is_whole(self) -> bool:
        return self.received_bytes == self.size

    def add(self, message: bytes) -> None:
        """Raises FrameError for what does not go on with it."""
        part = _parse(message)
        if part.frame_bytes != self.size:
            raise FrameError(f"a part that is none of a frame of {self.size} bytes")
        self._add(part)

    def _add(self, part: pb.FramePart) -> None:
        data = part.data
        size, missing = len(data), self.size - self.received_bytes
        if size > missing:
            raise FrameError(f"a part of {size} bytes, where {missing} are missing of its frame")
        if size < min(missing, PART_BYTES_MIN) or not size:
            raise FrameError(f"a part of {size} bytes that is not the last one of its frame")
        self._data[self.received_bytes : self.received_bytes + size] = data
        self.received_bytes += size

    def whole(self) -> Buffer:
        """Nothing is added any more."""
        return memoryview(self._data)


def _parse(message: bytes) -> pb.FramePart:
    try:
        frame = pb.Frame.FromString(message)
    except Exception as error:
        raise FrameError(f"not a part of a frame: {error}") from error
    if frame.WhichOneof("frame") != "frame_part":
        raise FrameError("another frame between the parts of one")
    return frame.frame_part
