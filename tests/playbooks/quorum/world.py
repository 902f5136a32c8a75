"""Voters and observers, their disks, clocks and network, and the faults that a seed makes for them."""

import random
from uuid import UUID

from brokers.quorum.config import QuorumConfig
from brokers.quorum.raft_client import RaftClient
from brokers.quorum.voters import QuorumEndpoint, Voter, VoterSet
from tests.kernel.timeline import Timeline
from tests.playbooks.quorum.checks import Checker
from tests.playbooks.quorum.disk import Disk
from tests.playbooks.quorum.life import BrokerState
from tests.playbooks.quorum.network import Network

EPOCH = 1_700_000_000_000


def endpoint(node_id: int) -> QuorumEndpoint:
    return QuorumEndpoint("CONTROLLER", f"host-{node_id}", 9093)


class World(Timeline):
    """`Violation` when somebody does what nobody may do."""

    step_ms = 20

    def __init__(
        self,
        seed: int,
        *,
        voters: int = 3,
        observers: int = 0,
        make: type[RaftClient] = RaftClient,
        settings: dict[str, int] | None = None,
    ) -> None:
        super().__init__()
        self.rng = random.Random(seed)
        self.checker = Checker()
        self._make = make
        self._settings = settings or {}
        self.network = Network(self.rng, self)
        self.network.heard, self.network.told = self.checker.heard, self.checker.told
        self.slow_disk = 0.0
        self._skews: dict[int, tuple[int, float]] = {}
        self.first = VoterSet(
            Voter(node_id, endpoints=(endpoint(node_id),)) for node_id in range(1, voters + 1)
        )
        self.disks: dict[int, Disk] = {}
        self.places: dict[int, QuorumEndpoint] = {}
        self.roles: dict[int, bool] = {}  # node id -> whether it may vote
        for node_id in range(1, voters + observers + 1):
            self.add_node(node_id, may_vote=node_id <= voters)
        self._payloads = 0

    def add_node(self, node_id: int, *, may_vote: bool) -> None:
        self.roles[node_id] = may_vote
        self.places[node_id] = endpoint(node_id)
        self._skews[node_id] = (self.rng.randint(0, 10_000_000), self.rng.uniform(0.97, 1.03))
        self.disks[node_id] = self.new_disk()
        self.start(node_id)

    def new_disk(self) -> Disk:
        return Disk(UUID(bytes=self.rng.randbytes(16), version=4))

    # --- time ---

    def clock_of(self, node_id: int) -> int:
        offset, rate = self._skews[node_id]
        return EPOCH + offset + int(self.now * rate)

    def until_clock(self, node_id: int, due: int) -> int:
        _, rate = self._skews[node_id]
        return int((due - self.clock_of(node_id)) / rate) + 1

    def disk_delay(self) -> int:
        slow = self.rng.random() < self.slow_disk
        return self.rng.randint(20, 600) if slow else self.rng.randint(0, 6)

    # --- members ---

    @property
    def lives(self) -> dict[int, BrokerState]:
        return self.network.lives

    def start(self, node_id: int) -> BrokerState:
        config = QuorumConfig(
            node_id=node_id,
            cluster_id="region-one",
            voters=self.first,
            directory=self.disks[node_id].directory,
            may_vote=self.roles[node_id],
            endpoints=(self.places[node_id],) if self.roles[node_id] else (),
            **self._settings,  # type: ignore[arg-type]
        )
        life = BrokerState(self, config, self.disks[node_id], self._make)
        self.network.lives[node_id] = life
        return life

    def crash(self, node_id: int) -> None:
        life = self.network.lives.pop(node_id, None)
        if life is not None:
            life.is_over = True
            self.disks[node_id].lose_power(self.rng)
            self.network.gone(life)

    def wipe(self, node_id: int) -> None:
        self.crash(node_id)
        self.disks[node_id] = self.new_disk()

    @property
    def leader(self) -> BrokerState | None:
        """Of the highest epoch."""
        leading = [life for life in self.lives.values() if life.raft.leading_epoch is not None]
        return max(leading, key=lambda life: life.raft.leader_epoch, default=None)

    def write(self) -> bool:
        """A client's write, at whoever says that it leads."""
        self._payloads += 1
        payload = f"<{self._payloads}>".encode()
        leading = [life for life in self.lives.values() if life.raft.is_settled]
        return bool(leading) and self.rng.choice(leading).write(payload)

    def heal(self) -> None:
        self.network.scenario.clear()
        self.slow_disk = 0.0
        for node_id in self.roles:
            if node_id not in self.lives:
                self.start(node_id)

    def settle(self, bound: int = 15_000) -> int:
        """After the healing: somebody leads, writes are committed, and everyone has all of it."""
        took = self.run_until(
            lambda: any(life.raft.is_settled for life in self.lives.values()), bound
        )
        self.write()
        return took + self.run_until(self._is_even, bound)

    def _is_even(self) -> bool:
        leader = self.leader
        if leader is None or not leader.raft.is_settled or leader.raft.log is None:
            return False
        end = leader.raft.log.log_end_offset
        return all(life.high_watermark == end for life in self.lives.values())

    def describe(self) -> str:
        return "; ".join(
            f"{life.key.id}: {type(life.raft._quorum.state).__name__} in {life.raft.leader_epoch},"
            f" log {life.disk.start}..{life.disk.end}, committed {life.high_watermark},"
            f" {life.raft.voters.latest.ids}"
            for _, life in sorted(self.lives.items())
        )
