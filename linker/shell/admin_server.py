"""`admin.listener`: operators' commands, and their answers."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final, Protocol
from urllib.parse import unquote

import grpc
import grpc.aio
from google.protobuf.message import DecodeError

from linker.commands import ChangeMirrors, Command, DeleteLink, RestoreMirrors
from linker.errors import LinkRefusal
from linker.events import AdminAnswered, AdminAsked, Elsewhere
from linker.peer_limits import COMMANDS, CommandLimits
from linker.shell import older_nodes
from linker.shell.admin_forwarding import FORWARDED, Forwarder, NotSent
from linker.shell.command_quotas import CommandQuotas, LateRequest, QuotaExceeded, ip_of
from linker.shell.options import admin_server_options
from linker.shell.streams import Feed
from linker.wire import administration

_END: Final = grpc.aio.EOF  # type: ignore[attr-defined]  # missing from the stubs
MOVING: Final = ("COORDINATOR_NOT_AVAILABLE", "the link coordinator is changing")
MOVING_SECONDS: Final = (
    20.0  # a frozen coordinator is fenced after its session timeout, by default 9 s
)
MOVING_PAUSE_SECONDS: Final = 0.1


def address_of(peer: str) -> str:
    """HOST:PORT of gRPC's `ipv4:10.0.0.7:43210` or `ipv6:%5B::1%5D:43210`, as REST has it, too."""
    family, _, address = peer.partition(":")
    return unquote(address) if family in ("ipv4", "ipv6") else peer


class DiskMethods(Protocol):
    """Methods that no core answers. They block, and so run in a thread."""

    methods: Mapping[str, Any]

    def answer(self, method: str, data: bytes, /) -> bytes:
        """The reply to a request; raises DecodeError for bytes that are none."""

    def recorded(self, method: str, data: bytes, /) -> Command | None:
        """The command that has the operator log tell what `answer` will change; None where it is nothing. Raises as it
        does."""


class AdminServer:
    """`bind` first, so that a port in use is known before anything starts; answers from `start` on."""

    def __init__(
        self,
        feed: Feed,
        limits: CommandLimits = COMMANDS,
        disks: DiskMethods | None = None,
    ) -> None:
        """`disks` answers what is asked of this broker's log directories."""
        self._feed = feed
        self._limits = limits
        self.quotas = CommandQuotas(limits)
        self._next_ticket = 0
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._forwarder = Forwarder()
        self._server = grpc.aio.server(options=admin_server_options(limits))
        handlers = _Handlers(self.administer, self._ask, self.quotas, disks)
        self._server.add_generic_rpc_handlers((handlers,))
        self.perform: dict[type, Callable[[Any], None]] = {AdminAnswered: self._answer}

    def bind(self, address: str) -> int:
        """Returns the port; raises RuntimeError if it is in use."""
        return self._server.add_insecure_port(address)

    async def start(self) -> None:
        await self._server.start()

    async def stop(self) -> None:
        await self._forwarder.close()
        await self._server.stop(None)

    async def administer(
        self, method: str, request: bytes, forwarded_from: str | None, peer: str
    ) -> bytes:
        """The reply to a request of admin.proto; raises MalformedRequest and grpc.aio.AioRpcError.

        `forwarded_from`: the address that a command came from, where another broker has passed it on.
        """
        # A long request or reply is translated beside the loop, for which all clients wait.
        command = await asyncio.to_thread(administration.command, method, request)
        asker = address_of(peer if forwarded_from is None else forwarded_from)
        if isinstance(command, ChangeMirrors | DeleteLink | RestoreMirrors):
            command = replace(command, asked_by=asker)
        answer = await self._ask(command, asker)
        if isinstance(answer, Elsewhere) and forwarded_from is not None:
            answer = LinkRefusal(*MOVING, hint="ask again")
        elif isinstance(answer, Elsewhere):
            answer = await self._elsewhere(answer, command, method, request, asker)
        if isinstance(answer, bytes):
            return answer
        return await asyncio.to_thread(administration.reply, method, answer)

    async def _elsewhere(
        self, answer: Any, command: Command, method: str, request: bytes, asker: str
    ) -> Any:
        """The coordinator's reply, as bytes; another answer if this broker has become it, or none can be reached."""
        until = asyncio.get_running_loop().time() + MOVING_SECONDS
        while isinstance(answer, Elsewhere):
            try:
                return await self._forwarder.ask(answer.endpoint, method, request, asker)
            except NotSent as error:
                if asyncio.get_running_loop().time() > until:
                    return LinkRefusal(MOVING[0], str(error), hint="ask again")
            except grpc.aio.AioRpcError as error:
                if error.code() is not grpc.StatusCode.UNIMPLEMENTED:
                    raise
                who = f"the link coordinator at {answer.endpoint}"
                because, hint = older_nodes.because(who, method), older_nodes.hint(method)
                return LinkRefusal(older_nodes.CODE, because, hint=hint)
            # It may have died: the metadata will name another one.
            await asyncio.sleep(MOVING_PAUSE_SECONDS)
            answer = await self._ask(command, asker)
        return answer

    async def _ask(self, command: Command, asker: str) -> Any:
        self._next_ticket += 1
        ticket = self._next_ticket
        asked = self._asked[ticket] = asyncio.get_running_loop().create_future()
        try:
            self._feed(AdminAsked(ticket, command, asker))
            return await asked
        finally:
            del self._asked[ticket]

    def _answer(self, effect: AdminAnswered) -> None:
        asked = self._asked.get(effect.ticket)
        if asked is not None and not asked.done():
            asked.set_result(effect.answer)


class _Handlers(grpc.GenericRpcHandler):  # type: ignore[type-arg]  # the class itself takes none
    """Requests and replies are bytes. A request is read once there is room for it."""

    def __init__(
        self, administer: Any, ask: Any, quotas: CommandQuotas, disks: DiskMethods | None
    ) -> None:
        self._administer = administer
        self._ask = ask
        self._quotas = quotas
        self._disks = disks

    def service(self, handler_call_details: Any) -> Any:
        name = handler_call_details.method.removeprefix(administration.SERVICE_PREFIX)
        if self._disks is not None and name in self._disks.methods:
            return self._handler(partial(self._on_disk, self._disks, name))
        if name not in administration.METHODS:
            return None
        return self._handler(partial(self._command, name))

    def _handler(self, answer: Callable[[bytes, Any], Awaitable[bytes]]) -> Any:
        """A stream of one request, on the wire as any: gRPC itself would read it before it asks anybody."""

        async def ask(_: Any, context: Any) -> bytes:
            ip = ip_of(address_of(context.peer()))
            try:
                with self._quotas.command(ip):
                    async with self._quotas.request(ip, context.read) as request:
                        if request is _END:
                            return b""  # the call was cancelled, or gRPC has refused what came
                        return await answer(request, context)
            except QuotaExceeded as error:
                await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, str(error))
                raise
            except LateRequest as error:
                await context.abort(grpc.StatusCode.DEADLINE_EXCEEDED, str(error))
                raise

        return grpc.stream_unary_rpc_method_handler(ask)

    async def _command(self, name: str, request: bytes, context: Any) -> bytes:
        try:
            forwarded_from = dict(context.invocation_metadata()).get(FORWARDED)
            return bytes(await self._administer(name, request, forwarded_from, context.peer()))
        except grpc.aio.AioRpcError as error:  # of the coordinator, to which it was forwarded
            await context.abort(*_passed_on(error))
            raise
        except administration.MalformedRequest as error:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
            raise

    async def _on_disk(self, disks: DiskMethods, name: str, request: bytes, context: Any) -> bytes:
        try:
            command = await asyncio.to_thread(disks.recorded, name, request)
            if command is not None:
                # First: after a crash in between nobody could tell what is gone. So it may be told twice.
                told = await self._ask(command, address_of(context.peer()))
                if isinstance(told, LinkRefusal):
                    await context.abort(grpc.StatusCode.UNAVAILABLE, told.because)
            return await asyncio.to_thread(disks.answer, name, request)
        except DecodeError as error:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
            raise


def _passed_on(error: grpc.aio.AioRpcError) -> tuple[grpc.StatusCode, str]:
    if error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED:
        return error.code(), f"at the link coordinator: {error.details()}"
    return grpc.StatusCode.UNAVAILABLE, f"the link coordinator does not answer: {error.details()}"
