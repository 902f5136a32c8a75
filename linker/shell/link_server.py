"""`link.listener`: accepts the streams of other regions' links, so many of them and no more."""

from collections import Counter
from collections.abc import AsyncIterator
from typing import Any, Final

import grpc
import grpc.aio

from linker.errors import LinkError
from linker.events import StreamAccepted
from linker.peer_limits import StreamLimits
from linker.shell.options import OPEN_METHOD, link_server_options
from linker.shell.streams import Feed, Streams

GRACE_SECONDS: Final = 0.5


class LinkServer:
    """`bind` first, so that a port in use is known before anything starts; accepts from `start` on."""

    def __init__(self, streams: Streams, feed: Feed, limits: StreamLimits) -> None:
        self._streams = streams
        self._feed = feed
        self._limits = limits
        self._next_stream = 0
        self._open_by_ip: Counter[str] = Counter()
        self._server = grpc.aio.server(options=link_server_options(limits))
        self._server.add_generic_rpc_handlers((_Handlers(self._open),))

    def bind(self, address: str) -> int:
        """Returns the port; raises RuntimeError if it is in use."""
        return self._server.add_insecure_port(address)

    async def start(self) -> None:
        await self._server.start()

    async def stop(self) -> None:
        self._streams.close_all()
        await self._server.stop(GRACE_SECONDS)

    async def _open(self, _: AsyncIterator[bytes], context: Any) -> None:
        ip = context.peer().rpartition(":")[0]
        if because := self._too_many(ip):
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, because)
        self._open_by_ip[ip] += 1
        self._next_stream += 1
        number = self._next_stream
        wire = self._streams.add(number)
        self._feed(StreamAccepted(number))
        because = "the other region went away"
        try:
            because = await wire.run(context.read, context.write)
        finally:
            self._open_by_ip[ip] -= 1
            self._open_by_ip += Counter()  # drops those of which none is open
            self._streams.remove(number, LinkError.UNKNOWN, because)

    def _too_many(self, ip: str) -> str:
        if self._open_by_ip.total() >= self._limits.total:
            return f"{self._limits.total} streams are open here (link.max.streams)"
        if self._open_by_ip[ip] >= self._limits.per_ip:
            return f"{self._limits.per_ip} streams of this address are open here (link.max.streams.per.ip)"
        return ""


class _Handlers(grpc.GenericRpcHandler):  # type: ignore[type-arg]  # the class itself takes none
    """Frames are bytes."""

    def __init__(self, open_stream: Any) -> None:
        self._open = grpc.stream_stream_rpc_method_handler(open_stream)

    def service(self, handler_call_details: Any) -> Any:
        return self._open if handler_call_details.method == OPEN_METHOD else None
