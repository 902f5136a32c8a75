"""One member at a time, asked what others would ask."""

import random
from typing import Any
from uuid import UUID

from brokers.effects import Append, Ask, Reply, SaveState
from brokers.events import Answered, AskFailure, Request
from brokers.ids import METADATA_PARTITION, Peer
from brokers.log.epochs import EpochHistory
from brokers.log.log import Log
from brokers.log.segments import Segment
from brokers.quorum.config import QuorumConfig
from brokers.quorum.election_state import STATE_NAME, ElectionState
from brokers.quorum.ids import METADATA_TOPIC_ID, SnapshotId
from brokers.quorum.messages import only_partition
from brokers.quorum.raft_client import RaftClient
from brokers.quorum.voters import QuorumEndpoint, Voter, VoterSet, VoterSetHistory
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ReplicaState,
)
from brokers.wire.messages.quorum import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochRequestPartition,
    BeginQuorumEpochRequestTopic,
    VoteRequest,
    VoteRequestPartition,
    VoteRequestTopic,
    VoteResponse,
    VoteResponsePartition,
    VoteResponseTopic,
)

NOW = 1_700_000_000_000
TOPIC = METADATA_PARTITION.topic


def directory(node_id: int) -> UUID:
    return UUID(int=node_id + 100)


def voter_set(*ids: int) -> VoterSet:
    return VoterSet(
        Voter(each, endpoints=(QuorumEndpoint("CONTROLLER", f"host-{each}", 9093),)) for each in ids
    )


def log(*epochs: tuple[int, int], end: int = 0, start: int = 0) -> Log:
    return Log(
        METADATA_PARTITION,
        METADATA_TOPIC_ID.bytes,
        segments=[Segment(start, size=1)],
        log_start_offset=start,
        log_end_offset=end,
        epochs=EpochHistory(epochs),
    )


class Member:
    """Member 1 of so many voters, or an observer of them, with a disk that does everything at once when told to."""

    def __init__(
        self,
        voters: int = 3,
        *,
        node_id: int = 1,
        of: Log | None = None,
        state: ElectionState | None = None,
        snapshot: SnapshotId | None = None,
        may_vote: bool = True,
        bootstrap: tuple[Peer, ...] = (),
    ) -> None:
        config = QuorumConfig(
            node_id=node_id,
            cluster_id="region-one",
            voters=voter_set(*range(1, voters + 1)),
            directory=directory(node_id),
            may_vote=may_vote,
            bootstrap=bootstrap,
        )
        self.now = NOW
        self.effects: list[Any] = []
        self._saved = 0
        self.log = of or log()
        self.raft = RaftClient(
            config,
            random.Random(1),
            log=self.log,
            election_state=state or ElectionState(),
            voters=VoterSetHistory(config.voters),
            snapshot=snapshot or SnapshotId(0, 0),
        )
        self._tickets = 0
        self.take(self.raft.start(self.now))

    # --- what it does ---

    def take(self, effects: list[Any]) -> list[Any]:
        self.effects += effects
        return effects

    def save(self) -> list[Any]:
        """The quorum state that it asked to save is durable."""
        self._saved += 1
        return self.take(self.raft.on_saved(self.now))

    def save_all(self) -> None:
        """Every quorum state that it ever asked to save."""
        while self._saved < sum(
            isinstance(each, SaveState) and each.name == STATE_NAME for each in self.effects
        ):
            self.save()

    def sync(self) -> list[Any]:
        """Everything that it appended is on the disk."""
        assert self.raft.log is not None
        return self.take(self.raft.on_written(self.raft.log.log_end_offset, self.now))

    def wait(self, ms: int) -> list[Any]:
        self.now += ms
        return self.take(self.raft.on_time(self.now))

    def wait_until_due(self) -> list[Any]:
        assert self.raft.deadline is not None
        return self.wait(max(0, self.raft.deadline - self.now))

    # --- what it asks ---

    def asked(self, key: int, since: list[Any] | None = None) -> list[Ask]:
        found = self.effects if since is None else since
        return [each for each in found if isinstance(each, Ask) and each.api_key == key]

    def answer(
        self, ask: Ask, message: object | None, failure: AskFailure = AskFailure.NONE
    ) -> list[Any]:
        return self.take(self.raft.on_answer(Answered(ask.ticket, message, failure), self.now))

    def vote(
        self, ask: Ask, *, granted: bool, leader_epoch: int = 0, leader_id: int = -1
    ) -> list[Any]:
        partition = VoteResponsePartition(
            leader_epoch=leader_epoch, leader_id=leader_id, vote_granted=granted
        )
        topics = [VoteResponseTopic(topic_name=TOPIC, partitions=[partition])]
        return self.answer(ask, VoteResponse(topics=topics))

    def elect(self) -> "Member":
        """Through both rounds, with the votes of all."""
        self.wait_until_due()
        for ask in self.asked(ApiKey.VOTE):
            self.vote(ask, granted=True)
        epoch = self.raft.leader_epoch
        before = len(self.effects)
        self.save()
        for ask in self.asked(ApiKey.VOTE, self.effects[before:]):
            self.vote(ask, granted=True, leader_epoch=epoch)
        assert self.raft.leading_epoch == epoch
        return self

    # --- what it is asked ---

    @property
    def next_ticket(self) -> int:
        """Of what it is asked next."""
        return self._tickets + 1

    def request(self, key: int, message: object, version: int = 0) -> list[Any]:
        self._tickets += 1
        request = Request(self._tickets, key, version, None, "h", message)
        return self.take(self.raft.on_request(request, self.now))

    def ask_for_vote(
        self,
        leader_epoch: int,
        *,
        candidate: int = 2,
        last: tuple[int, int] = (0, 0),
        pre_vote: bool = False,
        **more: Any,
    ) -> list[Any]:
        partition = VoteRequestPartition(
            replica_epoch=leader_epoch,
            replica_id=candidate,
            replica_directory_id=directory(candidate),
            last_offset_epoch=last[0],
            last_offset=last[1],
            pre_vote=pre_vote,
        )
        topics = [VoteRequestTopic(topic_name=TOPIC, partitions=[partition])]
        message = VoteRequest(cluster_id="region-one", voter_id=1, topics=topics)
        for name, value in more.items():
            setattr(message, name, value)
        return self.request(ApiKey.VOTE, message, 2)

    def hear_begin(self, leader_epoch: int, leader: int = 2) -> list[Any]:
        partition = BeginQuorumEpochRequestPartition(leader_id=leader, leader_epoch=leader_epoch)
        topics = [BeginQuorumEpochRequestTopic(topic_name=TOPIC, partitions=[partition])]
        message = BeginQuorumEpochRequest(cluster_id="region-one", voter_id=1, topics=topics)
        return self.request(ApiKey.BEGIN_QUORUM_EPOCH, message, 1)

    def fetch(
        self,
        offset: int,
        last_epoch: int,
        *,
        replica: int = 2,
        leader_epoch: int | None = None,
        high_watermark: int = 0,
        wait_ms: int = 500,
    ) -> list[Any]:
        epoch = self.raft.leader_epoch if leader_epoch is None else leader_epoch
        partition = FetchPartition(
            current_leader_epoch=epoch,
            fetch_offset=offset,
            last_fetched_epoch=last_epoch,
            partition_max_bytes=1 << 20,
            replica_directory_id=directory(replica),
            high_watermark=high_watermark,
        )
        message = FetchRequest(
            cluster_id="region-one",
            replica_state=ReplicaState(replica_id=replica),
            max_wait_ms=wait_ms,
            topics=[FetchTopic(topic_id=METADATA_TOPIC_ID, partitions=[partition])],
        )
        return self.request(ApiKey.FETCH, message, 18)


def replied(effects: list[Any]) -> Any:
    """The one partition of the one reply."""
    (reply,) = [each for each in effects if isinstance(each, Reply)]
    message = reply.message
    topics = message.responses if isinstance(message, FetchResponse) else message.topics
    return only_partition(topics)


def saved(effects: list[Any]) -> ElectionState | None:
    """The state that is to be saved, if any."""
    found = [each for each in effects if isinstance(each, SaveState)]
    assert len(found) <= 1
    return ElectionState.decode(found[0].data) if found else None


def appended(effects: list[Any]) -> list[Append]:
    return [each for each in effects if isinstance(each, Append)]
