"""CreateTopics (key 19). Versions 2-7: -1 for defaults from 4, settings in the answer from 5, topic ids from 7.

The answer comes once the topics are committed and their logs are open.
"""

from brokers.api.controller_apis import ControllerApi
from brokers.api.ports import ControllerPort
from brokers.config.broker_config import BrokerConfig
from brokers.effects import Changed, Effect
from brokers.errors import Refusal
from brokers.events import Request
from brokers.metadata.commands.topic_commands import CreateTopics, TopicOutcome
from brokers.metadata.configs.config_keys import TOPIC_KEYS
from brokers.metadata.configs.effective_configs import ConfigSource, topic_config_synonyms
from brokers.metadata.requests.topics import CREATE_TOPICS
from brokers.partition.hosted_partitions import MetadataCache
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.topics import (
    CreatableTopicConfigs,
    CreateTopicsRequest,
    CreateTopicsResponse,
)

KEY = ApiKey.CREATE_TOPICS
VERSIONS = (2, 7)


class CreateTopicsHandler(ControllerApi):
    """Answers CreateTopics requests."""

    def __init__(
        self, config: BrokerConfig, metadata: MetadataCache, controller: ControllerPort
    ) -> None:
        super().__init__(controller)
        self._config = config
        self._metadata = metadata

    def command(self, request: Request) -> CreateTopics:
        assert isinstance(request.message, CreateTopicsRequest)
        return CREATE_TOPICS.to_command(request.message)

    def response(self, request: Request, result: tuple[TopicOutcome, ...]) -> CreateTopicsResponse:
        command = self.command(request)
        response = CREATE_TOPICS.to_response(command, result)
        self._add_configs(command, response)
        return response

    def changes(self, result: tuple[TopicOutcome, ...]) -> list[Effect]:
        return shortcomings(result)

    def refusal(self, request: Request, refusal: Refusal) -> CreateTopicsResponse:
        return CREATE_TOPICS.to_response(self.command(request), refusal)

    def _add_configs(self, command: CreateTopics, response: CreateTopicsResponse) -> None:
        """Of the topics that were created, or would be."""
        for result in response.topics:
            if result.error_code:
                continue
            given = next(item.configs for item in command.items if item.name == result.name)
            result.configs = [
                self._new_config(result.name, key, given.get(key))
                for key, about in TOPIC_KEYS.items()
                if about.is_listed or key in given
            ]

    def _new_config(self, topic: str, key: str, given: str | None) -> CreatableTopicConfigs:
        """A setting of the new topic: as given (a validated topic is not in the image), or inherited."""
        if given is not None:
            return CreatableTopicConfigs(name=key, value=given, config_source=ConfigSource.TOPIC)
        settings = topic_config_synonyms(self._metadata.image, self._config, topic, TOPIC_KEYS[key])
        inherited = next(item for item in settings if item.source is not ConfigSource.TOPIC)
        return CreatableTopicConfigs(
            name=key, value=inherited.value, config_source=inherited.source
        )


def shortcomings(outcomes: tuple[TopicOutcome, ...]) -> list[Effect]:
    """What an operator should know of topics that could be made, but not as they should be."""
    return [
        Changed(f"topic {outcome.name}", "placed", outcome.warning)
        for outcome in outcomes
        if outcome.warning is not None
    ]
