"""A member that is before the start of its leader's log takes its snapshot, piece by piece (FetchSnapshot; KIP-630).

Once all of it has `arrived`, the host makes it durable and installs it in `raft`, and the log goes on behind it.
"""

from brokers.effects import Effect
from brokers.events import Answered
from brokers.ids import Instant, LeaderEpoch, Peer, Ticket
from brokers.quorum.epoch_states import FollowerState
from brokers.quorum.ids import SnapshotId
from brokers.quorum.messages import FETCH_CHANNEL, PARTITION, TOPIC, ask, only_partition, told_peers
from brokers.quorum.quorum_state import QuorumState
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.quorum_snapshots import (
    FetchSnapshotRequest,
    FetchSnapshotRequestPartition,
    FetchSnapshotRequestTopic,
    FetchSnapshotResponse,
    FetchSnapshotResponsePartition,
)
from brokers.wire.messages.quorum_snapshots import SnapshotId as WireSnapshotId

SIZE_MAX = 1 << 30  # of a snapshot: ten million partitions are not that large


class SnapshotFetcher:
    def __init__(self, member: QuorumState) -> None:
        self._member = member
        self._wanted: SnapshotId | None = None
        self._leader: Peer | None = None
        self._leader_epoch: LeaderEpoch = -1
        self._data = bytearray()
        self._asked: Ticket | None = None
        self._next_at: Instant = 0
        self._not_before: Instant = 0  # after an attempt that came to nothing
        self.arrived: tuple[SnapshotId, bytes] | None = None

    @property
    def is_busy(self) -> bool:
        """The log is about to be made anew: there is no point in fetching more of it."""
        return self.arrived is not None or self._is_wanted

    @property
    def _is_wanted(self) -> bool:
        member = self._member
        return (
            self._wanted is not None
            and self._leader_epoch == member.leader_epoch
            and self._leader == member.leader
        )

    @property
    def deadline(self) -> Instant | None:
        return self._next_at if self._is_wanted and self._asked is None else None

    def begin(self, wanted: SnapshotId, now: Instant) -> list[Effect]:
        """The leader has no log at this member's position, but this."""
        member = self._member
        self._wanted, self._leader = wanted, member.leader
        self._leader_epoch = member.leader_epoch
        self._data, self._asked = bytearray(), None
        self._next_at = max(now, self._not_before)
        return self.on_time(now)

    def on_time(self, now: Instant) -> list[Effect]:
        if not self._is_wanted or self._asked is not None or now < self._next_at:
            return []
        member, leader = self._member, self._leader
        assert leader is not None
        self._asked = member.new_ticket()
        timeout_ms = member.config.fetch_timeout_ms
        question = self._question()
        return [
            ask(self._asked, leader, FETCH_CHANNEL, ApiKey.FETCH_SNAPSHOT, question, timeout_ms)
        ]

    def _question(self) -> FetchSnapshotRequest:
        config, wanted = self._member.config, self._wanted
        assert wanted is not None
        partition = FetchSnapshotRequestPartition(
            partition=PARTITION,
            current_leader_epoch=self._leader_epoch,
            snapshot_id=WireSnapshotId(end_offset=wanted.end_offset, epoch=wanted.leader_epoch),
            position=len(self._data),
            replica_directory_id=config.directory,
        )
        return FetchSnapshotRequest(
            cluster_id=config.cluster_id,
            replica_id=config.node_id,
            max_bytes=config.fetch_bytes_max,
            topics=[FetchSnapshotRequestTopic(name=TOPIC, partitions=[partition])],
        )

    def on_answer(self, answered: Answered, now: Instant) -> list[Effect] | None:
        """None for an answer to something else."""
        if self._asked is None or answered.ticket != self._asked:
            return None
        self._asked = None
        if not self._is_wanted:
            return []
        message = answered.message
        answer = (
            only_partition(message.topics)
            if isinstance(message, FetchSnapshotResponse) and not message.error_code
            else None
        )
        if answer is None:
            self._next_at = now + self._member.config.retry_backoff_ms
            return []
        assert isinstance(message, FetchSnapshotResponse)
        for peer in told_peers(message):
            self._member.met(peer)
        return self._take(answer, now)

    def _take(self, answer: FetchSnapshotResponsePartition, now: Instant) -> list[Effect]:
        member, wanted, told = self._member, self._wanted, answer.current_leader
        assert wanted is not None
        data = bytes(answer.unaligned_records or b"")  # type: ignore[arg-type]
        is_next = answer.position == len(self._data) and 0 < answer.size <= SIZE_MAX
        if answer.error_code or not data or not is_next:
            self._wanted = None  # the next fetch will tell what there is
            self._not_before = now + member.config.retry_backoff_ms
            return [] if told is None else member.hear_of(told.leader_epoch, told.leader_id, now)
        if isinstance(member.role, FollowerState):
            member.role.until = now + member.config.fetch_timeout_ms
        self._data += data
        if len(self._data) < answer.size:
            self._next_at = now
            return self.on_time(now)
        self.arrived, self._wanted = (wanted, bytes(self._data)), None
        self._data = bytearray()
        return []

    def refused(self, now: Instant) -> None:
        """What has arrived is damaged. All of it is asked for again, not so soon that the leader does nothing else."""
        self.arrived = None
        self._not_before = now + self._member.config.fetch_timeout_ms // 2

    def installed(self) -> None:
        """The log has been made anew behind the snapshot."""
        self.arrived = None
