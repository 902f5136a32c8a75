"""So many commands at a time, with so many bytes, in all and of one address. Kafka calls such limits quotas."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sized
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Final, TypeVar

from linker.peer_limits import CommandLimits

REQUEST_SECONDS: Final = 10.0  # until there is room for a request, and until it is there
CONTENDED_SECONDS: Final = 1.0  # until it is there, while others wait for room

Request = TypeVar("Request", bound=Sized | None)


class QuotaExceeded(Exception):
    """A command that is not taken; says why, with the setting's name."""


class LateRequest(Exception):
    """A request that was not whole in time."""


def ip_of(address: str) -> str:
    """Of HOST:PORT."""
    return address.rpartition(":")[0] or address


@dataclass(eq=False, slots=True)
class _Waiting:
    """A request for which there is no room yet; `turn` is set once it has been counted."""

    ip: str
    turn: asyncio.Event = field(default_factory=asyncio.Event)


class CommandQuotas:
    """A request that comes is counted with all that it may have, and with its own length once it is there.

    gRPC takes memory for as much of a message as it announces; nothing is read of it before there is room for that.
    """

    def __init__(
        self,
        limits: CommandLimits,
        request_seconds: float = REQUEST_SECONDS,
        contended_seconds: float = CONTENDED_SECONDS,
    ) -> None:
        self._limits = limits
        self._request_seconds = request_seconds
        self._contended_seconds = min(contended_seconds, request_seconds)
        self._commands: Counter[str] = Counter()  # by address
        self._bytes: Counter[str] = Counter()
        self._waiting: list[_Waiting] = []

    @property
    def queued_bytes(self) -> int:
        """Of all commands that are under way."""
        return self._bytes.total()

    @contextmanager
    def command(self, ip: str) -> Iterator[None]:
        """While a command of this address is under way. Raises QuotaExceeded."""
        limits = self._limits
        if self._commands.total() >= limits.total:
            raise QuotaExceeded(f"{limits.total} commands are under way here (admin.max.commands)")
        if self._commands[ip] >= limits.per_ip:
            raise QuotaExceeded(
                f"{limits.per_ip} commands of this address are under way here (admin.max.commands.per.ip)"
            )
        self._commands[ip] += 1
        try:
            yield
        finally:
            self._commands[ip] -= 1
            self._commands += Counter()  # drops those of which there is none

    @asynccontextmanager
    async def request(
        self, ip: str, read: Callable[[], Awaitable[Request]]
    ) -> AsyncIterator[Request]:
        """What `read` returns, while it is kept. Raises QuotaExceeded and LateRequest."""
        await self._take(ip)
        held = self._limits.request_bytes
        try:
            data = await self._in_time(read)
            size = len(data) if data is not None else 0
            self._give_back(ip, held - size)
            held = size
            yield data
        finally:
            self._give_back(ip, held)

    async def _in_time(self, read: Callable[[], Awaitable[Request]]) -> Request:
        reading, left = asyncio.ensure_future(read()), self._request_seconds
        try:
            while not (await asyncio.wait([reading], timeout=self._contended_seconds))[0]:
                left -= self._contended_seconds
                if left <= 0 or self._waiting:
                    others = ", while others wait" if self._waiting else ""
                    waited = self._request_seconds - left
                    raise LateRequest(f"the request was not whole in {waited:.0f} s{others}")
            return reading.result()
        finally:
            reading.cancel()

    async def _take(self, ip: str) -> None:
        """Waits for room; who came first has it first, as far as his address may."""
        waiting = _Waiting(ip)
        self._waiting.append(waiting)
        self._admit()
        try:
            async with asyncio.timeout(self._request_seconds):
                await waiting.turn.wait()
        except BaseException as error:
            self._leave(waiting)
            if isinstance(error, TimeoutError):
                because = "the commands here have too many bytes (admin.queued.max.bytes)"
                raise QuotaExceeded(because) from error
            raise

    def _leave(self, waiting: _Waiting) -> None:
        if waiting.turn.is_set():
            self._give_back(waiting.ip, self._limits.request_bytes)
        else:
            self._waiting.remove(waiting)

    def _admit(self) -> None:
        for one in list(self._waiting):
            if self._has_room(one.ip):
                self._waiting.remove(one)
                self._bytes[one.ip] += self._limits.request_bytes
                one.turn.set()

    def _has_room(self, ip: str) -> bool:
        limits, size = self._limits, self._limits.request_bytes
        is_within = self._bytes[ip] + size <= limits.queued_bytes_per_ip
        return is_within and self.queued_bytes + size <= limits.queued_bytes

    def _give_back(self, ip: str, size: int) -> None:
        self._bytes[ip] -= size
        self._bytes += Counter()
        self._admit()
