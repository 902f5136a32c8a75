"""One run of one seed: faults while every write is watched, then healing within bounded time, then the verdict."""

from collections.abc import Callable

from tests.sim.disks import Disk
from tests.sim.nodes import Node
from tests.sim.regions.admins import Admin
from tests.sim.regions.checks import end_of
from tests.sim.regions.cluster import Cluster, MakeDisk, MakeNode
from tests.sim.regions.electors import Elector
from tests.sim.regions.inspection import Inspector
from tests.sim.regions.members import GroupMember
from tests.sim.regions.producers import ALL, LEADER, Producer
from tests.sim.regions.readers import Reader
from tests.sim.regions.rescue import Rescuer
from tests.sim.regions.scenario import RegionScenario, draw
from tests.sim.regions.storms import Storm
from tests.sim.regions.table_members import TableMember
from tests.sim.runs import Outcome, Stuck
from tests.sim.world import START, World

CALM_MS_MAX = 120_000  # a healed region comes to rest in this time, or names what is stuck
STEP_MS = 250


class RegionRun:
    """Everything that takes part. `adjust` may change the drawn scenario."""

    def __init__(
        self,
        seed: int,
        show: Callable[[str], None] | None = None,
        *,
        adjust: Callable[[RegionScenario], RegionScenario] = lambda scenario: scenario,
        make_node: MakeNode = Node,
        make_disk: MakeDisk = Disk,
    ) -> None:
        self.world = World(seed, show)
        self.scenario = adjust(draw(self.world.rng("weather")))
        self.world.note("scenario", self.scenario.describe())
        self.cluster = Cluster(self.world, self.scenario, make_node, make_disk)
        self.storm = Storm(self.cluster)
        self.admin = Admin(self.cluster)
        self.inspector = Inspector(self.cluster)
        rng = self.world.rng("clients")
        self.producers = [
            Producer(
                self.cluster,
                f"producer{index}",
                idempotent=(idempotent := rng.random() < 0.7),
                acks=ALL if idempotent or rng.random() < 0.7 else LEADER,
            )
            for index in range(self.scenario.producers)
        ]
        if self.scenario.compaction is not None:  # its last sequences are to be known for ever
            self.producers.append(
                Producer(self.cluster, "passing", idempotent=True, acks=ALL, most=rng.randrange(6))
            )
        self.readers = [
            Reader(self.cluster, f"reader{index}") for index in range(self.scenario.readers)
        ]
        kind = GroupMember if self.scenario.compaction is None else TableMember
        self.members = [
            kind(self.cluster, f"group{index}") for index in range(self.scenario.groups)
        ]

    def execute(self) -> Outcome:
        """Raises what was found."""
        self._begin()
        self.storm.begin()
        self._pass(self.scenario.duration_ms)
        self.world.note("storm", "ends")
        self.storm.end()
        self.world.spawn(Rescuer(self.cluster).watch())
        self.cluster.stopping = True
        self._settle(self._undone)
        self.world.spawn(self.inspector.watch())
        self._settle(self._missing)
        return self._close()

    def _begin(self) -> None:
        for node in self.cluster.nodes.values():
            node.start()
        prepared = self.world.spawn(self.admin.prepare())
        if not self.world.run(self.world.now + CALM_MS_MAX, lambda: prepared.done):
            raise Stuck("the region was not set up")
        clients: list[Producer | Reader | GroupMember] = [
            *self.producers,
            *self.readers,
            *self.members,
        ]
        for client in clients:
            self.world.spawn(client.run())
        if self.scenario.meddles:
            self.world.spawn(self.admin.meddle())
        if self.scenario.compaction is not None:
            self.world.spawn(Admin(self.cluster).roll_offsets(self.scenario.segment_bytes))
        if self.scenario.reseats:
            self.world.spawn(Elector(self.cluster).meddle())

    def _pass(self, milliseconds: int) -> None:
        until = self.world.now + milliseconds
        while self.world.now < until:
            self.world.run(min(self.world.now + STEP_MS, until))
            self.cluster.evidence.hear_clients()

    def _settle(self, missing: Callable[[], list[str]]) -> None:
        until = self.world.now + CALM_MS_MAX
        while left := missing():
            if self.world.now >= until:
                raise Stuck("; ".join(left))
            self._pass(STEP_MS)

    # --- what is not at rest ---

    def _undone(self) -> list[str]:
        left = [f"{each.name} is not drained" for each in self.producers if not each.drained]
        left += [f"{each.name} has not left" for each in self.members if not each.left]
        return left if self.admin.is_idle else [*left, "the admin waits for an answer"]

    def _missing(self) -> list[str]:
        if self.inspector.rounds == 0:
            return ["nobody has looked yet"]
        return self.inspector.missing() or self._unread()

    def _unread(self) -> list[str]:
        return [
            f"{reader.name} stands at {position} of {partition}, which ends at {end}"
            for reader in self.readers
            for partition, position in reader.positions.items()
            for _, _, replicas, _ in [self.inspector.agreed[partition]]
            if position < (end := end_of(self.cluster.node(replicas[0]).disk, partition))
        ]

    # --- the verdict ---

    def _close(self) -> Outcome:
        evidence = self.cluster.evidence
        evidence.replicas = {
            partition: replicas for partition, (_, _, replicas, _) in self.inspector.agreed.items()
        }
        for node in self.cluster.nodes.values():
            node.stop()
            for path, data in node.disk.everything():
                self.world.digest(path.encode() + data)
        evidence.check_end()
        return Outcome(
            self.world.trace_hash,
            self.world.steps,
            self.world.now - START,
            len(evidence.statements.acknowledged),
            sum(node.life for node in self.cluster.nodes.values()),
        )
