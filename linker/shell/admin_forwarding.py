"""Commands that only the link coordinator can answer, forwarded to its `admin.listener` as they came."""

import asyncio
from typing import Any, Final

import grpc
import grpc.aio

from linker.shell.options import ADMINISTRATOR_OPTIONS
from linker.wire import administration

# In a request's metadata, with the address that it came from: it is not forwarded again.
FORWARDED: Final = "causeway-forwarded-from"
FORWARD_SECONDS: Final = 300.0  # the asker has a shorter time of its own for most commands
CONNECT_SECONDS: Final = 1.0


class NotSent(Exception):
    """The coordinator cannot be connected to: it has not taken the command."""


class Forwarder:
    """One channel to each coordinator that was forwarded to."""

    def __init__(self) -> None:
        self._channels: dict[str, grpc.aio.Channel] = {}

    async def ask(self, endpoint: str, method: str, request: bytes, asker: str) -> bytes:
        """The reply, as bytes; raises NotSent, and grpc.aio.AioRpcError where nobody knows."""
        channel = self._channels.get(endpoint)
        if channel is None:
            channel = grpc.aio.insecure_channel(endpoint, options=ADMINISTRATOR_OPTIONS)
            self._channels[endpoint] = channel
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await channel.channel_ready()
        except TimeoutError as error:
            await self._channels.pop(endpoint).close(None)  # it would wait longer and longer
            raise NotSent(f"the link coordinator at {endpoint} does not answer") from error
        unary: Any = channel.unary_unary
        call = unary(f"{administration.SERVICE_PREFIX}{method}")
        reply = await call(request, timeout=FORWARD_SECONDS, metadata=((FORWARDED, asker),))
        return bytes(reply)

    async def close(self) -> None:
        channels, self._channels = self._channels, {}
        await asyncio.gather(*(each.close(None) for each in channels.values()))
