"""Memory of big frames: that of an earlier frame, once nobody refers to it. New memory has to be cleared first, and its
pages are often new to the process, too."""

from typing import Final

KEPT_BYTES_MAX: Final = 4 << 20  # a node has several connections to each other one


class FrameMemory:
    """Keeps the memory that it gave last, until `forget`."""

    def __init__(self) -> None:
        self._kept = bytearray()

    def take(self, size: int) -> memoryview:
        """`size` bytes that nobody refers to, with anything in them."""
        if size > KEPT_BYTES_MAX:
            return memoryview(bytearray(size))
        if len(self._kept) < size or _is_referred_to(self._kept):
            self._kept = bytearray(size)
        return memoryview(self._kept)[:size]

    def forget(self) -> None:
        """Whoever refers to the memory keeps it; if nobody does, it is freed."""
        if self._kept:
            self._kept = bytearray()


def _is_referred_to(memory: bytearray) -> bool:
    """A bytearray that has views cannot change its size, and says so before it changes. Neither change moves it."""
    try:
        last = memory.pop()
    except BufferError:
        return True
    memory.append(last)
    return False
