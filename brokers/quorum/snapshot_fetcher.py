"""Fetches the leader's snapshot when this log ends before the leader's log start offset (FetchSnapshot; KIP-630).

The host persists the `fetched_snapshot` and installs it; fetching goes on at its end offset.
"""

from brokers.effects import Effect
from brokers.events import Answered
from brokers.ids import Instant, LeaderEpoch, Peer, Ticket
from brokers.quorum.epoch_states import FollowerState
from brokers.quorum.ids import SnapshotId
from brokers.quorum.messages import FETCH_CHANNEL, PARTITION, TOPIC, ask, only_partition, peers_of
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

SIZE_MAX = 1 << 30  # bytes; the snapshot of ten million partitions is smaller


class SnapshotFetcher:
    def __init__(self, quorum: QuorumState) -> None:
        self._quorum = quorum
        self._wanted: SnapshotId | None = None
        self._leader: Peer | None = None
        self._leader_epoch: LeaderEpoch = -1
        self._data = bytearray()
        self._in_flight: Ticket | None = None
        self._next_at: Instant = 0
        self._not_before: Instant = 0  # after a failed attempt
        self.fetched_snapshot: tuple[SnapshotId, bytes] | None = None

    @property
    def is_busy(self) -> bool:
        """The log will be replaced: fetching more of it is useless."""
        return self.fetched_snapshot is not None or self._is_wanted

    @property
    def _is_wanted(self) -> bool:
        quorum = self._quorum
        return (
            self._wanted is not None
            and self._leader_epoch == quorum.leader_epoch
            and self._leader == quorum.leader
        )

    @property
    def deadline(self) -> Instant | None:
        return self._next_at if self._is_wanted and self._in_flight is None else None

    def begin(self, wanted: SnapshotId, now: Instant) -> list[Effect]:
        """The leader's response to a Fetch named this snapshot."""
        quorum = self._quorum
        self._wanted, self._leader = wanted, quorum.leader
        self._leader_epoch = quorum.leader_epoch
        self._data, self._in_flight = bytearray(), None
        self._next_at = max(now, self._not_before)
        return self.on_time(now)

    def on_time(self, now: Instant) -> list[Effect]:
        if not self._is_wanted or self._in_flight is not None or now < self._next_at:
            return []
        quorum, leader = self._quorum, self._leader
        assert leader is not None
        self._in_flight = quorum.new_ticket()
        timeout_ms = quorum.config.fetch_timeout_ms
        request = self._request()
        return [
            ask(self._in_flight, leader, FETCH_CHANNEL, ApiKey.FETCH_SNAPSHOT, request, timeout_ms)
        ]

    def _request(self) -> FetchSnapshotRequest:
        config, wanted = self._quorum.config, self._wanted
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
        """None if this module did not send the request."""
        if self._in_flight is None or answered.ticket != self._in_flight:
            return None
        self._in_flight = None
        if not self._is_wanted:
            return []
        message = answered.message
        answer = (
            only_partition(message.topics)
            if isinstance(message, FetchSnapshotResponse) and not message.error_code
            else None
        )
        if answer is None:
            self._next_at = now + self._quorum.config.retry_backoff_ms
            return []
        assert isinstance(message, FetchSnapshotResponse)
        for peer in peers_of(message):
            self._quorum.update_endpoint(peer)
        return self._on_partition(answer, now)

    def _on_partition(self, answer: FetchSnapshotResponsePartition, now: Instant) -> list[Effect]:
        quorum, wanted, leader = self._quorum, self._wanted, answer.current_leader
        assert wanted is not None
        data = bytes(answer.unaligned_records or b"")  # type: ignore[arg-type]
        is_next = answer.position == len(self._data) and 0 < answer.size <= SIZE_MAX
        if answer.error_code or not data or not is_next:
            self._wanted = None  # the next Fetch names the leader's snapshot
            self._not_before = now + quorum.config.retry_backoff_ms
            if leader is None:
                return []
            return quorum.maybe_transition(leader.leader_epoch, leader.leader_id, now)
        if isinstance(quorum.state, FollowerState):
            quorum.state.until = now + quorum.config.fetch_timeout_ms
        self._data += data
        if len(self._data) < answer.size:
            self._next_at = now
            return self.on_time(now)
        self.fetched_snapshot, self._wanted = (wanted, bytes(self._data)), None
        self._data = bytearray()
        return []

    def reject(self, now: Instant) -> None:
        """The snapshot is corrupt: fetch all of it again, after a delay that limits the leader's load."""
        self.fetched_snapshot = None
        self._not_before = now + self._quorum.config.fetch_timeout_ms // 2

    def installed(self) -> None:
        """The log was restarted at the snapshot's end offset."""
        self.fetched_snapshot = None
