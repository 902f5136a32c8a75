"""One run of one seed: a source that elects leaders uncleanly, and so loses what its mirror holds.

By `mirror.divergence.policy` of the link the mirror is FAILED, says why and up to where both agree, and holds what it
held; or it is cut back, is equal to its source afterwards, and what it held beyond is sealed, record by record.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random

from brokers.ids import Offset, TopicPartition
from linker.errors import MirrorError
from linker.records.hole_ledger import DIVERGENCE_CUT_KIND
from linker.records.mirror_state import MirrorState
from tests.sim.disks import Disk
from tests.sim.evidence import batches, parse
from tests.sim.linked import verdict
from tests.sim.linked.federation import DESTINATION, SOURCE, MirrorBroken, Region
from tests.sim.linked.lost_batches import LostBatches
from tests.sim.linked.orphans import MayReturn, orphans, still_held
from tests.sim.linked.runs import Adjust, LinkedRun
from tests.sim.linked.scenario import LinkedScenario
from tests.sim.linked.usurpers import UncleanAdmin, Usurper
from tests.sim.nodes import Node
from tests.sim.regions.checks import end_of
from tests.sim.regions.cluster import MakeNode
from tests.sim.regions.producers import ALL, Producer
from tests.sim.regions.scenario import Shape
from tests.sim.world import Promise

SHAPES = (
    Shape(1, 2, combined=False),
    Shape(1, 3, combined=False),
    Shape(3, 3, combined=False),
)
DIVERGED = (MirrorError.UNEXPECTED_TRUNCATION, MirrorError.NON_MONOTONIC_SOURCE_EPOCH)
REASON = re.compile(r"^orders-(\d+): .*same records up to offset (\d+)$")


def unclean(scenario: LinkedScenario, rng: Random) -> LinkedScenario:
    """The source's controllers are apart from its brokers, of which nobody ends but by a `Usurper`."""
    pair = scenario.pair().everywhere(groups=0, meddles=False, trims=False, wipe_mean_ms=0)
    shape = rng.choice(SHAPES)
    source = replace(
        pair.regions[SOURCE],
        shape=shape,
        replication=min(rng.choice((2, 3)), shape.brokers),
        observers=0,
        min_insync=1,
        crash_mean_ms=0,
        full_disk_mean_ms=0,
        ailing_disk_mean_ms=0,
    )
    return replace(pair, regions={SOURCE: source, DESTINATION: pair.regions[DESTINATION]})


class UncleanRun(LinkedRun):
    """`policy`: of the link, drawn unless it is given."""

    mirrors_stay = False

    def __init__(
        self,
        seed: int,
        show: Callable[[str], None] | None = None,
        *,
        adjust: Adjust = lambda scenario: scenario,
        make_node: MakeNode = Node,
        policy: str = "",
    ) -> None:
        super().__init__(
            seed,
            show,
            adjust=lambda scenario: adjust(unclean(scenario, Random(f"{seed}/unclean"))),
            make_node=make_node,
            ending="unclean",
        )
        rng = self.world.rng("unclean")
        west, east = self.federation.first.regions
        west.statements.loses = west.statements.rewrites = True
        east.watch_holders()
        self.lost = LostBatches(west, east)
        self.operator.policy = policy or rng.choice(("fail", "truncate"))
        self.world.note("policy", self.operator.policy)
        self.strikes = rng.choice((1, 1, 2))
        admin = UncleanAdmin(west)
        admin.allows = rng.random() < 0.5
        self.admins[0] = admin
        self.usurper = Usurper(west)
        self.usurper.hold_down()
        self.readers = []
        self.producers = [
            Producer(west, "producer0", idempotent=rng.random() < 0.7, acks=ALL, restarts=True)
        ]

    async def _end(self, begun: Promise) -> None:
        await begun
        await self.world.sleep(500)
        for _ in range(self.strikes):
            await self.usurper.strike()
        self.world.spawn(self.usurper.rescue())
        self.world.spawn(self._watch())

    async def _watch(self) -> None:
        while True:
            await self.operator.describe()
            await self.world.sleep(250)

    @property
    def _state(self) -> MirrorState | None:
        return None if self.operator.mirror is None else self.operator.mirror.record.state

    def _missing(self) -> list[str]:
        if self._state not in (MirrorState.ACTIVE, MirrorState.FAILED):
            return [f"the mirror is {self._state}"]
        if self._state is MirrorState.FAILED and self.operator.policy == "truncate":
            return ["the mirror is FAILED, and to be cut back"]
        return super()._missing()

    @property
    def mirrored(self) -> list[tuple[Region, Region]]:
        return [self.federation.first.regions] if self._state is MirrorState.ACTIVE else []

    # --- the verdict ---

    def _judge_mirrors(self, disks: dict[str, dict[TopicPartition, Disk]]) -> None:
        super()._judge_mirrors(disks)
        west, east = self.federation.first.regions
        if self.operator.policy == "fail":
            findings = self._failed(disks[west.region], disks[east.region])
        else:
            findings = unsealed(east, disks[east.region], self.lost.may_return)
        for finding in findings:
            raise MirrorBroken(f"P5 under the policy {self.operator.policy}: {finding}")

    def _failed(self, there: verdict.Disks, here: verdict.Disks) -> Iterator[str]:
        """It has failed if it holds what its source has not, and then it says so; it holds all that it held."""
        east = self.federation.destination
        for node in east.nodes.values():
            for partition, offset, _ in orphans(node.disk):
                yield f"{partition}@{offset} was sealed"
        yield from (f"{place} is gone" for place in gone(east, here))
        if self._state is not MirrorState.FAILED:
            return  # and so it is equal to its source
        assert self.operator.mirror is not None
        record = self.operator.mirror.record
        said = REASON.match(record.reason)
        if record.error not in DIVERGED or said is None:
            yield f"it has failed with {record.error.name}: {record.reason}"
            return
        partition, offset = TopicPartition("orders", int(said[1])), int(said[2])
        common = agreed(there[partition], here[partition], partition)
        lost = self.lost.first_of(partition, batches(here[partition], partition))
        once = self.usurper.elections == 1 and not self.admins_allow
        if offset < min(common, lost) or (once and offset != common):
            yield f"{partition} is the source's up to {common}, and not {record.reason}"
        if end_of(here[partition], partition) <= min(common, lost):
            yield f"{partition} has nothing that is not the source's, and has failed: {record.reason}"

    @property
    def admins_allow(self) -> bool:
        """Then the region may elect uncleanly by itself, at any time."""
        admin = self.admins[0]
        return isinstance(admin, UncleanAdmin) and admin.allows


def agreed(there: Disk, here: Disk, partition: TopicPartition) -> Offset:
    """Below it both have the same batches."""
    common = 0
    for one, other in zip(batches(there, partition), batches(here, partition), strict=False):
        if one.data != other.data:
            return common
        common = one.next_offset
    return common


def gone(region: Region, disks: verdict.Disks) -> Iterator[str]:
    """Records that every replica had, and that are not in the log."""
    held = verdict.values_of(disks)
    for partition, offset, value in had_by_all(region):
        if held.get(partition, {}).get(offset) != value:
            yield f"{value!r:.40} of {partition}@{offset}"


def unsealed(
    region: Region,
    disks: verdict.Disks,
    may_return: MayReturn = lambda partition, batch: False,
) -> Iterator[str]:
    """Those are in an orphan store of each replica, and the hole ledger has their offsets; what is in a store is not in
    the log, or was cut from it, and copied once more."""
    held = verdict.values_of(disks)
    stores = [set(orphans(node.disk)) for node in region.nodes.values()]
    sealed = set().union(*stores)
    cuts = verdict.ledger(region, DIVERGENCE_CUT_KIND)
    for partition, offset, value in had_by_all(region):
        place = (partition, offset, value)
        if held.get(partition, {}).get(offset) == value:
            continue
        if place not in sealed:
            yield f"{value!r:.40} of {partition}@{offset} is gone, and was not sealed"
        if not any(base <= offset < end for base, end in cuts.get(partition, ())):
            yield f"{value!r:.40} of {partition}@{offset} was cut, which is not in the ledger"
    for partition, offset, value in still_held(
        (each.disk for each in region.nodes.values()), disks, may_return
    ):
        yield f"{value!r:.40} of {partition}@{offset} was sealed, and lies in the log"


def had_by_all(region: Region) -> Iterator[tuple[TopicPartition, Offset, bytes]]:
    """Records of batches that every replica of their partition has written: there is nobody whom an election could lose
    them by."""
    assert region.holders is not None
    for (partition, data), numbers in region.holders.items():
        placed = region.newest.partition(partition)
        if placed is not None and numbers >= set(placed.replicas):
            for batch in parse(data):
                yield from ((partition, offset, value) for offset, value in batch.values())
