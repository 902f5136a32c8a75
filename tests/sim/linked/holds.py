"""One run of one seed: a source whose retention runs ahead of its mirror, and a link that has it hold, under faults.

Leaders move on both sides, nodes come and go, nothing passes between the regions for a while. The mirror skips nothing
all the same, and in the end the source has deleted everything.
"""

from collections.abc import Callable, Iterator

from brokers.ids import OFFSET_MAX, TopicPartition
from linker.records.retention_hold import HOLD_KIND
from tests.sim.disks import Disk
from tests.sim.evidence import log_start
from tests.sim.linked import verdict
from tests.sim.linked.federation import MirrorBroken
from tests.sim.linked.runs import LinkedRun
from tests.sim.linked.scenario import LinkedScenario, Wan
from tests.sim.nodes import Node
from tests.sim.regions.checks import end_of
from tests.sim.regions.cluster import TOPIC, MakeNode
from tests.sim.scenario import Crashes

RETENTION_MS = 1_500
PARTITIONS_MAX = 8


def _eventful(scenario: LinkedScenario) -> LinkedScenario:
    """Disks keep what they were given: else the mirror asks again for what it held, and has said so. Retention goes by
    clocks, so they are right."""
    wan = Wan(cut_mean_ms=3_000, cut_ms=6_000, one_way=0.3)
    alone = (
        scenario.alone()
        .unlimited()
        .everywhere(
            crashes=Crashes.KILL,
            wipe_mean_ms=0,
            skew_ms=0,
            drift=0.0,
            full_disk_mean_ms=0,
            ailing_disk_mean_ms=0,
            groups=0,
            meddles=True,
            trims=False,
            segment_bytes=1_500,
            duration_ms=16_000,
        )
    )
    return LinkedScenario(alone.regions, alone.topology, wan, "none", alone.source_dials)


class HoldRun(LinkedRun):
    """Readers would miss what is deleted, so there are none."""

    def __init__(
        self,
        seed: int,
        show: Callable[[str], None] | None = None,
        *,
        make_node: MakeNode = Node,
    ) -> None:
        super().__init__(seed, show, adjust=_eventful, make_node=make_node, ending="none")
        self.operator.more = {"retention.hold.enable": "true", "metadata.max.age.ms": "3600000"}
        self.readers = []
        partitions = [TopicPartition(TOPIC, index) for index in range(PARTITIONS_MAX)]
        for region in self.federation.regions:
            region.statements.trims.update(dict.fromkeys(partitions, OFFSET_MAX))

    async def _link(self) -> None:
        """Nothing is deleted before the hold is there."""
        await super()._link()
        source = self.federation.source
        while not any(kind == HOLD_KIND for kind, _ in source.newest.documents):
            await self.world.sleep(50)
        await self.admins[0].expire(RETENTION_MS)

    def _behind(self) -> Iterator[str]:
        """The mirror has all, so the source keeps nothing any more."""
        found = list(super()._behind())
        yield from found
        disks = self._disks()[self.federation.source.region]
        for partition in self.federation.source.partitions():
            disk = disks[partition]
            start, end = log_start(disk, partition), end_of(disk, partition)
            if not found and start != end:
                yield f"{partition} of the source still begins at {start}, and ends at {end}"

    def _judge_mirrors(self, disks: dict[str, dict[TopicPartition, Disk]]) -> None:
        super()._judge_mirrors(disks)
        if holes := verdict.ledger(self.federation.destination):
            raise MirrorBroken(f"the mirror has skipped {holes}")
