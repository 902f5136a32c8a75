"""A consumer group of one member: joins, reads on from what was committed, commits, and moves with the clients."""

from typing import Any

from brokers.errors import KafkaError
from brokers.ids import Offset, TopicPartition
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
from tests.sim.clients import Client
from tests.sim.evidence import parse
from tests.sim.federation import TOPIC, Federation
from tests.sim.readers import earliest, fetch_request

FETCH, OFFSET_COMMIT, OFFSET_FETCH, FIND_COORDINATOR = 1, 8, 9, 10
JOIN_GROUP, HEARTBEAT, LEAVE_GROUP, SYNC_GROUP = 11, 12, 13, 14
SESSION_MS = 4_000


class Lost(Exception):
    """The membership is over: the connection went, or the coordinator said so."""


class GroupMember:
    """The only member of group `name`. `Lost` leads back to the beginning."""

    def __init__(self, federation: Federation, name: str) -> None:
        self.name = name
        self._federation = federation
        self._world = federation.world
        self._testimony = federation.testimony
        self._rng = federation.world.rng(name)
        self._client = Client(federation.world, federation.network, name)
        self._node = federation.source
        self._member_id = ""
        self._generation = -1
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

    async def _ask(self, key: int, request: Message) -> Any:
        answer = await self._client.ask(key, request)
        if answer is None:
            raise Lost
        return answer

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
        if answer.error_code == KafkaError.MEMBER_ID_REQUIRED:
            self._member_id = answer.member_id
            raise Lost
        if answer.error_code:
            self._member_id = ""
            raise Lost
        self._member_id, self._generation = answer.member_id, answer.generation_id
        assignments = [
            SyncGroupRequestAssignment(member_id=member.member_id, assignment=b"everything")
            for member in answer.members
        ]
        synced = await self._ask(
            SYNC_GROUP,
            SyncGroupRequest(
                group_id=self.name,
                generation_id=self._generation,
                member_id=self._member_id,
                protocol_type="consumer",
                protocol_name="range",
                assignments=assignments,
            ),
        )
        if synced.error_code:
            raise Lost

    async def _resume(self) -> None:
        """Stand where the group committed; where it never did, at the beginning."""
        wanted = self._federation.partitions()
        indexes = [partition.partition for partition in wanted]
        topic = OffsetFetchRequestTopic(name=TOPIC, partition_indexes=indexes)
        answer = await self._ask(
            OFFSET_FETCH, OffsetFetchRequest(group_id=self.name, topics=[topic])
        )
        if answer.error_code:
            raise Lost
        for item in answer.topics[0].partitions:
            if item.error_code:
                raise Lost
            partition = TopicPartition(TOPIC, item.partition_index)
            self._positions[partition] = max(item.committed_offset, 0)
            self._testimony.found_offset(
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
            self._testimony.tries_commit(self._node.region, self.name, partition, offset)
        items = [
            OffsetCommitRequestPartition(
                partition_index=partition.partition, committed_offset=offset, committed_metadata=""
            )
            for partition, offset in self._positions.items()
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

    async def _heartbeat(self) -> None:
        answer = await self._ask(
            HEARTBEAT,
            HeartbeatRequest(
                group_id=self.name, generation_id=self._generation, member_id=self._member_id
            ),
        )
        if answer.error_code:
            raise Lost

    async def _leave(self) -> None:
        """Gone, or forgotten by the session's timeout."""
        member = MemberIdentity(member_id=self._member_id)
        await self._ask(
            LEAVE_GROUP,
            LeaveGroupRequest(group_id=self.name, members=[member]),
        )
        self._member_id = ""
