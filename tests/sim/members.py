"""A consumer group of one member: joins, reads on from what was committed, commits, and moves with the clients."""

from typing import Any

from brokers.errors import KafkaError
from brokers.ids import Offset, TopicPartition
from brokers.wire.message import Message
from brokers.wire.messages.groups import FindCoordinatorRequest
from tests.sim.clients import Client
from tests.sim.evidence import parse
from tests.sim.federation import TOPIC, Federation
from tests.sim.memberships import FIND_COORDINATOR, Lost, Membership
from tests.sim.readers import earliest, fetch_request

FETCH = 1


class GroupMember(Membership):
    """The only member of group `name`. `Lost` leads back to the beginning."""

    def __init__(self, federation: Federation, name: str) -> None:
        super().__init__(name)
        self._federation = federation
        self._world = federation.world
        self._statements = federation.statements
        self._rng = federation.world.rng(name)
        self._client = Client(federation.world, federation.network, name)
        self._node = federation.source
        self._positions: dict[TopicPartition, Offset] = {}
        self.left = False  # the group has no member, and wants none

    async def run(self) -> None:
        """Until clients are to stop."""
        while not self._federation.stopping:
            try:
                await self._begin()
                while self._node is self._federation.home and not self._federation.stopping:
                    await self._work()
                await self._leave()
            except Lost:
                await self._world.sleep(self._rng.randrange(50, 500))
        self.left = True

    async def _answer(self, key: int, request: Message) -> Any:
        return await self._client.ask(key, request)

    async def _begin(self) -> None:
        if self._node is not self._federation.home:
            self._node, self._member_id = self._federation.home, ""
            self._client.close()
        if not self._client.connected and not await self._client.connect(self._node):
            raise Lost
        await self._find_coordinator()
        await self._join()
        await self._resume()

    async def _find_coordinator(self) -> None:
        request = FindCoordinatorRequest(key=self.name)
        answer = await self._ask(FIND_COORDINATOR, request)
        if answer.error_code:
            raise Lost

    async def _resume(self) -> None:
        """Stand where the group committed; where it never did, at the beginning."""
        for item in await self._committed(self._federation.partitions()):
            if item.error_code:
                raise Lost
            partition = TopicPartition(TOPIC, item.partition_index)
            self._positions[partition] = max(item.committed_offset, 0)
            self._statements.found_offset(
                self._node.region, self.name, partition, item.committed_offset
            )

    async def _work(self) -> None:
        answer = await self._ask(FETCH, fetch_request(self._positions, 0, 400, 100))
        for data in answer.responses[0].partitions:
            partition = TopicPartition(TOPIC, data.partition_index)
            if data.error_code == KafkaError.OFFSET_OUT_OF_RANGE:
                start = await earliest(self._client, partition)
                self._positions[partition] = self._positions[partition] if start is None else start
            for batch in parse(bytes(data.records or b"")):
                self._positions[partition] = max(self._positions[partition], batch.next_offset)
        if self._rng.random() < 0.6:
            await self._commit()
        await self._heartbeat()
        await self._world.sleep(self._rng.randrange(20, 300))

    async def _commit(self) -> None:
        for partition, offset in self._positions.items():
            self._statements.tries_commit(self._node.region, self.name, partition, offset)
        await self._commit_all(self._positions)
