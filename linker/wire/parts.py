"""A frame in parts, for a receiver whose messages are shorter (version 8); whole frames are in `frames`."""

from collections.abc import Iterator
from typing import Final

from linker.wire.limits import FrameError
from linker.wire.v1 import link_pb2 as pb

PART_BYTES: Final = 3 << 20
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
        self._first: bytes = part.data
        self._data = bytearray()

    def begin(self) -> None:
        """There is room for it."""
        self._data += self._first
        self._first = b""

    @property
    def is_whole(self) -> bool:
        return len(self._data) == self.size

    def add(self, message: bytes) -> None:
        """Raises FrameError for what does not go on with it."""
        part = _parse(message)
        if part.frame_bytes != self.size or not 0 < len(part.data) <= self.size - len(self._data):
            raise FrameError(f"a part that is none of a frame of {self.size} bytes")
        self._data += part.data

    def whole(self) -> bytes:
        return bytes(self._data)


def _parse(message: bytes) -> pb.FramePart:
    try:
        return pb.Frame.FromString(message).frame_part
    except Exception as error:
        raise FrameError(str(error)) from error
