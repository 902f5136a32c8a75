"""Readers of regions that another one may take over, and that come back.

One says in which leader epoch the record before its position was written. So it is told where its region's log has
parted from what it has read (KIP-595's diverging epoch, which KIP-320 wants for consumers), and goes on from there.
Only what a declared takeover has cut may be gone (P3). Of a compacted topic it reads all again: what it has read below
may lack what the cut records had replaced, and its region's log has begun anew.
"""

from collections.abc import Iterator

from brokers.ids import LeaderEpoch, Offset, TopicPartition
from brokers.wire.messages.fetch import FetchRequest, PartitionData
from tests.sim.evidence import Batch, batches, parse
from tests.sim.linked.federation import Region
from tests.sim.regions.checks import end_of
from tests.sim.regions.inspection import Inspector
from tests.sim.regions.readers import Reader
from tests.sim.regions.routes import Led

NOT_KNOWN: LeaderEpoch = -1


class RegionReader(Reader):
    """Of one region, wherever its topic is."""

    versions = (12, 17)  # which know the leader epoch of what was read last

    def __init__(self, region: Region, name: str) -> None:
        super().__init__(region, name)
        self._region = region
        self.region = region.region
        self._epochs: dict[TopicPartition, LeaderEpoch] = {}  # of the record before the position

    def stands_at(self, partition: TopicPartition, end: Offset, last: Batch | None) -> bool:
        """Whether it has read all of a log that ends there; `last`: of its batches, None where all are deleted."""
        if self.positions.get(partition, 0) != end:
            return False
        return last is None or self._epochs.get(partition, last.leader_epoch) == last.leader_epoch

    def unread(self, inspector: Inspector) -> Iterator[str]:
        """Of logs that are at rest."""
        for partition in self._region.partitions():
            if partition not in inspector.agreed:
                continue
            disk = self._region.node(inspector.agreed[partition][2][0]).disk
            end = end_of(disk, partition)
            last = next(reversed(batches(disk, partition)), None)
            if not self.stands_at(partition, end, last):
                stands = f"{self.name} stands at {self.positions.get(partition)}"
                yield f"{stands} of {partition}, which ends at {end}"

    async def visit(self, partition: TopicPartition) -> None:
        if not self.positions[partition]:
            self._begin_again(partition)
        await super().visit(partition)

    def _request(self, partition: TopicPartition, led: Led) -> FetchRequest:
        request = super()._request(partition, led)
        asked = request.topics[0].partitions[0]
        asked.last_fetched_epoch = self._epochs.get(partition, NOT_KNOWN)
        return request

    def _take(self, partition: TopicPartition, data: PartitionData, *, is_leader: bool) -> None:
        """A follower says where its log parts, too; one that has not cut that yet is not believed."""
        parted = data.diverging_epoch
        if parted is None or parted.end_offset < 0:
            super()._take(partition, data, is_leader=is_leader)
        elif (may_part := self._may_part(partition)) or is_leader:
            self._goes_back(partition, parted.end_offset, may_go=may_part)

    def _on_out_of_range(self, partition: TopicPartition, log_start_offset: Offset) -> None:
        """So says a leader, too, that has nothing of the epoch that was read, nor of a later one."""
        if self.positions[partition] < log_start_offset:
            self._epochs.pop(partition, None)
            super()._on_out_of_range(partition, log_start_offset)
        else:
            cut = self._region.takeovers.latest(partition)
            is_copied_anew = cut is not None and self._region.scenario.compaction is not None
            self._goes_back(
                partition,
                log_start_offset if cut is None else cut,
                may_go=is_copied_anew or self._may_part(partition),
            )

    def _goes_back(self, partition: TopicPartition, end: Offset, *, may_go: bool) -> None:
        """What it has read is not the log's beyond `end`."""
        position, epoch = self.positions[partition], self._epochs.get(partition, NOT_KNOWN)
        if not may_go:
            stood = f"{self.name} stood at {position} of {partition}, read in leader epoch {epoch}"
            self._statements.contradicts("P3", f"{stood}; its leader has that up to {end} only")
        back = min(position, end) if self._region.scenario.compaction is None else 0
        self._world.note(self.name, f"goes back from {position} of {partition} to {back}")
        self.positions[partition] = back
        self._begin_again(partition)

    def _begin_again(self, partition: TopicPartition) -> None:
        self._epochs.pop(partition, None)
        self._statements.begins_again(self.name, partition)

    def _may_part(self, partition: TopicPartition) -> bool:
        """Whether a takeover cuts the record before its position, or its position."""
        position, epoch = self.positions[partition], self._epochs.get(partition, NOT_KNOWN)
        takeovers = self._region.takeovers
        if epoch != NOT_KNOWN:
            return takeovers.cuts_epoch(partition, position - 1, epoch)
        cut = takeovers.latest(partition)
        return cut is not None and cut <= position

    def _read(self, partition: TopicPartition, data: PartitionData) -> None:
        super()._read(partition, data)
        for batch in parse(bytes(data.records or b"")):
            if batch.next_offset <= self.positions[partition]:
                self._epochs[partition] = batch.leader_epoch


def readers_of(regions: tuple[Region, ...]) -> list[Reader]:
    """Most regions have one."""
    found: list[Reader] = []
    for region in regions:
        if region.world.rng(f"readers in {region.region}").random() < 0.7:
            found.append(RegionReader(region, f"reader in {region.region}"))
    return found
