"""What the streams of other regions have this node follow: partitions, names and filters, in all and of each stream."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from linker.filters import Filter
from linker.peer_limits import WatchLimits

TOPIC_BYTES: Final = 1_000  # of a name that is watched, with the state that was sent of it
FILTER_BYTES: Final = 200


def names_size(names: Iterable[str]) -> int:
    """Bytes, about; names have characters of one byte where topics are called so."""
    return sum(TOPIC_BYTES + len(one) for one in names)


def filters_size(filters: Iterable[Filter]) -> int:
    """Bytes, about."""
    return sum(FILTER_BYTES + len(one.name) for one in filters)


@dataclass(slots=True)
class WatchShare:
    """Of one stream. `measure`: the bytes of names and filters that it holds now; `bytes` is what it held when it was
    measured, and all that has come since."""

    subscriptions: Callable[[], int]
    measure: Callable[[], int]
    bytes: int = 0


class WatchQuotas:
    """One per linker."""

    def __init__(self, limits: WatchLimits) -> None:
        self._limits = limits
        self._shares: list[WatchShare] = []

    @property
    def subscriptions(self) -> int:
        """Of all streams."""
        return sum(one.subscriptions() for one in self._shares)

    @property
    def name_bytes(self) -> int:
        """Of all streams, about."""
        return sum(one.bytes for one in self._shares)

    def add(self, share: WatchShare) -> None:
        self._shares.append(share)

    def remove(self, share: WatchShare) -> None:
        """The stream has ended."""
        self._shares = [one for one in self._shares if one is not share]

    def no_subscription(self, share: WatchShare) -> str:
        """Why the stream may not follow another partition; empty if it may."""
        limits = self._limits
        if share.subscriptions() >= limits.subscriptions_per_stream:
            return (
                f"{limits.subscriptions_per_stream} partitions are followed on this stream already"
                " (link.max.subscriptions.per.stream)"
            )
        if self.subscriptions >= limits.subscriptions:
            return f"{limits.subscriptions} partitions are followed here already (link.max.subscriptions)"
        return ""

    def no_names(self, share: WatchShare, size: int) -> str:
        """Why `size` bytes of names and filters are too many; empty if they are not, and they count from now on."""
        share.bytes += size
        if not self._excess(share):
            return ""
        for one in self._shares:
            one.bytes = one.measure()
        share.bytes += size
        return self._excess(share)

    def _excess(self, share: WatchShare) -> str:
        limits, what = self._limits, "bytes of names and filters"
        if share.bytes > limits.name_bytes_per_stream:
            return f"more than {limits.name_bytes_per_stream} {what} on this stream"
        if self.name_bytes > limits.name_bytes:
            return f"more than {limits.name_bytes} {what} are watched here (link.watched.max.bytes)"
        return ""
