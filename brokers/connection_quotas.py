"""How many connections an HTTP listener has: in all, and of one address."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Connections of one listener. The defaults are those of the settings."""

    total: int = 64  # http.max.connections
    per_ip: int = 48  # http.max.connections.per.ip


CONNECTIONS: Final = ConnectionLimits()
One = TypeVar("One", bound=Hashable)


class ConnectionQuotas(Generic[One]):
    """Where there is no room, the connection that has waited longest for its request is dropped for a new one: one of
    the same address, where that has as many as it may."""

    def __init__(self, limits: ConnectionLimits, drop: Callable[[One], None]) -> None:
        self._limits = limits
        self._drop = drop
        self._open: dict[One, str] = {}  # with their addresses
        self._waiting: dict[One, None] = {}  # for a request, the longest first

    def __len__(self) -> int:
        return len(self._open)

    def make_room(self, ip: str) -> None:
        """For another one of this address."""
        of_ip = [each for each, address in self._open.items() if address == ip]
        if len(of_ip) >= self._limits.per_ip:
            self._drop_longest(of_ip)
        elif len(self._open) >= self._limits.total:
            self._drop_longest([*self._open])

    def _drop_longest(self, among: list[One]) -> None:
        longest = next((each for each in self._waiting if each in among), None)
        if longest is not None:
            self.remove(longest)
            self._drop(longest)

    def has_room(self, ip: str, beyond: int = 0) -> bool:
        """For another one of this address, and so many beyond the limits."""
        of_ip = sum(address == ip for address in self._open.values())
        limits = self._limits
        return of_ip < limits.per_ip + beyond and len(self._open) < limits.total + beyond

    def add(self, one: One, ip: str) -> None:
        self._open[one] = ip

    def waits(self, one: One) -> None:
        """For a request."""
        if one in self._open:
            self._waiting[one] = None

    def works(self, one: One) -> None:
        """It has a request that is being answered."""
        self._waiting.pop(one, None)

    def remove(self, one: One) -> None:
        self._open.pop(one, None)
        self._waiting.pop(one, None)
