"""Injects a scenario's faults into a region, until it is told to end: then everything is repaired and stays so.

What no region could survive is left out: of the replicas that are in sync one always keeps what it was given, and of
the voters, whose memory of votes and log must last, one at a time loses its disk: while the log does not say yet whose
disks vote, when all others have everything; later, when nobody else who votes has lost his.
"""

import json
from collections.abc import Callable
from typing import Any

from brokers.ids import METADATA_PARTITION, BrokerId, TopicPartition
from brokers.quorum.voters import VoterSet
from tests.sim.nodes import Node
from tests.sim.regions.checks import end_of
from tests.sim.regions.cluster import Cluster, place
from tests.sim.regions.keepers import Keepers
from tests.sim.scenario import Crashes

QUORUM_STATE = f"{METADATA_PARTITION}/quorum-state"


class Storm:
    """Each kind of fault comes at random intervals of its mean, or never."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._world = cluster.world
        self._scenario = cluster.scenario
        self._rng = cluster.world.rng(cluster.name("storm"))
        self._raging = False
        self._keepers = Keepers(cluster)
        self._looked_at = 0  # so much of the metadata log
        self._in_sync_before: dict[TopicPartition, tuple[BrokerId, ...]] = {}
        for number, node in cluster.nodes.items():
            if cluster.scenario.spite and cluster.scenario.crash_mean_ms:
                node.on_word = self._look
            node.on_end = lambda number=number: self._on_end(number)

    def begin(self) -> None:
        self._raging = True
        scenario = self._scenario
        for number in self._cluster.nodes:
            self._recur(scenario.crash_mean_ms, lambda number=number: self._crash(number))
            self._recur(scenario.freeze_mean_ms, lambda number=number: self._freeze(number))
            self._recur(scenario.full_disk_mean_ms, lambda number=number: self._fill(number))
            self._recur(scenario.ailing_disk_mean_ms, lambda number=number: self._sicken(number))
            self._recur(scenario.cut_mean_ms, lambda number=number: self._cut(number))
            self._recur(scenario.block_mean_ms, lambda number=number: self._block(number))
        self._recur(scenario.wipe_mean_ms, self._wipe)

    def end(self) -> None:
        """Disks have room and are well, paths are open, and who is down comes up."""
        self._raging = False
        self._cluster.network.heal()
        for number, node in self._cluster.nodes.items():
            node.disk.full_after(None)
            node.disk.fuse = None
            node.disk.ailing = False
            node.wake()
            self._restart(number)

    def _recur(self, mean_ms: int, act: Callable[[], None]) -> None:
        if mean_ms:
            self._world.after(
                1 + int(self._rng.expovariate(1 / mean_ms)), lambda: self._strike(mean_ms, act)
            )

    def _strike(self, mean_ms: int, act: Callable[[], None]) -> None:
        if self._raging:
            act()
            self._recur(mean_ms, act)

    # --- spite ---

    def _look(self) -> None:
        """Whether somebody has just come in sync, and is from now on taken to have everything."""
        self._keepers.learn()
        newest = self._keepers.newest
        if not self._raging or newest is None or newest.next_offset == self._looked_at:
            return
        self._looked_at = newest.next_offset
        for partition, placed in self._keepers.placed():
            known = self._in_sync_before.get(partition, placed.isr)
            self._in_sync_before[partition] = placed.isr
            if set(placed.isr) - set(known) and self._rng.random() < self._scenario.spite:
                delay = self._rng.randrange(0, 20)
                self._world.after(delay, lambda it=placed.leader: self._spite(it))

    def _spite(self, leader: BrokerId) -> None:
        if self._raging and leader in self._cluster.nodes:
            self._world.note("storm", f"ends a leader: {place(leader)}")
            self._crash(leader)

    # --- ends ---

    def _crash(self, number: BrokerId) -> None:
        node = self._cluster.node(number)
        if not node.alive or self._keepers.is_needed(number):
            return
        midway = self._rng.random() < self._scenario.midway
        if self._rng.random() < self._scenario.clean_stops:
            self._keepers.leaving[number] = None
            node.leave()
        elif self._scenario.crashes is Crashes.KILL or self._rng.random() < 0.3:
            self._finish(node, midway and self._scenario.crashes is Crashes.KILL, node.kill)
        elif self._scenario.crashes is Crashes.POWER or self._keepers.can_spare(number):
            self._finish(node, midway and self._scenario.crashes is Crashes.POWER, node.cut_power)
            if self._scenario.crashes is Crashes.UNSYNCED:
                self._keepers.damage(number)

    def _finish(self, node: Node, midway: bool, end: Callable[[], None]) -> None:
        if midway:
            node.disk.fuse = self._rng.randrange(0, 30)
        else:
            end()

    def _on_end(self, number: BrokerId) -> None:
        self._keepers.leaving.pop(number, None)
        self._keepers.learn()
        delay = self._rng.randrange(1, self._scenario.down_ms)
        self._world.after(delay // 2, self._cluster.node(number).boot)
        self._world.after(delay, lambda: self._restart(number))

    def _restart(self, number: BrokerId) -> None:
        if not self._cluster.node(number).alive:
            self._cluster.node(number).start()

    # --- disks ---

    def _wipe(self) -> None:
        """A machine comes back with an empty disk."""
        number = self._rng.choice(list(self._cluster.nodes))
        node = self._cluster.node(number)
        if not node.alive or self._keepers.is_needed(number) or not self._keepers.can_spare(number):
            return
        if number in self._cluster.controllers and not self._may_forget(number):
            return
        self._keepers.damage(number)
        for other in self._cluster.nodes.values():
            other.disk.fuse = None  # lit when it was not yet the only one that has everything
        node.cut_power()
        self._world.note(place(number), "gets another disk")
        node.disk.wipe(self._cluster.new_directory())

    def _may_forget(self, number: BrokerId) -> bool:
        """No vote and no record rests on this controller alone."""
        controllers = [self._cluster.node(each) for each in self._cluster.controllers]
        members = [_member_at(node) for node in controllers]
        if len(controllers) < 3 or None in members or self._cluster.reseating:
            return False
        if any(member.voters.kraft_version == 0 for member in members):
            return self._have_all(controllers)
        sets = [known for each in members for known in each.voters.possible(each.high_watermark)]
        return all(self._is_spare(number, known) for known in sets)

    def _is_spare(self, number: BrokerId, voters: VoterSet) -> bool:
        """All others of these have the disks that they vote with, and are enough."""
        others = [voter for voter in voters if voter.id != number]
        disks = {each: self._cluster.node(each).disk.directory for each in voters.ids}
        is_whole = all(voter.directory == disks[voter.id] for voter in others)
        return is_whole and len(others) >= voters.majority

    def _have_all(self, controllers: list[Node]) -> bool:
        """All voters have the whole log, and know who leads."""
        if not all(node.is_ready for node in controllers):
            return False
        disks = [node.disk for node in controllers]
        if not all(disk.exists(QUORUM_STATE) for disk in disks):
            return False
        ends = {end_of(disk, METADATA_PARTITION) for disk in disks}
        states = [json.loads(bytes(disk.read(QUORUM_STATE, 0, 1_000))) for disk in disks]
        led = {(state["leaderId"], state["leaderEpoch"]) for state in states}
        return len(ends) == 1 and len(led) == 1 and led.pop()[0] >= 0

    def _fill(self, number: BrokerId) -> None:
        if self._keepers.is_needed(number):
            return
        disk = self._cluster.node(number).disk
        disk.full_after(self._rng.randrange(0, 2_000))
        self._world.after(self._rng.randrange(100, 3_000), lambda: disk.full_after(None))

    def _sicken(self, number: BrokerId) -> None:
        if self._keepers.is_needed(number):
            return
        disk = self._cluster.node(number).disk
        disk.ailing = True

        def cure() -> None:
            disk.ailing = False

        self._world.after(self._rng.randrange(100, 3_000), cure)

    # --- time and paths ---

    def _freeze(self, number: BrokerId) -> None:
        self._cluster.node(number).freeze(self._rng.randrange(50, self._scenario.freeze_ms))

    def _cut(self, number: BrokerId) -> None:
        """Some connection of the node breaks."""
        pipes = self._cluster.network.pipes_at(place(number))
        if not pipes:
            return
        half_open = (
            self._rng.randrange(0, 2) if self._rng.random() < self._scenario.half_open else None
        )
        self._rng.choice(pipes).cut("reset", half_open=half_open)

    def _block(self, number: BrokerId) -> None:
        others = [each for each in self._cluster.nodes if each != number]
        if not others:
            return
        if self._rng.random() >= self._scenario.isolation:
            others = [self._rng.choice(others)]
        one_way = self._rng.random() < self._scenario.one_way
        outwards = self._rng.random() < 0.5
        lasts = self._rng.randrange(100, self._scenario.block_ms)
        for other in others:
            ends = (place(number), place(other)) if outwards else (place(other), place(number))
            self._cluster.network.block(*ends, lasts, one_way=one_way)


def _member_at(node: Node) -> Any:
    """What a node is in the quorum, while its log is open."""
    return node.broker.parts.raft._raft if node.alive else None
