"""Of which topics producers' writes wait at this broker: each part of the linker has its own; the region is told all.

Kafka has no such thing. What a hold does is in `brokers.partition.held_writes`.
"""

from uuid import UUID

from brokers.region import HoldWrites


class WriteHolds:
    """One per broker. `owner` is whose hold it is."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[frozenset[UUID], str]] = {}

    def of(self, owner: str) -> frozenset[UUID]:
        """The topics, by their ids, that wait for this owner."""
        return self._held.get(owner, (frozenset[UUID](), ""))[0]

    def hold(self, owner: str, topics: frozenset[UUID], because: str = "") -> HoldWrites:
        """From now on these wait for this owner, and no others; what other owners hold goes on to wait."""
        self._held.pop(owner, None)
        if topics:
            self._held[owner] = topics, because
        everything = frozenset[UUID]().union(*(held for held, _ in self._held.values()))
        return HoldWrites(everything, "; ".join(why for _, why in self._held.values()))
