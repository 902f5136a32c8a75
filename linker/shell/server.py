"""The gRPC server of a node: accepts streams of other regions' links, and administration."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc
import grpc.aio

from linker.errors import LinkError
from linker.events import AdminAnswered, AdminAsked, StreamAccepted
from linker.shell.options import OPEN_METHOD, channel_options
from linker.shell.streams import Feed, Streams
from linker.wire import administration

GRACE_SECONDS = 0.5


class LinkServer:
    """`bind` first, so that a port in use is known before anything starts; answers from `start` on."""

    def __init__(self, streams: Streams, feed: Feed, request_bytes_max: int) -> None:
        self._streams = streams
        self._feed = feed
        self._next_stream = 0
        self._next_ticket = 0
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._server = grpc.aio.server(options=channel_options(request_bytes_max))
        self._server.add_generic_rpc_handlers((_Handlers(self._open, self._administer),))
        self.perform: dict[type, Callable[[Any], None]] = {AdminAnswered: self._answer}

    def bind(self, address: str) -> int:
        """Returns the port; raises RuntimeError if it is in use."""
        return self._server.add_insecure_port(address)

    async def start(self) -> None:
        await self._server.start()

    async def stop(self) -> None:
        self._streams.close_all()
        await self._server.stop(GRACE_SECONDS)

    async def _open(self, _: AsyncIterator[bytes], context: Any) -> None:
        self._next_stream += 1
        number = self._next_stream
        wire = self._streams.add(number)
        self._feed(StreamAccepted(number))
        because = "the other region went away"
        try:
            because = await wire.run(context.read, context.write)
        finally:
            self._streams.remove(number, LinkError.UNKNOWN, because)

    async def _administer(self, method: str, request: bytes) -> bytes:
        self._next_ticket += 1
        ticket = self._next_ticket
        # A long request or reply is translated beside the loop, for which all clients wait.
        command = await asyncio.to_thread(administration.command, method, request)
        asked = self._asked[ticket] = asyncio.get_running_loop().create_future()
        try:
            self._feed(AdminAsked(ticket, command))
            answer = await asked
            return await asyncio.to_thread(administration.reply, method, answer)
        finally:
            del self._asked[ticket]

    def _answer(self, effect: AdminAnswered) -> None:
        asked = self._asked.get(effect.ticket)
        if asked is not None and not asked.done():
            asked.set_result(effect.answer)


class _Handlers(grpc.GenericRpcHandler):  # type: ignore[type-arg]  # the class itself takes none
    """Requests and replies are bytes."""

    def __init__(self, open_stream: Any, administer: Any) -> None:
        self._open = grpc.stream_stream_rpc_method_handler(open_stream)
        self._administer = administer

    def service(self, handler_call_details: Any) -> Any:
        method = handler_call_details.method
        if method == OPEN_METHOD:
            return self._open
        name = method.removeprefix(administration.SERVICE_PREFIX)
        if name not in administration.METHODS:
            return None

        async def ask(request: bytes, context: Any) -> bytes:
            try:
                return bytes(await self._administer(name, request))
            except administration.MalformedRequest as error:
                await context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
                raise

        return grpc.unary_unary_rpc_method_handler(ask)
