"""One run of one seed: faults while every write is watched, then calm, and everything must come to rest."""

from collections.abc import Callable
from dataclasses import dataclass

from linker.records.mirror_state import MirrorState
from tests.sim import checking
from tests.sim.evidence import Region, committed, log_start
from tests.sim.federation import Federation
from tests.sim.foreign_writers import ForeignWriter
from tests.sim.members import GroupMember
from tests.sim.operators import Operator
from tests.sim.producers import Producer
from tests.sim.readers import Reader
from tests.sim.scenario import draw
from tests.sim.storms import Storm
from tests.sim.world import START, Promise, World

CALM_MS_MAX = 120_000  # a healed federation comes to rest in this time, or names what is stuck


class Stuck(Exception):
    """No fault is under way and something does not move."""


@dataclass
class Outcome:
    """What a run came to."""

    trace_hash: str
    steps: int
    virtual_ms: int
    acknowledged: int
    lives: int


class Run:
    """Everything that takes part."""

    def __init__(self, seed: int, show: Callable[[str], None] | None = None) -> None:
        self.world = World(seed, show)
        self.scenario = draw(self.world.rng("weather"))
        self.world.note("scenario", self.scenario.describe())
        self.federation = Federation(self.world, self.scenario)
        self.storm = Storm(self.federation)
        self.operator = Operator(self.federation, self.storm)
        self.producers = [
            Producer(self.federation, f"producer-{index}", idempotent=self.scenario.idempotent)
            for index in range(self.scenario.producers)
        ]
        self.federation.producers += self.producers
        self.readers = [
            Reader(self.federation, f"reader-{region}", node)
            for region, node in self.federation.nodes.items()
        ]
        self.members = [
            GroupMember(self.federation, f"group-{index}") for index in range(self.scenario.groups)
        ]
        self._ended: Promise | None = None

    def execute(self) -> Outcome:
        """Raises what was found."""
        self._begin()
        half = self.scenario.duration_ms // 2
        self.storm.begin()
        self.world.run(self.world.now + half)
        if self.scenario.ending != "none":
            self._ended = self.world.spawn(self._end())
        self.world.run(self.world.now + half)
        self.storm.end()
        self.federation.network.heal()
        self.world.spawn(self.operator.watch())
        self._settle(self._pending)
        self.federation.stopping = True
        self._settle(self._missing)
        return self._close()

    def _begin(self) -> None:
        for node in self.federation.nodes.values():
            node.start()
        prepared = self.world.spawn(self.operator.prepare())
        if not self.world.run(self.world.now + CALM_MS_MAX, lambda: prepared.done):
            raise Stuck("the federation was not set up")
        self._mirrored = self.world.spawn(self.operator.mirror())
        self.operator.begin_meddling()
        self.world.spawn(ForeignWriter(self.federation).run())
        clients: list[Producer | Reader | GroupMember] = [
            *self.producers,
            *self.readers,
            *self.members,
        ]
        for client in clients:
            self.world.spawn(client.run())

    async def _end(self) -> None:
        await self._mirrored
        await self.operator.end(self.scenario.ending)

    def _settle(self, missing: Callable[[], list[str]]) -> None:
        until = self.world.now + CALM_MS_MAX
        while left := missing():
            if self.world.now >= until:
                raise Stuck("; ".join(left))
            self.world.run(self.world.now + 250)

    # --- what is not at rest ---

    def _pending(self) -> list[str]:
        if not self._mirrored.done:
            return ["the mirror is not made"]
        return (
            [f"{self.scenario.ending} is pending"] if self._ended and not self._ended.done else []
        )

    def _missing(self) -> list[str]:
        missing = [f"{each.name} is not drained" for each in self.producers if not each.drained]
        missing += [f"{each.name} has not left" for each in self.members if not each.left]
        missing += [line for reader in self.readers for line in self._unread(reader)]
        if self._ended is None and not missing:
            missing += self._behind()
        return missing

    def _unread(self, reader: Reader) -> list[str]:
        node = reader.node
        if not node.alive:
            return []
        region = Region(node.region, node.disk)
        return [
            f"{reader.name} stands at {position} of {partition}, which ends at {region.end(partition)}"
            for partition, position in reader.positions.items()
            if position < region.end(partition)
        ]

    def _behind(self) -> list[str]:
        """How the mirror differs from its source."""
        mirror = self.federation.statements.mirror
        if mirror is None:
            return ["nobody knows the mirror's state"]
        state = mirror.record.state
        if state is MirrorState.FAILED and not self.federation.evidence.durable:
            return []  # the source has lost what the mirror holds, and the mirror said so
        missing = [f"the mirror is {state.value}"] if state is not MirrorState.ACTIVE else []
        source, target = (Region(name, node.disk) for name, node in self.federation.nodes.items())
        for partition in self.federation.partitions():
            ends = source.end(partition), target.end(partition)
            starts = log_start(source.disk, partition), log_start(target.disk, partition)
            if ends[0] != ends[1]:
                missing.append(f"{partition} ends at {ends[0]}, its mirror at {ends[1]}")
            elif starts[0] > starts[1]:
                missing.append(f"{partition} starts at {starts[0]}, its mirror at {starts[1]}")
        return missing + self._uncarried(source, target)

    def _uncarried(self, source: Region, target: Region) -> list[str]:
        here = committed(target.disk)
        missing = []
        for (group, partition), offset in committed(source.disk).items():
            if offset < log_start(target.disk, partition):
                continue  # moved up to where the mirror starts, the group would skip records (P6)
            wanted = min(offset, target.end(partition))
            found = here.get((group, partition), -1)
            if found != wanted:
                missing.append(
                    f"{group} of {partition} stands at {wanted}, at the mirror at {found}"
                )
        return missing

    # --- the verdict ---

    def _close(self) -> Outcome:
        told = self.world.spawn(self.operator.describe())
        if not self.world.run(self.world.now + CALM_MS_MAX, lambda: told.done):
            raise Stuck("nobody describes the mirror")
        for node in self.federation.nodes.values():
            node.stop()
            for path, data in node.disk.everything():
                self.world.digest(path.encode() + data)
        self.federation.evidence.audited_at = self.world.now
        checking.check_end(self.federation.evidence)
        return Outcome(
            self.world.trace_hash,
            self.world.steps,
            self.world.now - START,
            len(self.federation.statements.acknowledged),
            sum(node.life for node in self.federation.nodes.values()),
        )
