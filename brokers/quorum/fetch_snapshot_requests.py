"""The leader's answers to FetchSnapshot: ranges of bytes of its newest snapshot (KIP-630).

The file is read once and kept for `KEPT_MS` after the last request for it. A newer snapshot removes the file from the
disk; a replica that has fetched half of it can still fetch the rest.
"""

from dataclasses import dataclass

from brokers.effects import Effect, LoadState, Reply
from brokers.errors import KafkaError
from brokers.events import Request, StateLoaded
from brokers.ids import Buffer, Instant
from brokers.quorum.ids import ReplicaKey, SnapshotId
from brokers.quorum.messages import PARTITION, TOPIC, endpoints, is_for, only_partition
from brokers.quorum.quorum_state import QuorumState
from brokers.wire.messages.quorum_snapshots import (
    FetchSnapshotRequest,
    FetchSnapshotRequestPartition,
    FetchSnapshotResponse,
    FetchSnapshotResponsePartition,
    FetchSnapshotResponseTopic,
    LeaderIdAndEpoch,
    NodeEndpoint,
)
from brokers.wire.messages.quorum_snapshots import SnapshotId as WireSnapshotId

KEPT_MS = 30_000


@dataclass(slots=True)
class _Kept:
    id: SnapshotId
    data: Buffer
    until: Instant


class FetchSnapshotRequests:
    def __init__(self, quorum: QuorumState) -> None:
        self._quorum = quorum
        self._kept: _Kept | None = None
        self._waiting: dict[SnapshotId, list[Request]] = {}  # until the file has been read

    @property
    def deadline(self) -> Instant | None:
        return None if self._kept is None else self._kept.until

    def on_time(self, now: Instant) -> list[Effect]:
        if self._kept is not None and now >= self._kept.until:
            self._kept = None
        return []

    def on_request(self, request: Request, now: Instant) -> list[Effect]:
        message, quorum = request.message, self._quorum
        assert isinstance(message, FetchSnapshotRequest)
        if not is_for(message.cluster_id, quorum.config.cluster_id):
            error = KafkaError.INCONSISTENT_CLUSTER_ID
            return [Reply(request.ticket, FetchSnapshotResponse(error_code=error))]
        partition = only_partition(message.topics)
        if partition is None:
            error = KafkaError.INVALID_REQUEST
            return [Reply(request.ticket, FetchSnapshotResponse(error_code=error))]
        error = self._why_not(partition)
        if error is not KafkaError.NONE:
            return [self._refuse(request, partition, error)]
        assert quorum.leader_state is not None
        if message.replica_id >= 0:
            key = ReplicaKey(message.replica_id, partition.replica_directory_id)
            quorum.leader_state.tracker.update_fetch_time(key, now)
        wanted = _wanted(partition)
        if self._kept is not None and self._kept.id == wanted:
            return [self._part(request, partition, self._kept, message.max_bytes, now)]
        return self._load(request, partition, wanted)

    def _load(
        self, request: Request, partition: FetchSnapshotRequestPartition, wanted: SnapshotId
    ) -> list[Effect]:
        if wanted != self._quorum.snapshot or wanted.end_offset == 0:
            return [self._refuse(request, partition, KafkaError.SNAPSHOT_NOT_FOUND)]
        waiting = self._waiting.setdefault(wanted, [])
        waiting.append(request)
        return [LoadState(wanted.file_name)] if len(waiting) == 1 else []

    def on_loaded(self, event: StateLoaded, now: Instant) -> list[Effect]:
        """Answer the requests that waited for the file."""
        found = next((each for each in self._waiting if each.file_name == event.name), None)
        if found is None:
            return []
        requests = self._waiting.pop(found)
        if event.data is not None:
            self._kept = _Kept(found, event.data, now + KEPT_MS)
        elif self._quorum.snapshot == found:
            return [
                self._refuse(each, only_partition(_topics(each)), KafkaError.SNAPSHOT_NOT_FOUND)
                for each in requests
            ]
        return [effect for each in requests for effect in self.on_request(each, now)]

    def _why_not(self, partition: FetchSnapshotRequestPartition) -> KafkaError:
        quorum = self._quorum
        if partition.current_leader_epoch < quorum.leader_epoch:
            return KafkaError.FENCED_LEADER_EPOCH
        if partition.current_leader_epoch > quorum.leader_epoch:
            return KafkaError.UNKNOWN_LEADER_EPOCH
        return KafkaError.NONE if quorum.leader_state else KafkaError.NOT_LEADER_OR_FOLLOWER

    def _part(
        self,
        request: Request,
        partition: FetchSnapshotRequestPartition,
        kept: _Kept,
        size_max: int,
        now: Instant,
    ) -> Reply:
        if not 0 <= partition.position < len(kept.data):
            return self._refuse(request, partition, KafkaError.POSITION_OUT_OF_RANGE)
        kept.until = now + KEPT_MS
        size = max(1, min(size_max, self._quorum.config.fetch_bytes_max))
        answer = FetchSnapshotResponsePartition(
            index=PARTITION,
            snapshot_id=partition.snapshot_id,
            size=len(kept.data),
            position=partition.position,
            unaligned_records=memoryview(kept.data)[partition.position : partition.position + size],
        )
        return self._reply(request, answer)

    def _refuse(
        self, request: Request, partition: FetchSnapshotRequestPartition | None, error: KafkaError
    ) -> Reply:
        leader = self._quorum.leader
        answer = FetchSnapshotResponsePartition(
            index=PARTITION,
            error_code=error,
            snapshot_id=WireSnapshotId() if partition is None else partition.snapshot_id,
            current_leader=LeaderIdAndEpoch(
                leader_id=-1 if leader is None else leader.node_id,
                leader_epoch=self._quorum.leader_epoch,
            ),
            unaligned_records=b"",
        )
        return self._reply(request, answer)

    def _reply(self, request: Request, answer: FetchSnapshotResponsePartition) -> Reply:
        topic = FetchSnapshotResponseTopic(name=TOPIC, partitions=[answer])
        leader = self._quorum.leader if answer.error_code else None
        nodes = endpoints(NodeEndpoint, leader, request)
        return Reply(request.ticket, FetchSnapshotResponse(topics=[topic], node_endpoints=nodes))


def _wanted(partition: FetchSnapshotRequestPartition) -> SnapshotId:
    return SnapshotId(partition.snapshot_id.end_offset, partition.snapshot_id.epoch)


def _topics(request: Request) -> list[object]:
    assert isinstance(request.message, FetchSnapshotRequest)
    return [*request.message.topics]
