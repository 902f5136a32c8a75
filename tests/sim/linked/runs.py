"""One run of one seed: regions under faults, then healing, then every mirror must be its source's equal."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from brokers.ids import OFFSETS_TOPIC, Offset, TopicPartition
from linker.records.mirror_state import MirrorState
from tests.sim.disks import Disk
from tests.sim.evidence import committed_in, log_start
from tests.sim.linked import audits, checks, verdict
from tests.sim.linked.event_checks import judge_events
from tests.sim.linked.federation import Ends, LinkedFederation, MirrorBroken, Region
from tests.sim.linked.foreign_writers import ForeignWriter
from tests.sim.linked.names import Names
from tests.sim.linked.operators import LinkOperator
from tests.sim.linked.readers import RegionReader
from tests.sim.linked.scenario import LinkedScenario, drawn
from tests.sim.linked.wan import WanStorm
from tests.sim.nodes import Node
from tests.sim.regions.admins import Admin
from tests.sim.regions.checks import end_of
from tests.sim.regions.cluster import MakeNode
from tests.sim.regions.inspection import Inspector
from tests.sim.regions.members import GroupMember
from tests.sim.regions.producers import ALL, Producer
from tests.sim.regions.readers import Reader
from tests.sim.regions.rescue import Rescuer
from tests.sim.regions.storms import Storm
from tests.sim.regions.table_members import TableMember
from tests.sim.runs import Outcome, Stuck
from tests.sim.world import START, Promise, World

CALM_MS_MAX = 180_000
STEP_MS = 250
AUDITED = 10  # of so many seeds one
TO_NORTH = "to-north"  # the second link

Adjust = Callable[[LinkedScenario], LinkedScenario]


def _began(region: Region, partition: TopicPartition) -> Offset:
    return verdict.chosen_starts(region).get(partition, 0)


def _committed(disks: verdict.Disks) -> dict[tuple[str, TopicPartition], Offset]:
    """By all partitions of `__consumer_offsets`."""
    places = [each for each in disks if each.topic == OFFSETS_TOPIC]
    found: dict[tuple[str, TopicPartition], Offset] = {}
    for place in places:
        found |= committed_in(disks[place], place)
    return found


class LinkedRun:
    """Everything that takes part. `adjust` may change the drawn scenario, `ending` how the mirror in `east` ends."""

    # Whether the mirrors are mirrors until `_end`, so that nobody may write to them before.
    mirrors_stay = True
    judges_events = True  # what happens when it does; else only how the run ends

    def __init__(
        self,
        seed: int,
        show: Callable[[str], None] | None = None,
        *,
        adjust: Adjust = lambda scenario: scenario,
        make_node: MakeNode = Node,
        ending: str = "",
    ) -> None:
        self.world = World(seed, show)
        self.scenario = adjust(drawn(self.world.rng("weather"))).in_effect()
        self.ending = ending or self.scenario.ending
        self.world.note("scenario", self.scenario.describe())
        self.federation = LinkedFederation(
            self.world,
            self.scenario.regions,
            make_node,
            topology=self.scenario.topology,
            source_dials=self.scenario.source_dials,
        )
        for node in self.federation.nodes.values():
            node.limits = replace(node.limits, together=self.scenario.together)
        self.storms: list[WanStorm | Storm] = [
            WanStorm(self.federation, self.scenario.wan),
            *(Storm(region) for region in self.federation.regions),
        ]
        for region in self.federation.regions:
            region.remember_marks()
            region.statements.began = partial(_began, region)
        if self.judges_events:
            judge_events(self.federation.regions)
        self.inspectors = [Inspector(region) for region in self.federation.regions]
        self.admins = [Admin(region) for region in self.federation.regions]
        self.operator = self._first_operator()
        self.second = self._second_operator()
        self.foreign = self._foreign_writers()
        self._make_clients()

    def _foreign_writers(self) -> list[ForeignWriter]:
        if not self.mirrors_stay:
            return []
        mirrors = [region for region in self.federation.regions if region.source is not None]
        return [ForeignWriter(region) for region in mirrors]

    @property
    def ends(self) -> Ends:
        """Of the link whose mirror ends as `ending` says."""
        return self.federation.first

    def _first_operator(self) -> LinkOperator:
        return LinkOperator(self.ends, rate=self.scenario.rate)

    def _second_operator(self) -> LinkOperator | None:
        """Of the link to the third region."""
        third = self.federation.third
        if third is None:
            return None
        assert third.source is not None
        source_dials = self.world.rng("second link").random() < 0.4
        ends = Ends(self.world, third.source, third, source_dials)
        return LinkOperator(ends, TO_NORTH, rate=self.scenario.rate)

    def _make_clients(self) -> None:
        rng = self.world.rng("clients")
        source, destination = self.federation.source, self.federation.destination
        idempotent = rng.random() < 0.7
        self.producers = [Producer(source, "producer0", idempotent=idempotent, acks=ALL)]
        kind = GroupMember if self.scenario.first.compaction is None else TableMember
        self.members = [
            kind(source, f"group{index}") for index in range(self.scenario.first.groups)
        ]
        self.readers = [Reader(destination, "reader0")] if rng.random() < 0.6 else []

    def execute(self) -> Outcome:
        """Raises what was found."""
        self._begin()
        for storm in self.storms:
            storm.begin()
        half = self.scenario.first.duration_ms // 2
        begun = self.world.spawn(self._link())
        self._pass(half)
        ended = self.world.spawn(self._end(begun)) if self.ending != "none" else begun
        self._pass(half)
        self.world.note("storm", "ends")
        for storm in self.storms:
            storm.end()
        self._rescue()
        self._settle(lambda: [] if begun.done else ["a mirror is not made"])
        self._settle(lambda: [] if ended.done else [f"{self.ending} is pending"])
        self._stop_clients()
        self._settle(self._undone)
        for inspector in self.inspectors:
            self.world.spawn(inspector.watch())
        self._settle(self._missing)
        return self._close()

    async def _link(self) -> None:
        """Both links at once: in a chain the second one waits for the mirror of the first."""
        second = None if self.second is None else self.world.spawn(self.second.begin())
        await self.operator.begin()
        if second is not None:
            await second

    async def _end(self, begun: Promise) -> None:
        await begun
        await self._stop_foreign_writers()
        await self.operator.end(self.ending)

    async def _stop_foreign_writers(self) -> None:
        """Those of the mirror that ends."""
        for writer in self.foreign:
            await writer.stop()

    def _rescue(self) -> None:
        for region in self.federation.regions:
            self.world.spawn(Rescuer(region).watch())

    def _stop_clients(self) -> None:
        for region in self.federation.regions:
            region.stopping = True

    def _begin(self) -> None:
        for node in self.federation.nodes.values():
            node.start()
        prepared = [self.world.spawn(admin.prepare()) for admin in self._source_admins]
        due = self.world.now + CALM_MS_MAX
        if not self.world.run(due, lambda: all(each.done for each in prepared)):
            raise Stuck("a source was not set up")
        clients: list[Producer | GroupMember | Reader] = [
            *self.producers,
            *self.members,
            *self.readers,
        ]
        for client in (*clients, *self.foreign):
            self.world.spawn(client.run())
        if self.scenario.first.compaction is not None:
            for region in self.federation.regions:
                self.world.spawn(Admin(region).roll_offsets(region.scenario.segment_bytes))
        if self.scenario.first.meddles:
            for admin in self.admins:
                is_source = admin in self._source_admins
                self.world.spawn(admin.meddle() if is_source else admin.move_about())

    @property
    def _source_admins(self) -> list[Admin]:
        """Of regions whose own topic is mirrored."""
        return self.admins[:1]

    def _pass(self, milliseconds: int) -> None:
        until = self.world.now + milliseconds
        while self.world.now < until:
            self.world.run(min(self.world.now + STEP_MS, until))
            for region in self.federation.regions:
                region.evidence.hear_clients()

    def _settle(self, missing: Callable[[], list[str]]) -> None:
        until = self.world.now + CALM_MS_MAX
        while left := missing():
            if self.world.now >= until:
                raise Stuck("; ".join(left))
            self._pass(STEP_MS)

    def _undone(self) -> list[str]:
        left = [f"{each.name} is not drained" for each in self.producers if not each.drained]
        left += [f"{each.name} has not left" for each in self.members if not each.left]
        return left + ["an admin waits for an answer" for each in self.admins if not each.is_idle]

    def _missing(self) -> list[str]:
        if any(inspector.rounds == 0 for inspector in self.inspectors):
            return ["nobody has looked yet"]
        left = [line for inspector in self.inspectors for line in inspector.missing()]
        return left or list(self._behind()) or list(self._unread())

    def _unread(self) -> Iterator[str]:
        """Who has read what is gone hears of it once he looks again."""
        inspectors = {
            region.region: inspector
            for region, inspector in zip(self.federation.regions, self.inspectors, strict=True)
        }
        for reader in self.readers:
            if isinstance(reader, RegionReader):
                yield from reader.unread(inspectors[reader.region])

    @property
    def mirrored(self) -> list[tuple[Region, Region]]:
        """(source, mirror) of all mirrors that live at the end."""
        first = self.ends.regions
        return self.mirrored_further + ([first] if self.ending == "none" else [])

    @property
    def mirrored_further(self) -> list[tuple[Region, Region]]:
        third = self.federation.third
        return [] if third is None or third.source is None else [(third.source, third)]

    def _behind(self) -> Iterator[str]:
        disks = self._disks()
        for source, mirror in self.mirrored:
            there, here = disks[source.region], disks[mirror.region]
            between, names = f"{source.region}-{mirror.region}: ", mirror.names_from(source)
            partitions = source.partitions()
            began = verdict.chosen_starts(source)
            found = list(checks.behind(partitions, there, here, began, names))
            found = found or list(self._uncarried(partitions, there, here, names))
            yield from (between + each for each in found)

    def _uncarried(
        self,
        partitions: list[TopicPartition],
        there: verdict.Disks,
        here: verdict.Disks,
        names: Names,
    ) -> Iterator[str]:
        mirrors = {each: names.here(each) for each in partitions}
        ends = {each: end_of(here[mirror], mirror) for each, mirror in mirrors.items()}
        starts = {each: log_start(here[mirror], mirror) for each, mirror in mirrors.items()}
        carried = _committed(there), _committed(here), ends, starts, self.own_commits
        yield from checks.uncarried(*carried, names)

    @property
    def own_commits(self) -> dict[tuple[str, TopicPartition], int]:
        """Of members in the mirror's region: how far they came."""
        return {}

    def _disks(self) -> dict[str, dict[TopicPartition, Disk]]:
        return {
            region.region: {
                partition: checks.leading_disk(region, inspector, partition)
                for partition in inspector.agreed
            }
            for region, inspector in zip(self.federation.regions, self.inspectors, strict=True)
        }

    # --- the verdict ---

    def _close(self) -> Outcome:
        disks = self._disks()
        for node in self.federation.nodes.values():
            node.stop()
            for path, data in node.disk.everything():
                self.world.digest(path.encode() + data)
        self._judge(disks)
        self._audit()
        for region in self.federation.regions:
            region.evidence.hear_clients()
        return Outcome(
            self.world.trace_hash,
            self.world.steps,
            self.world.now - START,
            len(self.federation.source.evidence.statements.acknowledged),
            sum(node.life for node in self.federation.nodes.values()),
        )

    def _audit(self) -> None:
        """P11, of some seeds: an audit takes as long as a run."""
        if self.world.seed % AUDITED:
            return
        for source, mirror in self.mirrored:
            for finding in audits.objections(source, mirror, self.world.now):
                raise MirrorBroken(f"P11 of {source.region}-{mirror.region}: {finding}")

    def _judge(self, disks: dict[str, dict[TopicPartition, Disk]]) -> None:
        self._judge_mirrors(disks)
        for region, inspector in zip(self.federation.regions, self.inspectors, strict=True):
            verdict.judge_region(region, inspector, disks[region.region])

    def _judge_mirrors(self, disks: dict[str, dict[TopicPartition, Disk]]) -> None:
        for source, mirror in self.mirrored:
            there, here = disks[source.region], disks[mirror.region]
            names = mirror.names_from(source)
            for partition in source.partitions():
                both = there[partition], here[names.here(partition)]
                for finding in checks.different(partition, *both, names=names):
                    raise MirrorBroken(f"{source.region}-{mirror.region}: {finding}")
        if self.ending in ("promote", "failover"):
            source, mirror = self.ends.regions
            self._judge_cut(disks[source.region], disks[mirror.region])

    def _judge_cut(self, there: verdict.Disks, here: verdict.Disks) -> None:
        names = self.ends.names
        for partition in self.ends.source.partitions():
            cut, mirror = self._cut_of(partition), names.here(partition)
            if mirror not in here:
                assert not cut
                continue
            both = there[partition], here[mirror]
            for finding in checks.different(partition, *both, cut, names):
                raise MirrorBroken(finding)
            end = end_of(here[mirror], mirror)
            if end != max(cut, log_start(here[mirror], mirror)):
                raise MirrorBroken(f"{mirror} was cut at {cut}, and ends at {end}")

    def _cut_of(self, partition: TopicPartition) -> int:
        """Where the mirror was cut; it ends there, as nobody writes to it."""
        mirror = self.operator.mirror
        assert mirror is not None
        assert mirror.record.state is MirrorState.STOPPED
        assert mirror.record.cut is not None
        if partition.partition >= len(mirror.record.cut.partitions):
            return 0  # it came after the cut
        return mirror.record.cut.partitions[partition.partition].offset
