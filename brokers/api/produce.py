"""Produce (key 0): batches from a producer, each appended whole or refused whole.

Versions 3-13 work; 0 is advertised because librdkafka looks it up before it compresses (KAFKA-18659) and is refused
by closing the connection, as Kafka does. Version 13 names topics by id. Transactions are not supported: a
transactional id is refused for every partition.
"""

from collections.abc import Iterator
from functools import partial
from uuid import UUID

from brokers.config.broker_config import BrokerConfig
from brokers.effects import Effect, Hangup, Reply
from brokers.errors import KafkaError, Refusal
from brokers.events import Request
from brokers.ids import INTERNAL_TOPICS, Buffer, Instant, Ticket, TopicPartition
from brokers.membership.controlled_shutdown import ControlledShutdown
from brokers.membership.log_dirs import OwnDirectories
from brokers.metadata.commands.mirror_commands import read_only_because, superseder_of
from brokers.partition import leader
from brokers.partition.held_writes import HeldWrites
from brokers.partition.hosted_partitions import HostedPartitions, MetadataCache
from brokers.partition.replica import ALL_REPLICAS, Replica
from brokers.purgatory import Purgatory
from brokers.records.recompression import Recompressed
from brokers.replication.current_leader import HINTED, CurrentLeader, current_leader
from brokers.replication.next_leader import NextLeaders
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.produce import (
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)

KEY = ApiKey.PRODUCE
VERSIONS = (0, 13)
TOPIC_IDS_FROM = 13
LEADER_HINTS_FROM = 10  # KIP-951
ADMIN_CLIENT = (
    "__admin_client"  # Kafka's own name for the one client that may write internal topics
)


class PendingProduce:
    """One request whose batches wait for the acknowledgements of its acks; the last one releases the reply."""

    __slots__ = ("_acks", "_open", "_ticket", "response", "waits_for_others")

    def __init__(self, ticket: Ticket, acks: int) -> None:
        self._ticket = ticket
        self._acks = acks
        self._open: dict[int, PartitionProduceResponse] = {}  # what still waits, by `id`
        self.waits_for_others = False  # for other replicas' acknowledgements
        self.response = ProduceResponse()

    @property
    def is_done(self) -> bool:
        return not self._open

    def appended(
        self, replica: Replica, item: PartitionProduceResponse, done: leader.Appended
    ) -> None:
        item.base_offset, next_offset = done.base_offset, done.next_offset
        item.log_append_time_ms, item.log_start_offset = done.append_time, done.log_start_offset
        if replica.is_acknowledged(next_offset, self._acks):
            return
        self._open[id(item)] = item
        if replica.leadership is not None and self._acks == ALL_REPLICAS:
            self.waits_for_others = True

        def placed(error: KafkaError, now: Instant) -> list[Effect]:
            if self._open.pop(id(item), None) is None:
                return []  # its time was up
            if error:
                error = _undecided(error) if done.is_idempotent else error
                _refuse(item, Refusal(error, replica.offline))
            elif self._acks == ALL_REPLICAS and not replica.has_enough_in_sync:
                _refuse(item, Refusal(KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND))
            return self.answer()

        replica.acknowledge(next_offset, self._acks, placed)

    def answer(self) -> list[Effect]:
        """The reply, unless something is still to come, or none is wanted."""
        if self._open or self._acks == 0:
            return []
        return [Reply(self._ticket, self.response)]

    def expire(self, now: Instant) -> list[Effect]:
        """The client's time is up: what was appended may still be committed."""
        for item in self._open.values():
            _refuse(item, Refusal(KafkaError.REQUEST_TIMED_OUT))
        self._open.clear()
        return self.answer()


class ProduceHandler:
    """Answers Produce requests."""

    def __init__(
        self,
        config: BrokerConfig,
        metadata: MetadataCache,
        replicas: HostedPartitions,
        purgatory: Purgatory,
        shutdown: ControlledShutdown,
        log_dirs: OwnDirectories,
        held: HeldWrites,
    ) -> None:
        self._config = config
        self._metadata = metadata
        self._replicas = replicas
        self._purgatory = purgatory
        self._shutdown = shutdown
        self._log_dirs = log_dirs
        self._held = held

    def handle(self, request: Request, now: Instant, *, may_wait: bool = True) -> list[Effect]:
        """`may_wait`: for topics that are held; otherwise they are refused."""
        message, version = request.message, request.api_version
        recompressed = request.recompressed
        assert isinstance(message, ProduceRequest)
        if self._shutdown.is_closed or self._is_early(message):
            return self._shutdown.hold(request.ticket, partial(self.handle, request))
        if self._held.topics and may_wait and (held := self._held_topics(message)):
            return self._wait(request, message, held, now)
        pending = PendingProduce(request.ticket, message.acks)
        effects: list[Effect] = []
        for topic in message.topic_data:
            answer = TopicProduceResponse(name=topic.name, topic_id=topic.topic_id)
            pending.response.responses.append(answer)
            for data in topic.partition_data:
                item = PartitionProduceResponse(index=data.index, base_offset=-1)
                answer.partition_responses.append(item)
                try:
                    if not may_wait:
                        self._require_free(topic)
                    replica = self._admit(request, message, topic, data.index)
                    ready = None if recompressed is None else recompressed.get(id(data))
                    done = self._append(replica, data.records, version, now, ready)
                    pending.appended(replica, item, done)
                    effects += done.effects
                    if version >= LEADER_HINTS_FROM and self._shutdown.leaving:
                        _hint(
                            item,
                            pending.response,
                            self._next_leaders().successor(replica.partition),
                            request.listener_name,
                        )
                except Refusal as refusal:
                    _refuse(item, refusal)
                    if version >= LEADER_HINTS_FROM and refusal.error in HINTED:
                        partition = TopicPartition(self._name_of(topic), data.index)
                        _hint(
                            item,
                            pending.response,
                            current_leader(self._metadata.image, self._replicas.all, partition),
                            request.listener_name,
                        )
        if message.acks == 0:
            return effects + _after_unacknowledged(request.ticket, pending.response)
        if pending.waits_for_others:
            self._purgatory.put(pending, message.timeout_ms, now)
        effects += pending.answer()
        return effects

    def _held_topics(self, message: ProduceRequest) -> frozenset[UUID]:
        names = (self._name_of(one) for one in message.topic_data if self._is_held(one))
        return frozenset(self._metadata.image.topics_by_name[name].id for name in names)

    def _wait(
        self, request: Request, message: ProduceRequest, topics: frozenset[UUID], now: Instant
    ) -> list[Effect]:
        return self._held.put(
            request.ticket,
            topics,
            message.timeout_ms,
            appends=partial(self.handle, request),
            refuses=partial(self.handle, request, may_wait=False),
            now=now,
        )

    def _is_early(self, message: ProduceRequest) -> bool:
        """Whether this node will lead any of the partitions in a moment."""
        if not self._shutdown.leaving:
            return False
        return self._next_leaders().is_early(self._partitions(message))

    def _partitions(self, message: ProduceRequest) -> Iterator[TopicPartition]:
        for topic in message.topic_data:
            name = self._name_of(topic)
            for data in topic.partition_data:
                yield TopicPartition(name, data.index)

    def _name_of(self, topic: TopicProduceData) -> str:
        """Empty for an id that is not known."""
        if topic.name:
            return topic.name
        known = self._metadata.image.topics_by_id.get(topic.topic_id)
        return "" if known is None else known.name

    def _admit(
        self, request: Request, message: ProduceRequest, topic: TopicProduceData, index: int
    ) -> Replica:
        if message.acks not in (-1, 0, 1):
            raise Refusal(KafkaError.INVALID_REQUIRED_ACKS)
        if message.transactional_id is not None:
            raise Refusal(
                KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, "transactions are not supported"
            )
        name = topic.name
        if request.api_version >= TOPIC_IDS_FROM:
            known = self._metadata.image.topics_by_id.get(topic.topic_id)
            if known is None:
                raise Refusal(KafkaError.UNKNOWN_TOPIC_ID)
            name = known.name
        if name in INTERNAL_TOPICS and request.client_id != ADMIN_CLIENT:
            raise Refusal(
                KafkaError.INVALID_TOPIC_EXCEPTION, f"{name} is written by the brokers only"
            )
        partition = TopicPartition(name, index)
        replica = self._replicas.get(partition) or self._replicas.require(partition)
        replica.require_leader()
        if replica.leadership is not None and message.acks == ALL_REPLICAS:
            replica.leadership.require_in_sync()
        return replica

    def _require_free(self, topic: TopicProduceData) -> None:
        """Raises Refusal for a topic that is held: NOT_ENOUGH_REPLICAS, as `_append_near_watermark` has it."""
        if self._is_held(topic):
            raise Refusal(KafkaError.NOT_ENOUGH_REPLICAS, self._held.because)

    def _is_held(self, topic: TopicProduceData) -> bool:
        """Whether producers write it here, and may not yet."""
        known = self._metadata.image.topics_by_name.get(self._name_of(topic))
        return known is not None and known.writer is None and known.id in self._held.topics

    def _append(
        self,
        replica: Replica,
        data: Buffer | None,
        version: int,
        now: Instant,
        ready: Recompressed | None,
    ) -> leader.Appended:
        if replica.writer is not None:
            return _append_to_mirror(replica, replica.writer, data)
        if self._log_dirs.near:
            return self._append_near_watermark(replica, data, version, now, ready)
        return leader.append(replica, data, version, now, ready)

    def _append_near_watermark(
        self,
        replica: Replica,
        data: Buffer | None,
        version: int,
        now: Instant,
        ready: Recompressed | None,
    ) -> leader.Appended:
        """Nothing is taken below the watermark, but who sends again what is here is answered (P10).

        Of the errors that clients retry until their own time is up, NOT_ENOUGH_REPLICAS says that nothing was stored
        and that the leader is the right one. KAFKA_STORAGE_ERROR, of an offline disk, has clients look for another.
        """
        if because := self._log_dirs.shortage(replica.partition):
            done = leader.repeated(replica, data)
            if done is None:
                raise Refusal(KafkaError.NOT_ENOUGH_REPLICAS, because)
            return done
        done = leader.append(replica, data, version, now, ready)
        self._log_dirs.took(replica.partition, 0 if data is None else len(data))
        return done

    def _next_leaders(self) -> NextLeaders:
        return NextLeaders(self._config, self._metadata.image, self._shutdown.leaving)


def _append_to_mirror(replica: Replica, writer: str, data: Buffer | None) -> leader.Appended:
    """A topic that a link writes takes nothing, but answers who sends again what it has (P10): it may have become a
    mirror in between. A topic that another region has taken over does not: that region may not have the batch."""
    done = leader.repeated(replica, data) if superseder_of(writer) is None else None
    if done is None:
        because = read_only_because(replica.partition.topic, writer)
        raise Refusal(KafkaError.POLICY_VIOLATION, because)
    return done


def _undecided(error: KafkaError) -> KafkaError:
    """What an idempotent producer hears of a batch that was appended, and may or may not outlive the loss of its leader
    or of its disk. Kafka says NOT_LEADER_OR_FOLLOWER or KAFKA_STORAGE_ERROR. librdkafka takes either for "not stored":
    it sends the records again in other batches, which no broker can know for repetitions, and they are stored twice.
    """
    if error in (KafkaError.NOT_LEADER_OR_FOLLOWER, KafkaError.KAFKA_STORAGE_ERROR):
        return KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND
    return error


def _refuse(item: PartitionProduceResponse, refusal: Refusal) -> None:
    item.error_code = refusal.error
    item.error_message = refusal.because or None
    item.base_offset = -1
    item.log_append_time_ms = -1


def _hint(
    item: PartitionProduceResponse,
    response: ProduceResponse,
    found: CurrentLeader | None,
    listener_name: str,
) -> None:
    """Who leads instead, or next, so that the client moves without asking for metadata (KIP-951)."""
    if found is None:
        return
    item.current_leader = LeaderIdAndEpoch(leader_id=found.leader, leader_epoch=found.leader_epoch)
    known = [endpoint.node_id for endpoint in response.node_endpoints]
    broker = found.broker
    at = broker and broker.endpoint(listener_name)
    if broker and at and found.leader not in known:
        response.node_endpoints.append(
            NodeEndpoint(node_id=broker.id, host=at.host, port=at.port, rack=broker.rack)
        )


def _after_unacknowledged(ticket: Ticket, response: ProduceResponse) -> list[Effect]:
    """acks=0 has no reply; after an error Kafka closes the connection, so that the producer fetches metadata."""
    for topic in response.responses:
        for item in topic.partition_responses:
            if item.error_code:
                return [Hangup(ticket, f"acks=0 and {KafkaError(item.error_code).name}")]
    return [Reply(ticket, None)]
