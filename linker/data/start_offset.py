"""Where a mirror partition that holds nothing yet begins (`mirror.start.offset.spec`)."""

from typing import NamedTuple

from brokers.ids import Instant, Offset, TopicPartition
from linker.data.mirror_link import LinkOfMirror
from linker.protocol_versions import COMPACTED_FROM, STARTS_AT_TIMES_FROM
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
        return self._region.holes.chosen_start(self._region.view.image, self._partition)

    def wanted(self) -> Start:
        """By the configuration."""
        spec = self._link.config.start
        if spec == "latest":
            return Start(HoleCause.START_OFFSET_LATEST)
        if isinstance(spec, int):
            return Start(HoleCause.START_OFFSET_TIMESTAMP, spec)
        return Start()

    def beyond(self, start: Start, version: int) -> str:
        """What a source that speaks this version of the protocol cannot do for this mirror; empty if it can."""
        if start.timestamp >= 0 and version < STARTS_AT_TIMES_FROM:
            return "the source runs a release that cannot start at a time"
        policy = self._region.view.topic_config(self._partition.topic, "cleanup.policy")
        if "compact" in policy and version < COMPACTED_FROM:
            return "the source runs a release whose compacted topics cannot be mirrored: upgrade it"
        return ""
