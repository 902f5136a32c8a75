"""The Kafka requests that create topics, add partitions and delete topics. Each returns what was refused, by name."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.metadata import MetadataRequest
from brokers.wire.messages.topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DeleteTopicState,
)
from federation.commands.answers import Failure
from federation.commands.region.client import Client

DEFAULT: Final = -1  # the broker's num.partitions and default.replication.factor (KIP-464)
DEFAULTS_FROM: Final = 4  # version of CreateTopics
TIMEOUT_MS: Final = 25_000
_BY_STATE_FROM: Final = 6  # version of DeleteTopics (KIP-516)


def topic_names(client: Client) -> dict[str, bool]:
    """Every topic, and whether it is internal."""
    answer = client.ask(
        ApiKey.METADATA, MetadataRequest(topics=None, allow_auto_topic_creation=False)
    )
    return {each.name: each.is_internal for each in answer.topics}


def create_topics(
    client: Client,
    names: Sequence[str],
    *,
    partitions: int | None,
    factor: int | None,
    assignment: Sequence[Sequence[int]],
    configs: Mapping[str, str],
    validate_only: bool,
) -> tuple[list[Any], dict[str, Any]]:
    """The responses of the topics that were created, and of those that were refused."""
    has_defaults = client.version(ApiKey.CREATE_TOPICS) >= DEFAULTS_FROM
    if not assignment and None in (partitions, factor) and not has_defaults:
        raise Failure(
            f"the broker at {client.address} knows no defaults of new topics",
            hint="give --partitions and --replication-factor",
        )
    topics = [
        CreatableTopic(
            name=name,
            num_partitions=DEFAULT if partitions is None else partitions,
            replication_factor=DEFAULT if factor is None else factor,
            assignments=[
                CreatableReplicaAssignment(partition_index=index, broker_ids=list(brokers))
                for index, brokers in enumerate(assignment)
            ],
            configs=[CreatableTopicConfig(name=key, value=value) for key, value in configs.items()],
        )
        for name in names
    ]
    request = CreateTopicsRequest(topics=topics, timeout_ms=TIMEOUT_MS, validate_only=validate_only)
    answers = client.ask(ApiKey.CREATE_TOPICS, request).topics
    return [each for each in answers if not each.error_code], _refused(answers)


def add_partitions(
    client: Client,
    counts: Mapping[str, int],
    assignments: Mapping[str, Sequence[Sequence[int]]],
    *,
    validate_only: bool,
) -> dict[str, Any]:
    """`counts` are the partitions that a topic has afterwards, `assignments` the replicas of its new ones."""
    topics = [
        CreatePartitionsTopic(
            name=name,
            count=count,
            assignments=[
                CreatePartitionsAssignment(broker_ids=list(brokers))
                for brokers in assignments[name]
            ]
            if name in assignments
            else None,
        )
        for name, count in counts.items()
    ]
    request = CreatePartitionsRequest(
        topics=topics, timeout_ms=TIMEOUT_MS, validate_only=validate_only
    )
    return _refused(client.ask(ApiKey.CREATE_PARTITIONS, request).results)


def delete_topics(client: Client, names: Sequence[str]) -> dict[str, Any]:
    request = DeleteTopicsRequest(timeout_ms=TIMEOUT_MS)
    if client.version(ApiKey.DELETE_TOPICS) >= _BY_STATE_FROM:
        request.topics = [DeleteTopicState(name=name) for name in names]
    else:
        request.topic_names = list(names)
    return _refused(client.ask(ApiKey.DELETE_TOPICS, request).responses)


def _refused(answers: Sequence[Any]) -> dict[str, Any]:
    return {each.name: each for each in answers if each.error_code}
