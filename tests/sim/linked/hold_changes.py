"""A retention hold that is taken, released by the link, or dropped by the source's operator.

Retention is far shorter than the mirror is paused. With a hold the mirror skips nothing, and the source deletes what it
kept once the mirror has it; without one the source deletes at once what the mirror lacks, and the hole ledger has that.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

from brokers.ids import OFFSET_MAX, Offset, TopicPartition
from linker.commands import DropRetentionHolds
from linker.records.mirror_state import MirrorState
from linker.records.retention_hold import HOLD_KIND, HoldRecord, decode_hold
from tests.sim.disks import Disk
from tests.sim.evidence import base_offset, batches, log_start, segments
from tests.sim.linked import verdict
from tests.sim.linked.federation import MirrorBroken
from tests.sim.linked.link_changes import LinkChanger, Logs
from tests.sim.linked.operators import LOOK_MS
from tests.sim.linked.scenario import LinkedScenario
from tests.sim.regions.admins import Admin
from tests.sim.regions.checks import end_of
from tests.sim.regions.cluster import TOPIC

RETENTION_MS = 1_500
ROUNDS_MS = 4_500  # three rounds of retention
PARTITIONS_MAX = 8
ENABLED, DISABLED = ({"retention.hold.enable": each} for each in ("true", "false"))


def of_short_logs(scenario: LinkedScenario) -> LinkedScenario:
    """Retention goes by clocks, so they are right."""
    return scenario.unlimited().everywhere(skew_ms=0, drift=0.0, trims=False, segment_bytes=1_500)


class HoldChanger(LinkChanger):
    """Asks the mirror's region to hold, and the source's to hold no more."""

    async def begin_with_retention(self) -> None:
        """The checkers know that anything may be deleted."""
        partitions = [TopicPartition(TOPIC, index) for index in range(PARTITIONS_MAX)]
        for region in self._ends.regions:
            region.statements.trims.update(dict.fromkeys(partitions, OFFSET_MAX))
        await self.begin()

    async def begin_held(self) -> None:
        """The mirror is paused, and the source keeps what it does not have."""
        self.more = ENABLED
        await self.begin_with_retention()
        await self._expire_behind_hold()

    async def _expire_behind_hold(self) -> None:
        await self._while(lambda: not self._holds)
        await self._change_mirror("pause", MirrorState.PAUSED)
        await Admin(self._ends.source).expire(RETENTION_MS)
        await self._world.sleep(ROUNDS_MS)
        mirror = self._ends.destination
        committed = {each: mirror.high_watermark(each) for each in mirror.partitions()}
        if lost := self._removed_beyond(committed, max):
            raise MirrorBroken(f"{lost} are deleted, and held: the mirror has {committed}")

    @property
    def _holds(self) -> list[HoldRecord]:
        documents = self._ends.source.newest.documents
        return [decode_hold(one.body) for (kind, _), one in documents.items() if kind == HOLD_KIND]

    def _removed_beyond(
        self,
        offsets: Mapping[TopicPartition, Offset],
        of_replicas: Callable[[Iterable[Offset]], Offset],
    ) -> dict[TopicPartition, Offset]:
        """Partitions of which some replica of the source (`max`), or all (`min`), begin beyond these, and where."""
        nodes = self._ends.source.nodes.values()
        starts = {
            each: of_replicas(log_start(node.disk, each) for node in nodes) for each in offsets
        }
        return {each: start for each, start in starts.items() if start > offsets[each]}

    def _ends_of_mirror(self) -> dict[TopicPartition, Offset]:
        """The longest of any disk, whether its node runs or not."""
        region = self._ends.destination
        disks = [node.disk for node in region.nodes.values()]
        return {each: max(_held_end(disk, each) for disk in disks) for each in region.partitions()}

    async def take_hold(self) -> None:
        await self.alter(self._ends.destination, ENABLED)
        await self._expire_behind_hold()
        await self._change_mirror("resume", MirrorState.ACTIVE)

    async def release_hold(self) -> None:
        """The link's configuration asks for none any more."""
        await self.alter(self._ends.destination, DISABLED)
        await self._while(lambda: bool(self._holds))
        await self._go_on_with_holes()

    async def drop_hold(self) -> None:
        """The source's operator, although the link goes on asking."""
        drop = DropRetentionHolds(link=self.link)
        while any(one.dropped_at is None for one in self._holds):
            await self._ask(drop, self._ends.source)
            await self._world.sleep(LOOK_MS)
        await self._go_on_with_holes()

    async def _go_on_with_holes(self) -> None:
        """Each replica deletes by itself: the mirror goes on once no leader has what it lacks."""
        await self._while(lambda: not self._removed_beyond(self._ends_of_mirror(), min))
        await self._change_mirror("resume", MirrorState.ACTIVE)

    # --- what must be so ---

    async def wait_for_retention(self) -> None:
        """The mirror has all, so the source keeps nothing."""
        await self._while(lambda: any(self._kept()))

    def _kept(self) -> Iterator[TopicPartition]:
        for partition in self._ends.source.partitions():
            for node in self._ends.source.nodes.values():
                if log_start(node.disk, partition) != end_of(node.disk, partition):
                    yield partition

    def skipped(self, _: Logs) -> Iterator[str]:
        for partition, holes in verdict.ledger(self._ends.destination).items():
            yield f"{partition} was held, and the mirror has skipped {holes}"
        if not self._holds or any(one.dropped_at is not None for one in self._holds):
            yield f"the link asks for a hold, and the source has {self._holds}"

    def still_held(self, _: Logs) -> Iterator[str]:
        if self._holds:
            yield f"the link asks for no hold, and the source has {self._holds}"
        yield from self._without_holes()

    def held_again(self, _: Logs) -> Iterator[str]:
        if not self._holds or any(one.dropped_at is None for one in self._holds):
            yield f"the holds were dropped, and the source has {self._holds}"
        yield from self._without_holes()

    def _without_holes(self) -> Iterator[str]:
        if not verdict.ledger(self._ends.destination):
            yield "the source has deleted what the mirror had not, and the hole ledger is empty"


def _held_end(disk: Disk, partition: TopicPartition) -> Offset:
    """One past the last offset; of a log whose node may have ended within an append."""
    ends = [batch.next_offset for batch in batches(disk, partition)]
    return max([log_start(disk, partition), *ends, *map(base_offset, segments(disk, partition))])
