"""Where a mirror partition that holds nothing yet begins (`mirror.start.offset.spec`)."""

from typing import NamedTuple

from brokers.ids import Instant, Offset, TopicPartition
from linker.data.mirror_link import LinkOfMirror
from linker.records import hole_ledger
from linker.records.hole_ledger import HoleCause
from linker.region_client import RegionClient


class Start(NamedTuple):
    """What the source is asked for. `cause` is that of the hole below; None: go on where the log ends."""

    cause: HoleCause | None = None
    timestamp: Instant = -1

    @property
    def from_latest(self) -> bool:
        return self.cause is HoleCause.START_OFFSET_LATEST


class StartOffset:
    """Of one mirror partition."""

    def __init__(self, region: RegionClient, link: LinkOfMirror, partition: TopicPartition) -> None:
        self._region = region
        self._link = link
        self._partition = partition

    def decided(self) -> Offset | None:
        """Where it begins, if that is in the ledger: an interruption may have followed."""
        holes = self._region.holes.of(self._region.view.image, self._partition.topic)
        return hole_ledger.chosen_start(holes, self._partition)

    def wanted(self) -> Start:
        """By the configuration."""
        spec = self._link.config.start
        if spec == "latest":
            return Start(HoleCause.START_OFFSET_LATEST)
        if isinstance(spec, int):
            return Start(HoleCause.START_OFFSET_TIMESTAMP, spec)
        return Start()
