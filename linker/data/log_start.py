"""The log start offset of a mirror partition: it follows its source's (retention, DeleteRecords)."""

from collections.abc import Callable

from brokers.ids import Instant, Offset, TopicPartition
from brokers.region import PartitionState, Placed, PlaceRefused, TrimMirror
from linker.data.mirror_link import LinkOfMirror
from linker.region_client import Effects, RegionClient


class LogStart:
    """`of_source` is the source's, in the newest frame. `moved` is called when the region has answered."""

    def __init__(
        self,
        region: RegionClient,
        link: LinkOfMirror,
        partition: TopicPartition,
        moved: Callable[[Instant], Effects],
    ) -> None:
        self.of_source: Offset = 0
        self.is_moving = False
        self._region = region
        self._link = link
        self._partition = partition
        self._moved = moved

    def follow(self, state: PartitionState) -> Effects:
        """Trim the mirror, up to its high watermark at most."""
        wanted = self.of_source
        if self.is_moving or not state.log_start_offset < wanted <= state.high_watermark:
            return []
        self.is_moving = True
        return [
            self._region.ask(
                lambda ticket: TrimMirror(ticket, self._link.name, self._partition, wanted),
                self._on_trimmed,
            )
        ]

    def _on_trimmed(self, answer: Placed | PlaceRefused, now: Instant) -> Effects:
        self.is_moving = False
        return self._moved(now)
