"""A consumer group of one member in a region: finds its coordinator wherever it moves, reads on, commits forwards.

Its commits are acknowledged by all in-sync replicas of `__consumer_offsets`, so who joins later must be told of them.
"""

from typing import Any

from brokers.errors import KafkaError
from brokers.ids import BrokerId, Offset, TopicPartition
from brokers.wire.message import Message
from brokers.wire.messages.group_offsets import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
)
from brokers.wire.messages.groups import (
    FindCoordinatorRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    LeaveGroupRequest,
    MemberIdentity,
    SyncGroupRequest,
    SyncGroupRequestAssignment,
)
from tests.sim.members import (
    FIND_COORDINATOR,
    HEARTBEAT,
    JOIN_GROUP,
    LEAVE_GROUP,
    OFFSET_COMMIT,
    OFFSET_FETCH,
    SESSION_MS,
    SYNC_GROUP,
    Lost,
)
from tests.sim.regions.cluster import TOPIC, Cluster
from tests.sim.regions.routes import Routes

ROUNDS = 20  # between one join and the next: the member leaves and comes back


class GroupMember:
    """The only member of group `name`. `Lost` leads back to the beginning."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self.name = name
        self._cluster = cluster
        self._world = cluster.world
        self._testimony = cluster.testimony
        self._rng = cluster.world.rng(name)
        self._routes = Routes(cluster, name)
        self._coordinator: BrokerId = -1
        self._member_id = ""
        self._generation = -1
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

    async def _ask(self, key: int, request: Message) -> Any:
        answer = await self._routes.ask(self._coordinator, key, request)
        if answer is None:
            raise Lost
        return answer

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

    async def _join(self) -> None:
        protocol = JoinGroupRequestProtocol(name="range", metadata=b"")
        answer = await self._ask(
            JOIN_GROUP,
            JoinGroupRequest(
                group_id=self.name,
                session_timeout_ms=SESSION_MS,
                rebalance_timeout_ms=SESSION_MS,
                member_id=self._member_id,
                protocol_type="consumer",
                protocols=[protocol],
            ),
        )
        if answer.error_code:
            asked_again = answer.error_code == KafkaError.MEMBER_ID_REQUIRED
            self._member_id = answer.member_id if asked_again else ""
            raise Lost
        self._member_id, self._generation = answer.member_id, answer.generation_id
        synced = await self._ask(
            SYNC_GROUP,
            SyncGroupRequest(
                group_id=self.name,
                generation_id=self._generation,
                member_id=self._member_id,
                protocol_type="consumer",
                protocol_name="range",
                assignments=[
                    SyncGroupRequestAssignment(member_id=member.member_id, assignment=b"all")
                    for member in answer.members
                ],
            ),
        )
        if synced.error_code:
            raise Lost

    async def _resume(self) -> None:
        partitions = self._cluster.partitions()
        indexes = [partition.partition for partition in partitions]
        topic = OffsetFetchRequestTopic(name=TOPIC, partition_indexes=indexes)
        answer = await self._ask(
            OFFSET_FETCH, OffsetFetchRequest(group_id=self.name, topics=[topic])
        )
        if answer.error_code or any(item.error_code for item in answer.topics[0].partitions):
            raise Lost
        for item in answer.topics[0].partitions:
            partition = TopicPartition(TOPIC, item.partition_index)
            self._testimony.found(self.name, partition, item.committed_offset)
            self._positions[partition] = max(
                item.committed_offset, self._positions.get(partition, 0)
            )
        self._joins += 1

    async def _work(self) -> None:
        """Group offsets need no data behind them to be kept."""
        for partition in self._positions:
            self._positions[partition] += self._rng.randrange(0, 3)
        await self._commit()
        answer = await self._ask(
            HEARTBEAT,
            HeartbeatRequest(
                group_id=self.name, generation_id=self._generation, member_id=self._member_id
            ),
        )
        if answer.error_code:
            raise Lost
        await self._world.sleep(self._rng.randrange(50, 400))

    async def _commit(self) -> None:
        committed = dict(self._positions)
        items = [
            OffsetCommitRequestPartition(
                partition_index=partition.partition, committed_offset=offset, committed_metadata=""
            )
            for partition, offset in committed.items()
        ]
        answer = await self._ask(
            OFFSET_COMMIT,
            OffsetCommitRequest(
                group_id=self.name,
                generation_id_or_member_epoch=self._generation,
                member_id=self._member_id,
                topics=[OffsetCommitRequestTopic(name=TOPIC, partitions=items)],
            ),
        )
        if any(item.error_code for item in answer.topics[0].partitions):
            raise Lost
        for partition, offset in committed.items():
            self._testimony.commits(self.name, partition, offset)

    async def _leave(self) -> None:
        """Gone, or forgotten by the session's timeout."""
        member = MemberIdentity(member_id=self._member_id)
        await self._ask(LEAVE_GROUP, LeaveGroupRequest(group_id=self.name, members=[member]))
        self._member_id = ""
