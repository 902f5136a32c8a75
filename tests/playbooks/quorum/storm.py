"""Faults from a seed: crashes, cuts, losses, slow disks, lost disks, changes of who votes; then it clears up."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from brokers.events import Request
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.quorum_voters import (
    AddRaftVoterRequest,
    RemoveRaftVoterRequest,
    VoterListener,
)
from tests.playbooks.quorum.world import World, endpoint

UNNOTICED_MS = (
    4_000  # for so long a leader may count on a disk that is gone, and let another one go too
)


class Operator:
    """Asks whoever leads to change who votes; has no connection to wait on."""

    id = 0

    def __init__(self, world: World) -> None:
        self.world = world
        self._last_ticket = -1

    def answered(self, ticket: int, bound: int = 10_000) -> Any:
        """The answer, once it has come."""
        self.world.run_until(lambda: ticket in self.world.network.answers, bound)
        return self.world.network.answers[ticket]

    def ask(self, key: int, message: object) -> int:
        """The ticket of the answer, if anyone leads; 0 if not."""
        leader = self.world.leader
        if leader is None:
            return 0
        self._last_ticket -= 1
        ticket = self._last_ticket
        request = Request(
            ticket, key, 1 if key == ApiKey.ADD_RAFT_VOTER else 0, None, "sim", message
        )
        leader.take_request(request)
        return ticket

    def add(self, node_id: int, **more: Any) -> int:
        where = endpoint(node_id)
        message = AddRaftVoterRequest(
            cluster_id="region-one",
            timeout_ms=3_000,
            voter_id=node_id,
            voter_directory_id=self.world.disks[node_id].directory,
            listeners=[VoterListener(name=where.name, host=where.host, port=where.port)],
        )
        for name, value in more.items():
            setattr(message, name, value)
        return self.ask(ApiKey.ADD_RAFT_VOTER, message)

    def remove(self, node_id: int, directory: UUID) -> int:
        message = RemoveRaftVoterRequest(
            cluster_id="region-one", voter_id=node_id, voter_directory_id=directory
        )
        return self.ask(ApiKey.REMOVE_RAFT_VOTER, message)


class Storm:
    """`run` makes faults and work for some time."""

    def __init__(self, world: World, *, wipes: bool = False, changes: bool = False) -> None:
        self.world = world
        self.operator = Operator(world)
        self._rng = world.rng
        self._wiped_at = -UNNOTICED_MS
        self._acts: list[tuple[float, Callable[[], None]]] = [
            (0.30, self._work),
            (0.08, self._crash),
            (0.20, self._restart),
            (0.06, self._crash_leader),
            (0.03, self._crash_everyone),
            (0.10, self._cut),
            (0.10, self._clear),
            (0.06, self._snapshot),
            (0.07, self._squall),
        ]
        if wipes:
            self._acts.append((0.04, self._wipe))
        if changes:
            self._acts.append((0.12, self._change_voters))

    def run(self, duration: int) -> None:
        acts = [act for _, act in self._acts]
        weights = [weight for weight, _ in self._acts]
        end = self.world.now + duration
        while self.world.now < end:
            (act,) = self._rng.choices(acts, weights)
            act()
            self.world.run(self._rng.choice((0, 2, 10, 50, 200, 700)))

    # --- what happens ---

    def _work(self) -> None:
        for _ in range(self._rng.randint(1, 5)):
            self.world.write()

    def _crash(self) -> None:
        if self.world.lives:
            self.world.crash(self._rng.choice(sorted(self.world.lives)))

    def _restart(self) -> None:
        down = sorted(set(self.world.roles) - set(self.world.lives))
        if down:
            self.world.start(self._rng.choice(down))

    def _crash_leader(self) -> None:
        if self.world.leader is not None:
            self.world.crash(self.world.leader.id)

    def _crash_everyone(self) -> None:
        for node_id in sorted(self.world.lives):
            self.world.crash(node_id)
        for node_id in self.world.roles:
            self.world.start(node_id)

    def _cut(self) -> None:
        """One direction between two members, both, or all that leads to one and from it."""
        one, other = (
            self._rng.sample(sorted(self.world.roles), 2) if len(self.world.roles) > 1 else (1, 1)
        )
        cuts = self.world.network.scenario.cuts
        match self._rng.randrange(3):
            case 0:
                cuts.add((one, other))
            case 1:
                cuts.update(((one, other), (other, one)))
            case _:
                cuts.update(
                    pair for each in self.world.roles for pair in ((one, each), (each, one))
                )

    def _squall(self) -> None:
        scenario = self.world.network.scenario
        scenario.loss = self._rng.choice((0.0, 0.05, 0.3))
        scenario.slow = self._rng.choice((0.0, 0.02, 0.2))
        scenario.delay_max = self._rng.choice((1, 5, 50, 300))
        self.world.slow_disk = self._rng.choice((0.0, 0.1, 0.5))

    def _clear(self) -> None:
        self.world.network.scenario.clear()

    def _snapshot(self) -> None:
        if self.world.lives:
            self.world.lives[self._rng.choice(sorted(self.world.lives))].take_snapshot()

    def _wipe(self) -> None:
        """A disk is lost for good, where that leaves a majority of every set that may be in force."""
        world = self.world
        if len(world.lives) < len(world.roles):
            return
        node_id = self._rng.choice([each for each, may_vote in world.roles.items() if may_vote])
        there = {(each, disk.directory) for each, disk in world.disks.items() if each != node_id}
        sets = [life.raft.voters for life in world.lives.values()]
        if (
            all(
                each.kraft_version > 0
                and sum(tuple(voter.key) in there for voter in each.latest) >= each.latest.majority
                and len(each.latest) >= 3
                for each in sets
            )
            and len({each.latest for each in sets}) == 1
        ):
            world.wipe(node_id)
            world.start(node_id)
            self._wiped_at = world.now

    def _change_voters(self) -> None:
        """Between three voters and five."""
        leader = self.world.leader
        if leader is None:
            return
        voters = leader.raft.voters.latest
        outside = [each for each, may in self.world.roles.items() if may and each not in voters.ids]
        if outside and (len(voters) < 4 or self._rng.random() < 0.5):
            self.operator.add(self._rng.choice(outside))
        elif len(voters) > 3 and self.world.now - self._wiped_at > UNNOTICED_MS:
            voter = self._rng.choice(list(voters))
            self.operator.remove(voter.id, voter.directory)


class Feud:
    """Leaders fall one after another, each with a tail that few or none of the others have."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._rng = world.rng

    def run(self, leaders: int) -> None:
        self.world.heal()
        for _ in range(leaders):
            self._one_falls()

    def _one_falls(self) -> None:
        world, rng = self.world, self._rng
        world.run_until(lambda: world.leader is not None, 20_000)
        leader = world.leader
        assert leader is not None
        world.slow_disk = rng.choice((0.0, 0.5))
        world.run(rng.choice((0, 1, 3, 10, 30)))
        others = [each for each in world.roles if each != leader.id]
        deaf = rng.sample(others, rng.randint(0, len(others)))
        world.network.scenario.cuts.update((leader.id, each) for each in deaf)
        for _ in range(rng.randint(0, 3)):
            leader.write(f"<{rng.random()}>".encode())
        world.run(rng.choice((0, 1, 3, 10, 30)))
        fallen = {leader.id, *rng.sample(others, rng.choice((0, 0, 1, len(others))))}
        for node_id in sorted(fallen):
            world.crash(node_id)
        world.network.scenario.cuts.clear()
        # A majority goes on, and who fell comes back at once or a little later.
        back = sorted(set(world.roles) - set(world.lives))
        rng.shuffle(back)
        for node_id in back:
            if len(world.lives) < len(world.roles) // 2 + 1 or rng.random() < 0.3:
                world.start(node_id)
