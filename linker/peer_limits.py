"""What the settings of a node allow those who reach its listeners. README.md has the table of all limits.

Each default is that of the setting which is named behind it (`brokers/config/peer_limits.py`, `link_limits.py`).
"""

from dataclasses import dataclass
from typing import Final

MIB: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """Of `link.listener`: streams that are open, and connections."""

    total: int = 256  # link.max.streams
    per_ip: int = 64  # link.max.streams.per.ip
    connections: int = 1_024  # link.max.connections


@dataclass(frozen=True, slots=True)
class WatchLimits:
    """What the streams of other regions may have this node follow, in all and each."""

    subscriptions: int = 100_000  # link.max.subscriptions
    subscriptions_per_stream: int = 50_000  # link.max.subscriptions.per.stream
    name_bytes: int = 64 * MIB  # link.watched.max.bytes
    name_bytes_per_stream: int = 40 * MIB  # fixed: what the longest lists of names and filters take


WATCHED: Final = WatchLimits()


@dataclass(frozen=True, slots=True)
class CommandLimits:
    """Of commands that are under way, over gRPC and REST, and of each."""

    total: int = 64  # admin.max.commands
    per_ip: int = 16  # admin.max.commands.per.ip
    connections: int = 1_024  # admin.max.connections, of gRPC
    request_bytes: int = 4 * MIB  # admin.request.max.bytes, of each
    queued_bytes: int = 16 * MIB  # admin.queued.max.bytes, of all

    @property
    def queued_bytes_per_ip(self) -> int:
        """The same share as of commands; and at least two requests, so that one that is under way leaves room for
        another to come."""
        share = self.queued_bytes * self.per_ip // self.total
        return min(self.queued_bytes, max(2 * self.request_bytes, share))


COMMANDS: Final = CommandLimits()
