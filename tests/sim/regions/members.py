"""A consumer group of one member in a region: finds its coordinator wherever it moves, reads on, commits forwards.

Its commits are acknowledged by all in-sync replicas of `__consumer_offsets`, so who joins later must be told of them.
"""

from typing import Any

from brokers.ids import BrokerId, Offset, TopicPartition
from brokers.wire.message import Message
from brokers.wire.messages.groups import FindCoordinatorRequest
from tests.sim.memberships import FIND_COORDINATOR, Lost, Membership
from tests.sim.regions.cluster import TOPIC, Cluster
from tests.sim.regions.routes import Routes

ROUNDS = 20  # between one join and the next: the member leaves and comes back


class GroupMember(Membership):
    """The only member of group `name`. `Lost` leads back to the beginning."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        super().__init__(name)
        self._cluster = cluster
        self._world = cluster.world
        self._statements = cluster.statements
        self._rng = cluster.world.rng(name)
        self._routes = Routes(cluster, name)
        self._coordinator: BrokerId = -1
        self._positions: dict[TopicPartition, Offset] = {}
        self._joins = 0  # that led as far as being told where the group stands
        self._joins_wanted = 0
        self.left = False  # the group has no member, and wants none

    async def run(self) -> None:
        """Until clients are to stop; then once more, to see what the group has committed."""
        while not self._cluster.stopping or self._joins < self._joins_wanted:
            if not self._cluster.stopping:
                self._joins_wanted = self._joins + 1
            try:
                await self._begin()
                for _ in range(ROUNDS):
                    if not self._cluster.stopping:
                        await self._work()
                await self._leave()
            except Lost:
                await self._world.sleep(self._rng.randrange(50, 500))
        self.left = True

    async def _answer(self, key: int, request: Message) -> Any:
        return await self._routes.ask(self._coordinator, key, request)

    async def _begin(self) -> None:
        await self._find_coordinator()
        await self._join()
        await self._resume()

    async def _find_coordinator(self) -> None:
        answer = await self._routes.ask_anyone(
            FIND_COORDINATOR, FindCoordinatorRequest(key=self.name)
        )
        if answer is None or answer.error_code:
            raise Lost
        self._coordinator = answer.node_id

    async def _resume(self) -> None:
        items = await self._committed(self._cluster.partitions())
        if any(item.error_code for item in items):
            raise Lost
        for item in items:
            partition = TopicPartition(TOPIC, item.partition_index)
            self._statements.found(self.name, partition, item.committed_offset)
            self._positions[partition] = max(
                item.committed_offset, self._positions.get(partition, 0)
            )
        self._joins += 1

    async def _work(self) -> None:
        """Group offsets need no data behind them to be kept."""
        for partition in self._positions:
            self._positions[partition] += self._rng.randrange(0, 3)
        await self._commit()
        await self._heartbeat()
        await self._world.sleep(self._rng.randrange(50, 400))

    async def _commit(self) -> None:
        committed = dict(self._positions)
        for partition, offset in committed.items():
            self._statements.tries(self.name, partition, offset)
        await self._commit_all(committed)
        for partition, offset in committed.items():
            self._statements.commits(self.name, partition, offset)
