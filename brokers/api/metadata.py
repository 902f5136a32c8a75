"""Metadata (key 3): brokers, topics and who leads their partitions. Versions 0-13.

Version 0 has no null, so its empty list means all topics. A topic that does not exist is created where the client and
the node allow it, and the answer waits until it has a leader (Kafka answers LEADER_NOT_AVAILABLE first).
"""

from collections.abc import Iterator, Mapping

from brokers.api.controller_mutation_quota import ControllerMutationQuota
from brokers.config.broker_config import BrokerConfig
from brokers.effects import Changed, Effect, Reply
from brokers.errors import KafkaError, Refusal
from brokers.events import Request
from brokers.ids import INTERNAL_TOPICS, NO_ID, Instant, TopicPartition
from brokers.membership.forwarding import ForwardingManager
from brokers.metadata.commands.topic_commands import CreateTopics, NewTopic, TopicOutcome
from brokers.metadata.image.image import NO_LEADER, PartitionImage, TopicImage
from brokers.metadata.topics.topic_creation import internal_topic
from brokers.metadata.topics.topic_names import check_name
from brokers.partition.hosted_partitions import HostedPartitions, MetadataCache
from brokers.replication.offline_replicas import offline_replicas
from brokers.security.authorized_operations import CLUSTER_OPERATIONS, NOT_ASKED, TOPIC_OPERATIONS
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

KEY = ApiKey.METADATA
VERSIONS = (0, 13)
LISTENER_NOT_FOUND_FROM = 6
TOLD_AGAIN_MS = 60_000
IDS_FROM = 12  # topics may be asked for by id


class MetadataHandler:
    """Answers Metadata requests."""

    def __init__(
        self,
        config: BrokerConfig,
        metadata: MetadataCache,
        replicas: HostedPartitions,
        forwarding: ForwardingManager,
    ) -> None:
        self._config = config
        self._metadata = metadata
        self._replicas = replicas
        self._forwarding = forwarding
        rate = config.auto_create_topics_mutation_rate
        window = config.controller_quota_window_num * config.controller_quota_window_size_seconds
        self._quota = ControllerMutationQuota(None if rate < 0 else rate, window)
        self._told_at: Instant | None = None

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, MetadataRequest)
        missing = self._to_create(message, request.api_version)
        wanted, missing = len(missing), self._granted(missing, now)
        told = self._throttled(wanted - len(missing), now)
        if not missing:
            return [*told, Reply(request.ticket, self._response(request, message, {}))]

        def then(result: tuple[TopicOutcome, ...] | Refusal, now: Instant) -> list[Effect]:
            errors = _creation_errors(missing, result)
            return [Reply(request.ticket, self._response(request, message, errors))]

        return [*told, *self._forwarding.submit(CreateTopics(tuple(missing)), then, now, request)]

    def _granted(self, missing: list[NewTopic], now: Instant) -> list[NewTopic]:
        """Those that the quota allows. Others stay unknown for now, which has clients try again (KIP-599)."""
        each = self._config.num_partitions
        return [
            topic
            for topic in missing
            if topic.name in INTERNAL_TOPICS or self._quota.take(each, now)
        ]

    def _throttled(self, left_out: int, now: Instant) -> list[Effect]:
        """Tells the operator, once a minute at most."""
        if not left_out or (self._told_at is not None and now - self._told_at < TOLD_AGAIN_MS):
            return []
        self._told_at = now
        limit = f"{self._config.auto_create_topics_mutation_rate} partitions a second"
        because = f"auto.create.topics.mutation.rate allows {limit}"
        return [Changed("auto-creation of topics", "throttled", because)]

    def _to_create(self, message: MetadataRequest, version: int) -> list[NewTopic]:
        """New topics for the legal names that do not exist, where creation is allowed."""
        if not (message.allow_auto_topic_creation and self._config.auto_create_topics_enable):
            return []
        asked = [] if _wants_all(message, version) else message.topics or []
        if any(_refused(topic, version) for topic in asked):
            return []
        names = dict.fromkeys(topic.name for topic in asked if topic.topic_id == NO_ID)
        return [
            internal_topic(name, self._config) if name in INTERNAL_TOPICS else NewTopic(name=name)
            for name in names
            if name is not None and self._is_creatable(name)
        ]

    def _is_creatable(self, name: str) -> bool:
        try:
            check_name(name)
        except Refusal:
            return False
        return name not in self._metadata.image.topics_by_name

    def _response(
        self, request: Request, message: MetadataRequest, errors: Mapping[str, KafkaError]
    ) -> MetadataResponse:
        version = request.api_version
        response = MetadataResponse(
            brokers=list(self._brokers(request.listener_name)),
            cluster_id=self._metadata.image.cluster_id,
            controller_id=self._config.node_id,
        )
        if message.include_cluster_authorized_operations:
            response.cluster_authorized_operations = CLUSTER_OPERATIONS
        if _wants_all(message, version):
            known = self._metadata.image.topics_by_name.values()
            response.topics = [self._described(topic) for topic in known]
        else:
            asked = {(topic.topic_id, topic.name): topic for topic in message.topics or []}
            is_refused = any(_refused(topic, version) for topic in asked.values())
            response.error_code = KafkaError.INVALID_REQUEST if is_refused else KafkaError.NONE
            response.topics = [
                _invalid(topic, version) if is_refused else self._asked(topic, errors)
                for topic in asked.values()
            ]
        if message.include_topic_authorized_operations:
            for item in response.topics:
                if not item.error_code:
                    item.topic_authorized_operations = TOPIC_OPERATIONS
        self._hide_unreachable_leaders(request, response)
        return response

    def _brokers(self, listener_name: str) -> Iterator[MetadataResponseBroker]:
        """The brokers that clients of this listener can reach."""
        for _, broker in sorted(self._metadata.image.brokers.items()):
            at = broker.endpoint(listener_name)
            if at is not None and not broker.fenced:
                yield MetadataResponseBroker(
                    node_id=broker.id, host=at.host, port=at.port, rack=broker.rack
                )

    def _hide_unreachable_leaders(self, request: Request, response: MetadataResponse) -> None:
        """A leader that does not advertise the request's listener can't be reached by its clients."""
        unreachable = {
            broker.id
            for broker in self._metadata.image.brokers.values()
            if broker.endpoint(request.listener_name) is None
        }
        if not unreachable:
            return
        is_known = request.api_version >= LISTENER_NOT_FOUND_FROM
        error = KafkaError.LISTENER_NOT_FOUND if is_known else KafkaError.LEADER_NOT_AVAILABLE
        for topic in response.topics:
            for partition in topic.partitions:
                if partition.leader_id in unreachable:
                    partition.leader_id, partition.error_code = NO_LEADER, error

    def _asked(
        self, asked: MetadataRequestTopic, errors: Mapping[str, KafkaError]
    ) -> MetadataResponseTopic:
        if asked.topic_id != NO_ID:
            topic = self._metadata.image.topics_by_id.get(asked.topic_id)
            if topic is None:
                error = KafkaError.UNKNOWN_TOPIC_ID
                return MetadataResponseTopic(error_code=error, name=None, topic_id=asked.topic_id)
            return self._described(topic)
        name = asked.name or ""
        topic = self._metadata.image.topics_by_name.get(name)
        if topic is not None:
            return self._described(topic)
        try:
            check_name(name)
            error = errors.get(name, KafkaError.UNKNOWN_TOPIC_OR_PARTITION)
        except Refusal:
            error = KafkaError.INVALID_TOPIC_EXCEPTION
        return MetadataResponseTopic(
            error_code=error, name=name, is_internal=name in INTERNAL_TOPICS
        )

    def _described(self, topic: TopicImage) -> MetadataResponseTopic:
        return MetadataResponseTopic(
            name=topic.name,
            topic_id=topic.id,
            is_internal=topic.is_internal,
            topic_authorized_operations=NOT_ASKED,
            partitions=[
                self._placed(TopicPartition(topic.name, index), partition)
                for index, partition in enumerate(topic.partitions)
            ],
        )

    def _placed(self, name: TopicPartition, partition: PartitionImage) -> MetadataResponsePartition:
        replica = self._replicas.get(name)
        leader = NO_LEADER if replica and replica.knows_no_leader else partition.leader
        return MetadataResponsePartition(
            error_code=KafkaError.LEADER_NOT_AVAILABLE if leader == NO_LEADER else KafkaError.NONE,
            partition_index=name.partition,
            leader_id=leader,
            leader_epoch=partition.leader_epoch,
            replica_nodes=list(partition.replicas),
            isr_nodes=list(partition.isr),
            offline_replicas=offline_replicas(
                self._metadata.image, self._replicas, self._config.node_id, name
            ),
        )


def _wants_all(message: MetadataRequest, version: int) -> bool:
    return message.topics is None or (version == 0 and not message.topics)


def _creation_errors(
    missing: list[NewTopic], result: tuple[TopicOutcome, ...] | Refusal
) -> dict[str, KafkaError]:
    if isinstance(result, Refusal):  # the client looks again
        return {topic.name: KafkaError.LEADER_NOT_AVAILABLE for topic in missing}
    return {outcome.name: outcome.error for outcome in result if outcome.name and outcome.error}


def _refused(topic: MetadataRequestTopic, version: int) -> bool:
    """Versions 10 and 11 have room for an id, but only names may be asked for."""
    if version < IDS_FROM:
        return topic.name is None or topic.topic_id != NO_ID
    return topic.name is None and topic.topic_id == NO_ID


def _invalid(topic: MetadataRequestTopic, version: int) -> MetadataResponseTopic:
    name = topic.name if version >= IDS_FROM else topic.name or ""
    error = KafkaError.INVALID_REQUEST
    return MetadataResponseTopic(error_code=error, name=name, topic_id=topic.topic_id)
