"""FindCoordinator (key 10): which broker serves a group.

Versions 0-6; many keys at once since 4 (KIP-699). The first request creates `__consumer_offsets`. There are no
transactions and no share groups here, and clients retry COORDINATOR_NOT_AVAILABLE until they time out without a reason;
so these are refused with errors that every client reports at once.
"""

from collections.abc import Iterable
from typing import Any

from brokers.config.broker_config import BrokerConfig
from brokers.effects import Effect, Reply
from brokers.errors import KafkaError, Refusal
from brokers.events import Request
from brokers.groups.offsets_partition import partition_for
from brokers.ids import OFFSETS_TOPIC, Instant, TopicPartition
from brokers.membership.forwarding import ForwardingManager
from brokers.metadata.commands.topic_commands import CreateTopics
from brokers.metadata.image.image import BrokerImage
from brokers.metadata.topics.topic_creation import internal_topic
from brokers.partition.hosted_partitions import MetadataCache
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.groups import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

KEY = ApiKey.FIND_COORDINATOR
VERSIONS = (0, 6)
MANY_KEYS_FROM = 4
GROUP, TRANSACTION = 0, 1


class FindCoordinatorHandler:
    """Answers FindCoordinator requests."""

    def __init__(
        self, config: BrokerConfig, metadata: MetadataCache, forwarding: ForwardingManager
    ) -> None:
        self._config = config
        self._metadata = metadata
        self._forwarding = forwarding

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, FindCoordinatorRequest)
        is_for_groups = message.key_type == GROUP
        if not is_for_groups or OFFSETS_TOPIC in self._metadata.image.topics_by_name:
            return self._reply(request, message)

        def created(result: Any, at: Instant) -> list[Effect]:
            return self._reply(request, message)  # the image shows whether the topic was created

        command = CreateTopics((internal_topic(OFFSETS_TOPIC, self._config),))
        return self._forwarding.submit(command, created, now)

    def _reply(self, request: Request, message: FindCoordinatorRequest) -> list[Effect]:
        has_many = request.api_version >= MANY_KEYS_FROM
        keys = message.coordinator_keys if has_many else [message.key]
        found = list(self._find_all(request.listener_name, message.key_type, keys))
        if has_many:
            return [Reply(request.ticket, FindCoordinatorResponse(coordinators=found))]
        only = found[0]
        response = FindCoordinatorResponse(
            error_code=only.error_code,
            error_message=only.error_message,
            node_id=only.node_id,
            host=only.host,
            port=only.port,
        )
        return [Reply(request.ticket, response)]

    def _find_all(
        self, listener_name: str, key_type: int, keys: Iterable[str]
    ) -> Iterable[Coordinator]:
        for key in keys:
            try:
                broker = self._find(key_type, key)
                at = broker.endpoint(listener_name)
                if at is None:
                    because = f"broker {broker.id} does not advertise the listener {listener_name}"
                    raise Refusal(KafkaError.COORDINATOR_NOT_AVAILABLE, because)
            except Refusal as refusal:
                yield Coordinator(
                    key=key,
                    node_id=-1,
                    port=-1,
                    error_code=refusal.error,
                    error_message=refusal.because,
                )
                continue
            yield Coordinator(
                key=key, node_id=broker.id, host=at.host, port=at.port, error_message=None
            )

    def _find(self, key_type: int, key: str) -> BrokerImage:
        if key_type == TRANSACTION:
            raise Refusal(
                KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
                "transactions are not supported: use a producer without transactional.id",
            )
        if key_type != GROUP:
            raise Refusal(
                KafkaError.INVALID_REQUEST, f"coordinators of type {key_type} do not exist here"
            )
        topic = self._metadata.image.topics_by_name.get(OFFSETS_TOPIC)
        if topic is None:
            raise Refusal(KafkaError.COORDINATOR_NOT_AVAILABLE, f"{OFFSETS_TOPIC} is being created")
        home = TopicPartition(OFFSETS_TOPIC, partition_for(key, len(topic.partitions)))
        placed = self._metadata.image.partition(home)
        broker = self._metadata.image.brokers.get(placed.leader) if placed is not None else None
        if broker is None:
            raise Refusal(KafkaError.COORDINATOR_NOT_AVAILABLE, f"{home} has no leader")
        return broker
