"""Which groups each broker of a link's source is asked to send the offsets of."""

from collections.abc import Callable

from linker.control.source_brokers import SourceBrokers
from linker.data.destination_stream import DestinationStream
from linker.filters import Filter
from linker.frames import WatchGroups
from linker.region_client import Effects


class GroupWatch:
    """`wanted` returns the filters; empty where this broker copies no offsets."""

    def __init__(self, sources: SourceBrokers, wanted: Callable[[], tuple[Filter, ...]]) -> None:
        self._sources = sources
        self._wanted = wanted
        self._told: dict[DestinationStream, tuple[Filter, ...]] = {}

    def tell(self) -> Effects:
        """Where they have changed. Which streams have metadata changes with the first one."""
        filters = self._wanted()
        effects: Effects = []
        for stream in self._sources.metadata_streams:
            if self._told.get(stream) != filters:
                self._told[stream] = filters
                effects += stream.sender.send(WatchGroups(filters))
        return effects

    def again(self) -> Effects:
        """Ask for all offsets once more."""
        self._told.clear()
        return self.tell()

    def closed(self, stream: DestinationStream) -> None:
        self._told.pop(stream, None)
