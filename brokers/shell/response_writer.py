"""Writes the replies of a connection: small ones together, ranges of files with sendfile.

The transport cannot send files: these are sent on a duplicate of its socket, and only while the transport's buffer is
empty. While `ready` is False no further reply is prepared: a client that does not read costs no memory.
"""

import asyncio
import socket
from collections.abc import Callable

from brokers.ids import Buffer
from brokers.shell.room import Room
from brokers.shell.sending import CutShort, Pushed, Sending
from brokers.wire.message import Chunk

# Replies to requests that arrived together are sent together, up to this size.
CORKED_BYTES_MAX = 64 * 1024
# The bytes that one connection sends from files in one iteration of the loop.
TURN_BYTES = 1 << 20


class ResponseWriter:
    """`on_room` is called when it is `ready` again, `on_failure` when it cannot send any more."""

    def __init__(
        self,
        transport: asyncio.Transport,
        room: Room,
        on_room: Callable[[], None],
        on_failure: Callable[[str], None],
    ) -> None:
        self._transport = transport
        self._room = room
        self._on_room = on_room
        self._on_failure = on_failure
        self._corked: list[Chunk] = []
        self._corked_bytes = 0
        self._is_paused = False  # the transport has unsent bytes
        self._is_broken = False
        self._sending: Sending | None = None
        self._duplicate: socket.socket | None = None
        self.used_at = 0.0  # when bytes of a file were sent
        # The transport pauses when any byte is unsent, so that files are sent after it.
        transport.set_write_buffer_limits(high=0)

    @property
    def ready(self) -> bool:
        return self._sending is None and not self._is_paused and not self._is_broken

    @property
    def is_idle(self) -> bool:
        """Whether the kernel has everything that was put."""
        return self.ready and not self._corked

    def put(self, chunks: list[Chunk], *, more_follows: bool) -> None:
        """Sends chunks, later while `more_follows`: a system call costs half as much as a request."""
        self._corked += chunks
        self._corked_bytes += sum(map(len, chunks))
        if not more_follows or self._corked_bytes >= CORKED_BYTES_MAX:
            self.flush()

    def flush(self) -> None:
        if not self._corked:
            return
        chunks, size = self._corked, self._corked_bytes
        self._corked, self._corked_bytes = [], 0
        plain = [chunk for chunk in chunks if isinstance(chunk, bytes | bytearray | memoryview)]
        if self._sending is not None:
            self._sending.extend(chunks)
        elif len(plain) < len(chunks):
            self._send(chunks)
        else:
            self._write(plain, size)

    def _write(self, chunks: list[Buffer], size: int) -> None:
        if size < CORKED_BYTES_MAX:
            self._transport.write(b"".join(chunks))
        else:
            self._transport.writelines(chunks)

    def _send(self, chunks: list[Chunk]) -> None:
        try:
            duplicate = self._duplicate or self._duplicated()
        except OSError as error:
            self._on_failure(f"no way to send a file: {error}")
            return
        self._sending = Sending(duplicate, chunks)
        if not self._is_paused:
            self._push()

    def _duplicated(self) -> socket.socket:
        self._duplicate = self._transport.get_extra_info("socket").dup()
        self._room.watch(self._duplicate.fileno(), self._push_on)
        return self._duplicate

    def _push(self) -> None:
        """Send `TURN_BYTES` at most; the rest when the socket has room, or in the next iteration of the loop."""
        assert self._sending is not None
        try:
            pushed = self._sending.push(TURN_BYTES)
        except ConnectionError:
            self._is_broken = True
            self._transport.abort()  # the client has gone; `connection_lost` follows
            return
        except (CutShort, OSError) as error:
            self._is_broken = True
            self._on_failure(str(error))
            return
        loop = asyncio.get_running_loop()
        self.used_at = loop.time()
        if pushed is Pushed.ALL:
            self._sending = None
        elif pushed is Pushed.SOME:
            loop.call_soon(self._push_on)

    def _push_on(self) -> None:
        if self._sending is None or self._is_paused or self._is_broken:
            return  # a late call
        self._push()
        if self.ready:
            self._on_room()

    def pause(self) -> None:
        self._is_paused = True

    def resume(self) -> None:
        """Called when the transport has sent all its bytes."""
        self._is_paused = False
        if self._sending is not None:
            self._push()
        if self.ready:
            self._on_room()

    def close(self) -> None:
        """Drops unsent files and closes the duplicate, which keeps the connection open."""
        self._sending = None
        if self._duplicate is not None:
            self._room.forget(self._duplicate.fileno())
            self._duplicate.close()
            self._duplicate = None

    def shrink(self) -> None:
        """Closes the duplicate while nothing is sent: an idle connection needs one descriptor."""
        if self._sending is None:
            self.close()
