"""The leader's answers to Fetch on the metadata log (KIP-595, 630, 853, 1166).

A replica holds everything below its fetch offset, which can advance the high watermark. The response to a replica whose
log diverged has a diverging epoch, to one below the log start offset a snapshot id. A Fetch at the log end offset waits
for records or a new high watermark.
"""

from dataclasses import dataclass

from brokers.effects import Effect, ReadRange, Reply
from brokers.errors import KafkaError
from brokers.events import RangeRead, Request
from brokers.ids import METADATA_PARTITION, Buffer, Instant, LeaderEpoch, Offset, Ticket
from brokers.log.epochs import EpochEnd
from brokers.log.log import Log
from brokers.quorum.ids import METADATA_TOPIC_ID, ReplicaKey
from brokers.quorum.leader import MetadataLeader
from brokers.quorum.messages import PARTITION, TOPIC, endpoints, is_for, only_partition
from brokers.quorum.quorum_state import QuorumState
from brokers.timers import earliest
from brokers.wire.messages.fetch import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    SnapshotId,
)


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A Fetch whose offset and epoch are valid. `high_watermark` is the one that the replica knows."""

    request: Request
    key: ReplicaKey
    leader_epoch: LeaderEpoch
    next_offset: Offset
    high_watermark: Offset
    size_max: int
    until: Instant


class FetchRequests:
    """`settle` answers the requests that can be completed; it is called after every step."""

    def __init__(self, quorum: QuorumState, leader: MetadataLeader) -> None:
        self._quorum = quorum
        self._leader = leader
        self._waiting: dict[Ticket, _Waiting] = {}
        self._reading: dict[Ticket, _Waiting] = {}  # by ticket of the read

    @property
    def deadline(self) -> Instant | None:
        return earliest(*(each.until for each in self._waiting.values()))

    def on_request(self, request: Request, now: Instant) -> list[Effect]:
        message, quorum = request.message, self._quorum
        assert isinstance(message, FetchRequest)
        if not is_for(message.cluster_id, quorum.config.cluster_id):
            error = KafkaError.INCONSISTENT_CLUSTER_ID
            return [Reply(request.ticket, FetchResponse(error_code=error))]
        if message.session_epoch > 0:
            error = KafkaError.FETCH_SESSION_ID_NOT_FOUND
            return [Reply(request.ticket, FetchResponse(error_code=error))]
        partition = only_partition(message.topics)
        if partition is None:
            return [Reply(request.ticket, FetchResponse(error_code=KafkaError.INVALID_REQUEST))]
        error = self._why_not(partition.current_leader_epoch)
        if error is not KafkaError.NONE:
            return [self._reply(request, PartitionData(error_code=error))]
        key = ReplicaKey(_replica_id(message), partition.replica_directory_id)
        found = self._validate_offset(partition)
        if found is not None:
            if key.id >= 0:
                self._update_fetch_time(key, now)
            return [self._reply(request, found)]
        return self._admit(request, key, message, partition, now)

    def _why_not(self, leader_epoch: LeaderEpoch) -> KafkaError:
        quorum = self._quorum
        if 0 <= leader_epoch < quorum.leader_epoch:
            return KafkaError.FENCED_LEADER_EPOCH
        if leader_epoch > quorum.leader_epoch:
            return KafkaError.UNKNOWN_LEADER_EPOCH
        return KafkaError.NONE if quorum.leader_state else KafkaError.NOT_LEADER_OR_FOLLOWER

    def _validate_offset(self, partition: FetchPartition) -> PartitionData | None:
        """The response to a fetch offset that is not on this log; None for one that is."""
        quorum, log = self._quorum, self._quorum.log
        assert log is not None
        offset, last_epoch = partition.fetch_offset, partition.last_fetched_epoch
        snapshot = quorum.snapshot
        start = log.log_start_offset
        if offset == start == 0 or (offset, last_epoch) == snapshot:
            return None
        # Epochs at or before the log start are unknown: such a log may have diverged, or be behind this one.
        if start > 0 and (offset <= start or last_epoch < log.epochs.epoch_at(start)):
            snapshot_id = SnapshotId(end_offset=snapshot.end_offset, epoch=snapshot.leader_epoch)
            return PartitionData(snapshot_id=snapshot_id)
        parts_at = self.diverging_epoch_of(log, offset, last_epoch)
        if parts_at is None:
            return None
        epoch, end = parts_at
        return PartitionData(diverging_epoch=EpochEndOffset(epoch=epoch, end_offset=end))

    def diverging_epoch_of(
        self, log: Log, offset: Offset, last_epoch: LeaderEpoch
    ) -> EpochEnd | None:
        """Where a log that ends at `offset`, in `last_epoch`, diverges from this one; None if it does not."""
        found = log.epochs.end_offset_for(last_epoch, log.log_end_offset)
        if found.leader_epoch < 0:  # the epoch is unknown to this leader
            found = EpochEnd(log.epochs.latest, log.log_end_offset)
        return None if found.leader_epoch == last_epoch and offset <= found.end_offset else found

    def _update_fetch_time(self, key: ReplicaKey, now: Instant) -> None:
        leader_state = self._quorum.leader_state
        assert leader_state is not None
        leader_state.tracker.update_fetch_time(key, now)

    def _admit(
        self,
        request: Request,
        key: ReplicaKey,
        message: FetchRequest,
        partition: FetchPartition,
        now: Instant,
    ) -> list[Effect]:
        config = self._quorum.config
        effects: list[Effect] = []
        if key.id >= 0:
            effects = self._answer_before(key)
            self._leader.fetched(key, partition.fetch_offset, now)
        self._waiting[request.ticket] = _Waiting(
            request,
            key,
            self._quorum.leader_epoch,
            partition.fetch_offset,
            partition.high_watermark,
            max(0, min(partition.partition_max_bytes, message.max_bytes, config.fetch_bytes_max)),
            now + max(0, min(message.max_wait_ms, config.fetch_wait_max_ms)),
        )
        return effects

    def _answer_before(self, key: ReplicaKey) -> list[Effect]:
        """A replica that sends another Fetch no longer waits for the one before it."""
        given_up = [ticket for ticket, each in self._waiting.items() if each.key == key]
        return [self._empty(self._waiting.pop(ticket)) for ticket in given_up]

    # --- waiting ---

    def settle(self, now: Instant) -> list[Effect]:
        effects: list[Effect] = []
        for waiting in list(self._waiting.values()):
            effect = self._try(waiting, now)
            if effect is not None:
                del self._waiting[waiting.request.ticket]
                effects.append(effect)
        return effects

    def _try(self, waiting: _Waiting, now: Instant) -> "Effect | None":
        if not self._still_leads(waiting):
            return self._lost(waiting)
        if waiting.next_offset < self._bound(waiting):
            return self._read(waiting)
        has_news = waiting.high_watermark < self._quorum.high_watermark
        return self._empty(waiting) if has_news or now >= waiting.until else None

    def _still_leads(self, waiting: _Waiting) -> bool:
        quorum = self._quorum
        return quorum.leader_state is not None and quorum.leader_epoch == waiting.leader_epoch

    def _bound(self, waiting: _Waiting) -> Offset:
        """Replicas fetch up to the log end offset, other readers up to the high watermark."""
        assert self._quorum.log is not None
        is_replica = waiting.key.id >= 0
        return self._quorum.log.log_end_offset if is_replica else self._quorum.high_watermark

    def _read(self, waiting: _Waiting) -> Effect:
        ticket = self._quorum.new_ticket()
        self._reading[ticket] = waiting
        return ReadRange(
            ticket,
            METADATA_PARTITION,
            waiting.next_offset,
            self._bound(waiting),
            waiting.size_max,
            at_least_one=True,
        )

    def on_read(self, read: RangeRead, now: Instant) -> list[Effect] | None:
        """None if this module did not start the read."""
        waiting = self._reading.pop(read.ticket, None)
        if waiting is None:
            return None
        if not self._still_leads(waiting):
            return [self._lost(waiting)]
        if read.error:
            data = PartitionData(error_code=KafkaError.KAFKA_STORAGE_ERROR)
            return [self._reply(waiting.request, data)]
        return [self._reply(waiting.request, PartitionData(), read.data)]

    # --- answers ---

    def _empty(self, waiting: _Waiting) -> Reply:
        return self._reply(waiting.request, PartitionData())

    def _lost(self, waiting: _Waiting) -> Reply:
        data = PartitionData(error_code=KafkaError.NOT_LEADER_OR_FOLLOWER)
        return self._reply(waiting.request, data)

    def _reply(self, request: Request, data: PartitionData, records: Buffer = b"") -> Reply:
        quorum, leader = self._quorum, self._quorum.leader
        data.partition_index, data.records = PARTITION, records
        data.aborted_transactions = None
        data.high_watermark = data.last_stable_offset = quorum.high_watermark
        data.log_start_offset = -1 if quorum.log is None else quorum.log.log_start_offset
        # Also with records: who fetches may have known no more than this address (KIP-853).
        data.current_leader = LeaderIdAndEpoch(
            leader_id=-1 if leader is None else leader.node_id, leader_epoch=quorum.leader_epoch
        )
        topic = FetchableTopicResponse(topic=TOPIC, topic_id=METADATA_TOPIC_ID, partitions=[data])
        leader = leader if data.error_code else None
        return Reply(
            request.ticket,
            FetchResponse(
                responses=[topic], node_endpoints=endpoints(NodeEndpoint, leader, request)
            ),
        )


def _replica_id(message: FetchRequest) -> int:
    """KIP-903 moved the field."""
    state = message.replica_state
    return message.replica_id if state is None else state.replica_id
