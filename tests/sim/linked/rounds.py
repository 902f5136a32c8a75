"""One run of one seed: a topic goes from region to region several times, by failovers with the way back, or reversals.

Both regions are written to, and a group follows the topic. Afterwards both have the same log; what a region had
acknowledged beyond a cut is in its orphan store, record by record (P5); no group was ever taken further than it came,
of the records that both have (P6).
"""

from collections.abc import Awaitable, Callable, Iterator

from brokers.ids import TopicPartition
from linker.commands import ChangeMirrors
from linker.records.mirror_record import Cut
from linker.records.mirror_state import MirrorState
from tests.sim.disks import Disk
from tests.sim.evidence import parse
from tests.sim.linked import verdict
from tests.sim.linked.federation import MirrorBroken, Region
from tests.sim.linked.followers import EarlyMember, Follower
from tests.sim.linked.orphans import orphans, still_held
from tests.sim.linked.readers import readers_of
from tests.sim.linked.reversals import ReversingOperator
from tests.sim.linked.runs import Adjust, LinkedRun
from tests.sim.linked.takeovers import ends_of
from tests.sim.nodes import Node
from tests.sim.regions.admins import Admin
from tests.sim.regions.cluster import TOPIC, MakeNode
from tests.sim.regions.producers import ALL, Producer
from tests.sim.world import Promise

GrowTo = Callable[[int], Awaitable[None]]


class RoundsOperator(ReversingOperator):
    """One bidirectional link: each region fails over, and is restored, by its own half."""

    async def cut_of(self, mirror: Region) -> Cut:
        """Once it is the topic's home."""
        while True:
            record = await self.record_of(mirror)
            if record is not None and record.state is MirrorState.STOPPED and record.cut:
                return record.cut

    async def fail_over(self, mirror: Region) -> None:
        while True:
            command = ChangeMirrors(verb="failover", link=self.link, topics=(TOPIC,))
            await self._ask(command, mirror)
            record = await self.record_of(mirror)
            if record is not None and record.state is MirrorState.STOPPED:
                return

    async def bring_back(self, region: Region, winner: Region, grow_to: GrowTo) -> None:
        await self._restore(self.link, region, winner, grow_to)


class RoundsRun(LinkedRun):
    """`rounds`: how often the topic moves. Each region has a producer that stays there."""

    mirrors_stay = False

    operator: RoundsOperator
    reversals = 0.35  # share of rounds
    fences = 0.5  # share of links that tell the source of what they took over
    apart_ms = 3_000  # how long both regions are written to, at most
    members: list[Follower]  # type: ignore[assignment]

    def __init__(
        self,
        seed: int,
        show: Callable[[str], None] | None = None,
        *,
        adjust: Adjust = lambda scenario: scenario,
        make_node: MakeNode = Node,
        rounds: int = 0,
    ) -> None:
        super().__init__(
            seed,
            show,
            adjust=lambda scenario: adjust(scenario.pair().everywhere(groups=0)),
            make_node=make_node,
            ending="rounds",
        )
        self._rng = self.world.rng("rounds")
        self.operator = RoundsOperator(self.federation.first)
        self.operator.fences_source = self._rng.random() < self.fences
        self.rounds = rounds or self._rng.choice((2, 2, 3))
        west, east = self.federation.first.regions
        for region in (west, east):
            region.statements.tried = {}  # each its own: a group may come further where records are lost
        self.producers = [
            Producer(each, name, idempotent=self._rng.random() < 0.7, acks=ALL, restarts=True)
            for each, name in ((west, "producer0"), (east, "producer1"))
        ]
        self.readers = readers_of((west, east))
        self.members = [Follower(west, "group0")]
        self.early = EarlyMember(east, "group0") if self._rng.random() < 0.5 else None
        if self.early is not None:
            self.members.append(self.early)
        self.home = west  # where the topic is written to

    def admin_of(self, region: Region) -> Admin:
        return self.admins[self.federation.regions.index(region)]

    # --- rounds ---

    async def _end(self, begun: Promise) -> None:
        await begun
        west, east = self.federation.first.regions
        for _ in range(self.rounds):
            await self.world.sleep(self._rng.randrange(200, 3_000))
            mirror = east if self.home is west else west
            if self.early is not None:
                self.early.halt()
                await self.early.wait_until_away()
            if self._rng.random() < self.reversals:
                await self._reverse(self.home, mirror)
            else:
                await self._fail_over(self.home, mirror)
            if self.early is not None:
                self.early.go(self.home)
            self.home = mirror

    async def _reverse(self, home: Region, mirror: Region) -> None:
        """A group that has left before stands in the other region where it stood in this one.

        Unless it has members there: what is left of a membership keeps the link from moving it until it is forgotten.
        """
        follower, leaves_first = self.members[0], self._rng.random() < 0.5
        if leaves_first:
            follower.halt()
            await follower.wait_until_away()
        is_there = any(mirror.region in each.lingering for each in self.members)
        stood = dict(home.statements.committed) if leaves_first and not is_there else {}
        home.statements.is_linked = True
        await self.operator.swap(home, mirror)
        self._hand_over(home, mirror, await self.operator.cut_of(mirror))
        home.is_reversed_to(mirror)
        trims = home.statements.trims
        mirror.statements.committed = {
            (group, partition): offset
            for (group, partition), offset in stood.items()
            if offset >= trims.get(partition, 0)  # what begins behind it is not copied
        }
        await self._follow(mirror, lingers=False)

    async def _fail_over(self, home: Region, mirror: Region) -> None:
        """Both are written to for a while."""
        await self.operator.fail_over(mirror)
        cut = await self.operator.cut_of(mirror)
        self._hand_over(home, mirror, cut)
        home.fails_over(cut)
        mirror.statements.committed = {}
        followed = self.world.spawn(self._follow(mirror, lingers=self._rng.random() < 0.4))
        await self.world.sleep(self._rng.randrange(100, self.apart_ms))
        home.statements.is_linked = True
        await self.operator.bring_back(home, mirror, self.admin_of(mirror).grow_to)
        await followed

    async def _follow(self, region: Region, *, lingers: bool) -> None:
        follower = self.members[0]
        follower.halt(lingers=lingers)
        await follower.wait_until_away()
        follower.go(region)

    def _hand_over(self, loser: Region, winner: Region, cut: Cut) -> None:
        """What a group has read beyond the cut is not there any more."""
        ends = ends_of(cut)
        keys = loser.statements.tried.keys() | winner.statements.tried.keys()
        winner.statements.tried = {
            (group, partition): min(winner.may_stand(group, partition), ends.get(partition, 0))
            for group, partition in sorted(keys)
        }
        winner.is_mirror = winner.statements.is_linked = False
        winner.was_taken_over({})
        loser.was_taken_over(ends)
        made = loser.statements.made, winner.statements.made
        most = max(each.get(TOPIC, 0) for each in made)
        for each in made:
            each[TOPIC] = most

    # --- the verdict ---

    def _undone(self) -> list[str]:
        """The producer of the region that has the mirror is refused for ever."""
        index = self.federation.regions.index(self.home)
        home = self.producers[index]
        left = [f"{each.name} has not left" for each in self.members if not each.left]
        return left + ([] if home.drained else [f"{home.name} is not drained"])

    @property
    def mirrored(self) -> list[tuple[Region, Region]]:
        west, east = self.federation.first.regions
        return [(west, east) if self.home is west else (east, west)]

    @property
    def own_commits(self) -> dict[tuple[str, TopicPartition], int]:
        (_, mirror), *_ = self.mirrored
        return mirror.statements.tried

    def _judge_mirrors(self, disks: dict[str, dict[TopicPartition, Disk]]) -> None:
        super()._judge_mirrors(disks)
        for region in self.federation.regions:
            for finding in misplaced(region, disks[region.region]):
                raise MirrorBroken(f"P5 in {region.region}: {finding}")


def misplaced(region: Region, disks: verdict.Disks) -> Iterator[str]:
    """P5: what an orphan store has was written in this region, and has been removed from its log."""
    written = {
        (partition, offset, value)
        for (partition, _), versions in region.written.items()
        for data in versions
        for batch in parse(data)
        for offset, value in batch.values()
    }
    for node in region.nodes.values():
        for partition, offset, value in orphans(node.disk):
            if (partition, offset, value) not in written:
                place = f"{value!r:.40} of {partition}@{offset}"
                yield f"{place} was sealed at {node.place}, and never written here"
        for partition, offset, value in still_held((node.disk,), disks):
            place = f"{value!r:.40} of {partition}@{offset}"
            yield f"{place} was sealed at {node.place}, and lies in the log"
