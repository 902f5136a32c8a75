"""The leader's answers to Fetch on the metadata log (KIP-595, 630, 853, 1166).

What a member asks for is what it has: its position moves the high watermark. One that is on another history hears where
to cut, one that is before the log's start hears of the snapshot, one that has everything waits for more, or for news of
what is committed.
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
    """A fetch whose position is known to be good. `high_watermark` is the one that the asker knows."""

    request: Request
    key: ReplicaKey
    leader_epoch: LeaderEpoch
    next_offset: Offset
    high_watermark: Offset
    size_max: int
    until: Instant


class FetchRequests:
    """`settle` answers whoever can be answered; it is called after everything that happens."""

    def __init__(self, member: QuorumState, leading: MetadataLeader) -> None:
        self._member = member
        self._leading = leading
        self._waiting: dict[Ticket, _Waiting] = {}
        self._reading: dict[Ticket, _Waiting] = {}  # by the ticket of the read

    @property
    def deadline(self) -> Instant | None:
        return earliest(*(each.until for each in self._waiting.values()))

    def on_request(self, request: Request, now: Instant) -> list[Effect]:
        message, member = request.message, self._member
        assert isinstance(message, FetchRequest)
        if not is_for(message.cluster_id, member.config.cluster_id):
            error = KafkaError.INCONSISTENT_CLUSTER_ID
            return [Reply(request.ticket, FetchResponse(error_code=error))]
        if message.session_epoch > 0:
            error = KafkaError.FETCH_SESSION_ID_NOT_FOUND
            return [Reply(request.ticket, FetchResponse(error_code=error))]
        asked = only_partition(message.topics)
        if asked is None:
            return [Reply(request.ticket, FetchResponse(error_code=KafkaError.INVALID_REQUEST))]
        error = self._why_not(asked.current_leader_epoch)
        if error is not KafkaError.NONE:
            return [self._reply(request, PartitionData(error_code=error))]
        key = ReplicaKey(_replica_id(message), asked.replica_directory_id)
        found = self._place(asked)
        if found is not None:
            if key.id >= 0:
                self._touch(key, now)
            return [self._reply(request, found)]
        return self._admit(request, key, message, asked, now)

    def _why_not(self, leader_epoch: LeaderEpoch) -> KafkaError:
        member = self._member
        if 0 <= leader_epoch < member.leader_epoch:
            return KafkaError.FENCED_LEADER_EPOCH
        if leader_epoch > member.leader_epoch:
            return KafkaError.UNKNOWN_LEADER_EPOCH
        return KafkaError.NONE if member.leading else KafkaError.NOT_LEADER_OR_FOLLOWER

    def _place(self, asked: FetchPartition) -> PartitionData | None:
        """What to tell of a position that is not on this log; None for one that is."""
        member, log = self._member, self._member.log
        assert log is not None
        offset, last_epoch = asked.fetch_offset, asked.last_fetched_epoch
        snapshot = member.snapshot
        start = log.log_start_offset
        if offset == start == 0 or (offset, last_epoch) == snapshot:
            return None
        # What lies at or before the start can't be compared: it may be another history, or behind this one.
        if start > 0 and (offset <= start or last_epoch < log.epochs.epoch_at(start)):
            told = SnapshotId(end_offset=snapshot.end_offset, epoch=snapshot.leader_epoch)
            return PartitionData(snapshot_id=told)
        parts_at = self.parting(log, offset, last_epoch)
        if parts_at is None:
            return None
        epoch, end = parts_at
        return PartitionData(diverging_epoch=EpochEndOffset(epoch=epoch, end_offset=end))

    def parting(self, log: Log, offset: Offset, last_epoch: LeaderEpoch) -> EpochEnd | None:
        """Where a log that ends at `offset`, in `last_epoch`, parts from this one; None if it doesn't."""
        found = log.epochs.end_offset_for(last_epoch, log.log_end_offset)
        if found.leader_epoch < 0:  # an epoch that this leader never heard of
            found = EpochEnd(log.epochs.latest, log.log_end_offset)
        return None if found.leader_epoch == last_epoch and offset <= found.end_offset else found

    def _touch(self, key: ReplicaKey, now: Instant) -> None:
        leading = self._member.leading
        assert leading is not None
        leading.progresses.touched(key, now)

    def _admit(
        self,
        request: Request,
        key: ReplicaKey,
        message: FetchRequest,
        asked: FetchPartition,
        now: Instant,
    ) -> list[Effect]:
        config = self._member.config
        effects: list[Effect] = []
        if key.id >= 0:
            effects = self._answer_before(key)
            self._leading.fetched(key, asked.fetch_offset, now)
        self._waiting[request.ticket] = _Waiting(
            request,
            key,
            self._member.leader_epoch,
            asked.fetch_offset,
            asked.high_watermark,
            max(0, min(asked.partition_max_bytes, message.max_bytes, config.fetch_bytes_max)),
            now + max(0, min(message.max_wait_ms, config.fetch_wait_max_ms)),
        )
        return effects

    def _answer_before(self, key: ReplicaKey) -> list[Effect]:
        """A member that asks anew has given up what it asked before."""
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
        has_news = waiting.high_watermark < self._member.high_watermark
        return self._empty(waiting) if has_news or now >= waiting.until else None

    def _still_leads(self, waiting: _Waiting) -> bool:
        member = self._member
        return member.leading is not None and member.leader_epoch == waiting.leader_epoch

    def _bound(self, waiting: _Waiting) -> Offset:
        """Members copy everything; whoever else reads sees what is committed."""
        assert self._member.log is not None
        is_member = waiting.key.id >= 0
        return self._member.log.log_end_offset if is_member else self._member.high_watermark

    def _read(self, waiting: _Waiting) -> Effect:
        ticket = self._member.new_ticket()
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
        """None for what somebody else has read."""
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
        member, leader = self._member, self._member.leader
        data.partition_index, data.records = PARTITION, records
        data.aborted_transactions = None
        data.high_watermark = data.last_stable_offset = member.high_watermark
        data.log_start_offset = -1 if member.log is None else member.log.log_start_offset
        if data.error_code:
            data.current_leader = LeaderIdAndEpoch(
                leader_id=-1 if leader is None else leader.node_id,
                leader_epoch=member.leader_epoch,
            )
        topic = FetchableTopicResponse(topic=TOPIC, topic_id=METADATA_TOPIC_ID, partitions=[data])
        told = leader if data.error_code else None
        return Reply(
            request.ticket,
            FetchResponse(
                responses=[topic],
                node_endpoints=endpoints(NodeEndpoint, told, request),
            ),
        )


def _replica_id(message: FetchRequest) -> int:
    """KIP-903 moved it."""
    state = message.replica_state
    return message.replica_id if state is None else state.replica_id
