"""What the only member of a consumer group asks its coordinator, wherever that is."""

from collections.abc import Iterable, Mapping
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
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    LeaveGroupRequest,
    MemberIdentity,
    SyncGroupRequest,
    SyncGroupRequestAssignment,
)

OFFSET_COMMIT, OFFSET_FETCH, FIND_COORDINATOR = 8, 9, 10
JOIN_GROUP, HEARTBEAT, LEAVE_GROUP, SYNC_GROUP = 11, 12, 13, 14
SESSION_MS = 4_000


class Lost(Exception):
    """The membership is over: the connection went, or the coordinator said so."""


class Membership:
    """Of group `name`. Whatever is refused is `Lost`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._member_id = ""
        self._generation = -1
        self._is_alone = False

    async def _answer(self, key: int, request: Message) -> Any:
        """The coordinator's; None where there is none."""
        raise NotImplementedError

    async def _ask(self, key: int, request: Message) -> Any:
        answer = await self._answer(key, request)
        if answer is None:
            raise Lost
        return answer

    async def _join(self) -> None:
        answer = await self._ask(
            JOIN_GROUP,
            JoinGroupRequest(
                group_id=self.name,
                session_timeout_ms=SESSION_MS,
                rebalance_timeout_ms=SESSION_MS,
                member_id=self._member_id,
                protocol_type="consumer",
                protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
            ),
        )
        if answer.error_code:
            asked_again = answer.error_code == KafkaError.MEMBER_ID_REQUIRED
            self._member_id = answer.member_id if asked_again else ""
            raise Lost
        self._member_id, self._generation = answer.member_id, answer.generation_id
        self._is_alone = len(answer.members) == 1  # nobody is left of its earlier memberships
        synced = await self._ask(
            SYNC_GROUP,
            SyncGroupRequest(
                group_id=self.name,
                generation_id=self._generation,
                member_id=self._member_id,
                protocol_type="consumer",
                protocol_name="range",
                assignments=[
                    SyncGroupRequestAssignment(member_id=member.member_id, assignment=b"everything")
                    for member in answer.members
                ],
            ),
        )
        if synced.error_code:
            raise Lost

    async def _committed(self, partitions: Iterable[TopicPartition]) -> list[Any]:
        """What the group committed: -1 where it never did."""
        wanted = list(partitions)
        indexes = [partition.partition for partition in wanted]
        topic = OffsetFetchRequestTopic(name=wanted[0].topic, partition_indexes=indexes)
        request = OffsetFetchRequest(group_id=self.name, topics=[topic])
        answer = await self._ask(OFFSET_FETCH, request)
        if answer.error_code:
            raise Lost
        return list(answer.topics[0].partitions)

    async def _commit_all(self, offsets: Mapping[TopicPartition, Offset]) -> None:
        items = [
            OffsetCommitRequestPartition(
                partition_index=partition.partition, committed_offset=offset, committed_metadata=""
            )
            for partition, offset in offsets.items()
        ]
        answer = await self._ask(
            OFFSET_COMMIT,
            OffsetCommitRequest(
                group_id=self.name,
                generation_id_or_member_epoch=self._generation,
                member_id=self._member_id,
                topics=[OffsetCommitRequestTopic(name=next(iter(offsets)).topic, partitions=items)],
            ),
        )
        if any(item.error_code for item in answer.topics[0].partitions):
            raise Lost

    async def _heartbeat(self) -> None:
        request = HeartbeatRequest(
            group_id=self.name, generation_id=self._generation, member_id=self._member_id
        )
        if (await self._ask(HEARTBEAT, request)).error_code:
            raise Lost

    async def _leave(self) -> bool:
        """Gone, or forgotten by the session's timeout -> whether it is known that the group has no member now."""
        members = [MemberIdentity(member_id=self._member_id)]
        answer = await self._ask(
            LEAVE_GROUP, LeaveGroupRequest(group_id=self.name, members=members)
        )
        self._member_id = ""
        return self._is_alone and not answer.error_code
