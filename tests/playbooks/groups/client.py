"""A consumer's side of the protocol: what it keeps, what it sends next, what it makes of an answer."""

from dataclasses import dataclass, field

from brokers.errors import KafkaError
from brokers.groups.requests import (
    CommitRequest,
    HeartbeatRequest,
    JoinRequest,
    JoinResult,
    SyncRequest,
    SyncResult,
)
from brokers.ids import OffsetAndMetadata, TopicPartition
from tests.playbooks.groups.consumer import subscription

GROUP = "g"
SESSION_MS = 10_000
REBALANCE_MS = 20_000


@dataclass
class Client:
    """What a consumer keeps. `waiting` is the ticket of its JoinGroup or SyncGroup."""

    name: str
    instance_id: str | None
    version: int
    topics: list[str] = field(default_factory=lambda: ["t"])
    member_id: str = ""
    generation: int = -1
    leads: tuple[str, ...] = ()  # the members it must assign, while it leads
    must_sync: bool = False
    is_settled: bool = False
    assignment: bytes = b""
    waiting: int | None = None

    def next_request(self) -> tuple[str, JoinRequest | SyncRequest | HeartbeatRequest]:
        """What a consumer that does not wait sends now."""
        if self.must_sync:
            return "sync", self.sync_request()
        return (
            ("heartbeat", self.heartbeat_request())
            if self.is_settled
            else ("join", self.join_request())
        )

    def join_request(self) -> JoinRequest:
        self.must_sync = self.is_settled = False
        return JoinRequest(
            group=GROUP,
            member_id=self.member_id,
            instance_id=self.instance_id,
            client_id=self.name,
            client_host="/here",
            protocol_type="consumer",
            protocols=(("range", subscription(self.topics)), ("sticky", b"?")),
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=REBALANCE_MS,
            requires_member_id=self.version >= 4,
            supports_skipping_assignment=self.version >= 9,
        )

    def sync_request(self) -> SyncRequest:
        """A leader gives each member the generation and its name."""
        return SyncRequest(
            group=GROUP,
            generation=self.generation,
            member_id=self.member_id,
            instance_id=self.instance_id,
            protocol_type="consumer",
            protocol="range",
            assignments={name: f"{self.generation}:{name}".encode() for name in self.leads},
        )

    def heartbeat_request(self) -> HeartbeatRequest:
        return HeartbeatRequest(
            group=GROUP,
            generation=self.generation,
            member_id=self.member_id,
            instance_id=self.instance_id,
        )

    def commit_request(self, partition: TopicPartition, offset: int) -> CommitRequest:
        return CommitRequest(
            group=GROUP,
            generation=self.generation,
            member_id=self.member_id,
            instance_id=self.instance_id,
            offsets={partition: OffsetAndMetadata(offset)},
        )

    def hear(self, answer: object) -> None:
        match answer:
            case JoinResult(error=KafkaError.MEMBER_ID_REQUIRED):
                assert answer.member_id
                self.member_id = answer.member_id
            case JoinResult(error=KafkaError.NONE):
                self._on_joined(answer)
            case SyncResult(error=KafkaError.NONE):
                self.assignment, self.must_sync, self.is_settled = answer.assignment, False, True
            case _:
                self._heed(answer.error)

    def _on_joined(self, answer: JoinResult) -> None:
        self.member_id, self.generation = answer.member_id, answer.generation
        self.leads = ()
        if answer.leader == answer.member_id and not answer.skip_assignment:
            self.leads = tuple(member.member_id for member in answer.members)
        self.must_sync = True

    def _heed(self, error: KafkaError) -> None:
        if error:
            self.is_settled = self.must_sync = False
        if error in (KafkaError.UNKNOWN_MEMBER_ID, KafkaError.FENCED_INSTANCE_ID):
            self.member_id, self.generation = "", -1
