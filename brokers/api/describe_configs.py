"""DescribeConfigs (key 32): every setting with its source. Versions 1-4: documentation from 3.

Clients that write back what they read depend on the list being whole, so keys without a value of their own are there
with their default.
"""

from collections.abc import Iterator, Sequence

from brokers.api.broker_loggers import BrokerLoggers
from brokers.config.broker_config import BrokerConfig
from brokers.effects import Effect, Reply
from brokers.errors import KafkaError, Refusal
from brokers.events import Request
from brokers.ids import Instant
from brokers.metadata.commands.config_commands import ResourceType
from brokers.metadata.configs.broker_configs import (
    BrokerConfigEntry,
    broker_config_entries,
    dynamic_defaults,
)
from brokers.metadata.configs.config_def import ConfigKey
from brokers.metadata.configs.config_keys import TOPIC_KEYS
from brokers.metadata.configs.effective_configs import (
    ConfigEntry,
    ConfigSource,
    topic_config_synonyms,
)
from brokers.metadata.topics.topic_names import check_name
from brokers.partition.hosted_partitions import MetadataCache
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)

KEY = ApiKey.DESCRIBE_CONFIGS
VERSIONS = (1, 4)


class DescribeConfigsHandler:
    """Answers DescribeConfigs requests."""

    def __init__(
        self, config: BrokerConfig, metadata: MetadataCache, loggers: BrokerLoggers
    ) -> None:
        self._config = config
        self._metadata = metadata
        self._loggers = loggers

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, DescribeConfigsRequest)
        asked = {(item.resource_type, item.resource_name): item for item in message.resources}
        response = DescribeConfigsResponse()
        for resource in asked.values():
            result = DescribeConfigsResult(
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
                error_message=None,
            )
            response.results.append(result)
            try:
                result.configs = [_trimmed(config, message) for config in self._configs(resource)]
            except Refusal as refusal:
                result.error_code, result.error_message = refusal.error, refusal.because
        return [Reply(request.ticket, response)]

    def _configs(
        self, resource: DescribeConfigsResource
    ) -> Iterator[DescribeConfigsResourceResult]:
        keys = resource.configuration_keys
        wanted = None if keys is None else frozenset(keys)
        match resource.resource_type:
            case ResourceType.TOPIC:
                configs = self._of_topic(resource.resource_name)
            case ResourceType.BROKER:
                configs = self._of_broker(resource.resource_name)
            case ResourceType.BROKER_LOGGER:
                configs = list(self._loggers.describe(resource.resource_name))
            case kind:
                raise Refusal(
                    KafkaError.INVALID_REQUEST, f"resource type {kind} has no settings here"
                )
        return (config for config in configs if wanted is None or config.name in wanted)

    def _of_topic(self, topic: str) -> list[DescribeConfigsResourceResult]:
        check_name(topic)
        if topic not in self._metadata.image.topics_by_name:
            raise Refusal(KafkaError.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic {topic}")
        described = []
        for key in TOPIC_KEYS.values():
            settings = tuple(topic_config_synonyms(self._metadata.image, self._config, topic, key))
            if key.is_listed or settings[0].source is ConfigSource.TOPIC:
                described.append(_of_key(key, settings))
        return described

    def _of_broker(self, name: str) -> list[DescribeConfigsResourceResult]:
        """A broker by its id; the empty name is what was set for all brokers while they ran."""
        if name == "":
            return [_of_setting(setting) for setting in dynamic_defaults(self._metadata.image)]
        if name != str(self._config.node_id):
            because = f"broker {name} is not this one ({self._config.node_id}): ask it"
            raise Refusal(KafkaError.INVALID_REQUEST, because)
        settings = broker_config_entries(self._metadata.image, self._config)
        return [_of_setting(setting) for setting in settings]


def _trimmed(
    config: DescribeConfigsResourceResult, message: DescribeConfigsRequest
) -> DescribeConfigsResourceResult:
    if not message.include_synonyms:
        config.synonyms = []
    if not message.include_documentation:
        config.documentation = None
    return config


def _of_key(key: ConfigKey, settings: Sequence[ConfigEntry]) -> DescribeConfigsResourceResult:
    return DescribeConfigsResourceResult(
        name=key.name,
        value=settings[0].value,
        config_source=settings[0].source,
        synonyms=[_synonym(setting) for setting in settings],
        config_type=key.type,
        documentation=key.documentation,
    )


def _synonym(setting: ConfigEntry) -> DescribeConfigsSynonym:
    return DescribeConfigsSynonym(name=setting.name, value=setting.value, source=setting.source)


def _of_setting(setting: BrokerConfigEntry) -> DescribeConfigsResourceResult:
    return DescribeConfigsResourceResult(
        name=setting.name,
        value=setting.values[0].value,
        read_only=not setting.is_dynamic,
        config_source=setting.values[0].source,
        synonyms=[_synonym(value) for value in setting.values],
        config_type=setting.type,
        documentation=setting.documentation,
    )
