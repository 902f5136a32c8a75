"""How many bytes of a frame must have arrived until the loop is woken (SO_RCVLOWAT).

Nothing can be done with a part of a frame. A frame of 1 MB comes in a dozen parts from a sender that is as fast as the
receiver, and each costs a turn of the loop.
"""

import asyncio
import socket
from contextlib import suppress
from typing import Final

WORTH_BYTES: Final = 1 << 16  # a smaller rest of a frame comes at once
AT_ONCE_BYTES: Final = 1 << 19  # the receive window is larger, so that the sender goes on meanwhile


class ReceiveThreshold:
    """Of the socket of a transport, if it has one."""

    def __init__(self, transport: asyncio.BaseTransport | None = None) -> None:
        self._socket = None if transport is None else transport.get_extra_info("socket")
        self._bytes = 1

    def expect(self, missing_bytes: int) -> None:
        """So many bytes of a frame are missing: they come, or the connection ends, which wakes the loop, too."""
        wanted = min(missing_bytes, AT_ONCE_BYTES) if missing_bytes >= WORTH_BYTES else 1
        if wanted != self._bytes and self._socket is not None:
            self._bytes = wanted
            with suppress(OSError):  # it was closed meanwhile
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, wanted)
