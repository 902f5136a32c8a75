"""CreateTopics (key 19). Versions 2-7: -1 for defaults from 4, settings in the answer from 5, topic ids from 7.

The answer comes once the topics are committed and their logs are open.
"""

from brokers.api.context import Context
from brokers.effects import Changed, Effect, Reply
from brokers.errors import Refusal
from brokers.events import Request
from brokers.ids import Instant
from brokers.metadata.commands.topic_commands import CreateTopics, NewTopic, TopicOutcome
from brokers.metadata.configs.config_keys import TOPIC_KEYS
from brokers.metadata.configs.effective_configs import ConfigSource, topic_config_synonyms
from brokers.wire.messages.topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)

KEY = 19
VERSIONS = (2, 7)


def handle(context: Context, request: Request, now: Instant) -> list[Effect]:
    message = request.message
    assert isinstance(message, CreateTopicsRequest)
    command = CreateTopics(tuple(map(_new_topic, message.topics)), message.validate_only)

    def then(result: tuple[TopicOutcome, ...] | Refusal, now: Instant) -> list[Effect]:
        told: list[Effect] = []
        if isinstance(result, Refusal):
            names = dict.fromkeys(item.name for item in command.items)
            results = [
                CreatableTopicResult(
                    name=name, error_code=result.error, error_message=result.because
                )
                for name in names
            ]
        else:
            results = [_result(context, command, outcome) for outcome in result]
            told = shortcomings(result)
        return [*told, Reply(request.ticket, CreateTopicsResponse(topics=results))]

    return context.propose(command, then, now)


def shortcomings(outcomes: tuple[TopicOutcome, ...]) -> list[Effect]:
    """What an operator should know of topics that could be made, but not as they should be."""
    return [
        Changed(f"topic {outcome.name}", "placed", outcome.warning)
        for outcome in outcomes
        if outcome.warning is not None
    ]


def _new_topic(asked: CreatableTopic) -> NewTopic:
    return NewTopic(
        name=asked.name,
        partition_count=asked.num_partitions,
        replication_factor=asked.replication_factor,
        assignments=tuple(
            (item.partition_index, tuple(item.broker_ids)) for item in asked.assignments
        ),
        configs={item.name: item.value for item in asked.configs},
    )


def _result(context: Context, command: CreateTopics, outcome: TopicOutcome) -> CreatableTopicResult:
    name = outcome.name or ""
    result = CreatableTopicResult(
        name=name,
        topic_id=outcome.topic_id,
        error_code=outcome.error,
        error_message=outcome.because,
        num_partitions=outcome.partition_count,
        replication_factor=outcome.replication_factor,
        configs=None if outcome.error else [],
    )
    if not outcome.error:
        given = next(item.configs for item in command.items if item.name == name)
        result.configs = [
            _config(context, name, key, given.get(key))
            for key, about in TOPIC_KEYS.items()
            if about.is_listed or key in given
        ]
    return result


def _config(context: Context, topic: str, key: str, given: str | None) -> CreatableTopicConfigs:
    """A setting of the new topic: as given (a validated topic is not in the image), or inherited."""
    if given is not None:
        return CreatableTopicConfigs(name=key, value=given, config_source=ConfigSource.TOPIC)
    settings = topic_config_synonyms(context.image, context.config, topic, TOPIC_KEYS[key])
    inherited = next(item for item in settings if item.source is not ConfigSource.TOPIC)
    return CreatableTopicConfigs(name=key, value=inherited.value, config_source=inherited.source)
