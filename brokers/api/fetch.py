"""Fetch (key 1): whole batches from the one that holds the asked offset, up to the bound of the reader's isolation.

Versions 4-18. Sessions are refused by answering session id 0 (KIP-227 allows it): clients stay sessionless.
A request that finds less than its minimum parks until enough has been committed, or its time is up.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from brokers.config.broker_config import BrokerConfig
from brokers.continuations import Continuations
from brokers.effects import Effect, FindRanges, Range, Reply
from brokers.errors import KafkaError, Refusal
from brokers.events import LogAnswer, RangeFound, RangesFound, Request
from brokers.ids import Instant, Offset, TopicPartition
from brokers.partition.hosted_partitions import HostedPartitions, MetadataCache
from brokers.partition.replica import Replica
from brokers.replication.current_leader import HINTED, current_leader
from brokers.replication.fetch_validation import diverging_epoch
from brokers.replication.replica_manager import ReplicaManager
from brokers.timers import Timers
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)

KEY = ApiKey.FETCH
VERSIONS = (4, 18)
TOPIC_IDS_FROM = 13
FOLLOWERS_FROM = 11  # clients that may read from followers (KIP-392)
LEADER_HINTS_FROM = 16  # KIP-951
READ_COMMITTED = 1


@dataclass(slots=True)
class Wanted:
    """One partition to read: what was asked and where the answer goes."""

    replica: Replica
    asked: FetchPartition
    answer: PartitionData


class PendingFetch:
    """One request: finds its partitions' ranges within the byte budget, then replies or parks."""

    __slots__ = (
        "_asked",
        "_complete_now",
        "_api",
        "_key",
        "_message",
        "_missing",
        "_request",
        "_response",
        "_size",
        "_timer",
        "_wanted",
    )

    def __init__(self, api: "FetchHandler", request: Request, message: FetchRequest) -> None:
        self._api = api
        self._request = request
        self._message = message
        self._response = FetchResponse()
        self._wanted: list[Wanted] = []
        self._complete_now = message.max_wait_ms <= 0 or message.min_bytes <= 0
        self._asked: list[Wanted] = []
        self._size = 0
        self._missing = 0
        self._timer: int | None = None
        self._key = request.ticket

    def start(self, now: Instant) -> list[Effect]:
        for topic in self._message.topics:
            name = self._api.topic_name(self._request.api_version, topic)
            answer = FetchableTopicResponse(topic=topic.topic, topic_id=topic.topic_id)
            self._response.responses.append(answer)
            answer.partitions.extend(self._partitions(name, topic, now))
        return self._read(now)

    def _partitions(
        self, name: str | None, topic: FetchTopic, now: Instant
    ) -> Iterator[PartitionData]:
        for asked in topic.partitions:
            answer = PartitionData(
                partition_index=asked.partition, high_watermark=-1, aborted_transactions=None
            )
            replica = None if name is None else self._api.replicas.get(
                TopicPartition(name, asked.partition)
            )  # fmt: skip
            try:
                if name is None:
                    raise Refusal(KafkaError.UNKNOWN_TOPIC_ID)
                replica = replica or self._api.replicas.require(
                    TopicPartition(name, asked.partition)
                )
                wanted = Wanted(replica, asked, answer)
                if self._admit(wanted) and not self._is_closer_elsewhere(wanted, now):
                    self._wanted.append(wanted)
            except Refusal as refusal:
                self._refuse(name, answer, refusal)
            if replica is not None:
                self._fill_bounds(replica, answer)
            yield answer

    def _admit(self, wanted: Wanted) -> bool:
        """Whether to read at all. A position of another leader epoch gets the end of that epoch here (KIP-595)."""
        replica, asked, answer = wanted.replica, wanted.asked, wanted.answer
        replica.require_log()
        replica.require_leader_epoch(asked.current_leader_epoch)
        if self._request.api_version < FOLLOWERS_FROM:
            replica.require_leader()
        replica.require_uncut()
        if replica.is_isolated and asked.fetch_offset >= replica.high_watermark:
            raise Refusal(KafkaError.NOT_LEADER_OR_FOLLOWER, "there may be more at another broker")
        answer.diverging_epoch = diverging_epoch(replica, asked)
        if answer.diverging_epoch is not None:
            self._complete_now = True
        return answer.diverging_epoch is None

    def _refuse(self, name: str | None, answer: PartitionData, refusal: Refusal) -> None:
        answer.error_code = refusal.error
        self._complete_now = True
        if refusal.error in HINTED:
            self._hint(name, answer)

    def _is_closer_elsewhere(self, wanted: Wanted, now: Instant) -> bool:
        """Whether the client is sent to a follower in its rack (KIP-392)."""
        replica, asked, answer = wanted.replica, wanted.asked, wanted.answer
        if replica.leadership is None or not self._message.rack_id:
            return False
        preferred = self._api.replication.preferred_replica(
            replica, self._message.rack_id, asked.fetch_offset, now
        )
        if preferred is None:
            return False
        answer.preferred_read_replica = preferred
        self._complete_now = True
        return True

    def _hint(self, name: str | None, answer: PartitionData) -> None:
        """Who leads, so that the client need not ask for metadata (KIP-951)."""
        found = None
        if name is not None and self._request.api_version >= LEADER_HINTS_FROM:
            found = current_leader(
                self._api.metadata.image,
                self._api.replicas.all,
                TopicPartition(name, answer.partition_index),
            )
        if found is None:
            return
        answer.current_leader = LeaderIdAndEpoch(
            leader_id=found.leader, leader_epoch=found.leader_epoch
        )
        endpoints, broker = self._response.node_endpoints, found.broker
        at = broker and broker.endpoint(self._request.listener_name)
        if broker and at and all(each.node_id != broker.id for each in endpoints):
            endpoints.append(
                NodeEndpoint(node_id=broker.id, host=at.host, port=at.port, rack=broker.rack)
            )

    def _fill_bounds(self, replica: Replica, answer: PartitionData) -> None:
        if self._message.isolation_level == READ_COMMITTED:
            answer.aborted_transactions = []
        if replica.log is not None:
            answer.high_watermark = replica.high_watermark
            answer.last_stable_offset = replica.last_stable_offset
            answer.log_start_offset = replica.log.log_start_offset

    def _bound(self, replica: Replica) -> Offset:
        if self._message.isolation_level == READ_COMMITTED:
            return replica.last_stable_offset
        return replica.high_watermark

    def _read(self, now: Instant) -> list[Effect]:
        """Begin, or begin again: the ranges that an earlier round found are dropped."""
        self._size = 0
        self._asked = [
            wanted
            for wanted in self._wanted
            if wanted.asked.fetch_offset < self._bound(wanted.replica)
        ]
        if not self._asked:
            return self._decide(now)
        ticket = self._api.continuations.on_storage(self._on_found)
        ranges = tuple(self._range(wanted) for wanted in self._asked)
        size_max = min(self._message.max_bytes, self._api.bytes_max)
        return [FindRanges(ticket, ranges, size_max)]

    def _range(self, wanted: Wanted) -> Range:
        replica, asked = wanted.replica, wanted.asked
        return Range(
            replica.partition, asked.fetch_offset, self._bound(replica), asked.partition_max_bytes
        )

    def _on_found(self, event: LogAnswer, now: Instant) -> list[Effect]:
        assert isinstance(event, RangesFound)
        for wanted, found in zip(self._asked, event.found, strict=True):
            self._take(wanted, found)
        return self._decide(now)

    def _take(self, wanted: Wanted, found: RangeFound) -> None:
        data, next_offset, error = found
        answer = wanted.answer
        self._fill_bounds(wanted.replica, answer)
        if error:
            answer.error_code = error
            self._complete_now = True
        elif size := len(data):
            answer.records = data
            self._size += size
            # A partition that filled its own limit can give no more, so there is nothing to wait for.
            if next_offset < self._bound(wanted.replica):
                self._complete_now = True

    def _decide(self, now: Instant) -> list[Effect]:
        if self._complete_now or self._size >= self._message.min_bytes:
            return self._reply()
        self._missing = self._message.min_bytes - self._size
        for wanted in self._wanted:
            wanted.answer.records = None
            wanted.replica.delayed.for_growth(self._key, self._on_growth)
        if self._timer is None:
            due = now + self._message.max_wait_ms
            self._timer = self._api.timers.set(due, self._on_time)
            self._api.continuations.abandoned[self._key] = self._abandon
        return []

    def _on_growth(self, size: int, now: Instant) -> list[Effect]:
        self._missing -= size
        return self._resume(now) if self._missing <= 0 else []

    def _on_time(self, now: Instant) -> list[Effect]:
        self._timer = None
        self._complete_now = True
        return self._resume(now)

    def _resume(self, now: Instant) -> list[Effect]:
        """Read again, where the position is still one of this log: another may have taken its place (KIP-320)."""
        self._leave()
        self._wanted = [wanted for wanted in self._wanted if self._admit_again(wanted)]
        return self._read(now)

    def _admit_again(self, wanted: Wanted) -> bool:
        partition, answer = wanted.replica.partition, wanted.answer
        try:
            if self._api.replicas.get(partition) is not wanted.replica:
                raise Refusal(KafkaError.UNKNOWN_TOPIC_OR_PARTITION)
            return self._admit(wanted)
        except Refusal as refusal:
            self._refuse(partition.topic, answer, refusal)
            return False
        finally:
            self._fill_bounds(wanted.replica, answer)

    def _abandon(self) -> None:
        self._leave()
        self._forget_timer()

    def _forget_timer(self) -> None:
        if self._timer is not None:
            self._api.timers.cancel(self._timer)
            self._timer = None

    def _leave(self) -> None:
        for wanted in self._wanted:
            wanted.replica.delayed.leave(self._key)

    def _reply(self) -> list[Effect]:
        self._forget_timer()
        self._api.continuations.abandoned.pop(self._key, None)
        for topic in self._response.responses:
            for answer in topic.partitions:
                if answer.records is None:
                    answer.records = b""
        return [Reply(self._request.ticket, self._response)]


class FetchHandler:
    """Answers Fetch requests: a consumer's here, a follower's by `ReplicaManager`."""

    def __init__(
        self,
        config: BrokerConfig,
        metadata: MetadataCache,
        replicas: HostedPartitions,
        replication: ReplicaManager,
        continuations: Continuations,
        timers: Timers,
    ) -> None:
        self.bytes_max = config.fetch_max_bytes
        self.metadata = metadata
        self.replicas = replicas
        self.replication = replication
        self.continuations = continuations
        self.timers = timers

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, FetchRequest)
        if message.replica_state is not None and message.replica_state.replica_id >= 0:
            return self.replication.on_fetch(request, now)
        if message.session_epoch > 0:
            refused = FetchResponse(error_code=KafkaError.FETCH_SESSION_ID_NOT_FOUND)
            return [Reply(request.ticket, refused)]
        return PendingFetch(self, request, message).start(now)

    def topic_name(self, version: int, topic: FetchTopic) -> str | None:
        """None for a topic id that is not known."""
        if version < TOPIC_IDS_FROM:
            return topic.topic
        known = self.metadata.image.topics_by_id.get(topic.topic_id)
        return None if known is None else known.name
