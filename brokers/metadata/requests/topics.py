"""CreateTopics (Kafka's, key 19), DeleteMirrorTopics (10004) and CreateMirrorPartitions (10005)."""

from collections.abc import Iterable

from brokers.errors import KafkaError, Refusal, error_from_code
from brokers.metadata.commands.topic_commands import (
    CreatePartitions,
    CreateTopics,
    DeleteTopics,
    NewPartitions,
    NewTopic,
    TopicOutcome,
)
from brokers.metadata.requests.conversion import Conversion, unless_error, with_error
from brokers.metadata.requests.mirrors import mirror_topic_from_wire, mirror_topic_to_wire
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.links import (
    CreateMirrorPartitionsRequest,
    CreateMirrorPartitionsResponse,
    DeletedMirrorTopic,
    DeleteMirrorTopicsRequest,
    DeleteMirrorTopicsResponse,
    MirrorPartitionAssignment,
    MirrorTopicGrowth,
)
from brokers.wire.messages.topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)


def _create_request(command: CreateTopics) -> CreateTopicsRequest:
    topics = list(map(_creatable, command.items))
    return CreateTopicsRequest(topics=topics, validate_only=command.validate_only)


def _creatable(new: NewTopic) -> CreatableTopic:
    return CreatableTopic(
        name=new.name,
        num_partitions=new.partition_count,
        replication_factor=new.replication_factor,
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=list(replicas))
            for index, replicas in new.assignments
        ],
        configs=[CreatableTopicConfig(name=name, value=v) for name, v in new.configs.items()],
    )


def _create_command(request: CreateTopicsRequest) -> CreateTopics:
    return CreateTopics(tuple(map(_new_topic, request.topics)), request.validate_only)


def _new_topic(topic: CreatableTopic) -> NewTopic:
    """Of a configuration that is given twice, the last value counts, as in Kafka."""
    return NewTopic(
        name=topic.name,
        partition_count=topic.num_partitions,
        replication_factor=topic.replication_factor,
        assignments=tuple(
            (item.partition_index, tuple(item.broker_ids)) for item in topic.assignments
        ),
        configs={item.name: item.value for item in topic.configs},
    )


def _create_response(
    command: CreateTopics, outcome: tuple[TopicOutcome, ...] | Refusal
) -> CreateTopicsResponse:
    """Leaves out the topics' configurations, which are for clients; the response has no field for warnings."""
    if isinstance(outcome, Refusal):
        error, because = outcome.error, outcome.because
        names = dict.fromkeys(item.name for item in command.items)
        outcome = tuple(TopicOutcome(name=name, error=error, because=because) for name in names)
    return CreateTopicsResponse(
        topics=[
            CreatableTopicResult(
                name=each.name or "",
                topic_id=each.topic_id,
                error_code=each.error,
                error_message=each.because,
                num_partitions=each.partition_count,
                replication_factor=each.replication_factor,
                configs=None,
            )
            for each in outcome
        ]
    )


def _create_result(response: CreateTopicsResponse) -> tuple[TopicOutcome, ...] | Refusal:
    """REQUEST_TIMED_OUT of a topic is the Refusal of the whole command, whose outcome is unknown."""
    outcomes = tuple(
        TopicOutcome(
            name=each.name,
            topic_id=each.topic_id,
            error=error_from_code(each.error_code),
            because=each.error_message,
            partition_count=each.num_partitions,
            replication_factor=each.replication_factor,
        )
        for each in response.topics
    )
    for each in outcomes:
        if each.error is KafkaError.REQUEST_TIMED_OUT:
            return Refusal(each.error, each.because or "")
    return outcomes


CREATE_TOPICS = Conversion(
    api_key=ApiKey.CREATE_TOPICS,
    command=CreateTopics,
    to_request=_create_request,
    to_command=_create_command,
    to_response=_create_response,
    to_result=_create_result,
)


def _delete_request(command: DeleteTopics) -> DeleteMirrorTopicsRequest:
    assert command.writer is not None, "a command of no link is carried by Kafka's own request"
    return DeleteMirrorTopicsRequest(
        writer=command.writer,
        topics=[
            DeletedMirrorTopic(name=topic)
            if isinstance(topic, str)
            else DeletedMirrorTopic(topic_id=topic)
            for topic in command.topics
        ],
    )


def _delete_command(request: DeleteMirrorTopicsRequest) -> DeleteTopics:
    topics = tuple(each.topic_id if each.name is None else each.name for each in request.topics)
    return DeleteTopics(topics, request.writer)


def _delete_response(outcomes: Iterable[TopicOutcome]) -> DeleteMirrorTopicsResponse:
    return DeleteMirrorTopicsResponse(topics=list(map(mirror_topic_to_wire, outcomes)))


def _delete_result(response: DeleteMirrorTopicsResponse) -> tuple[TopicOutcome, ...]:
    return tuple(map(mirror_topic_from_wire, response.topics))


DELETE_MIRROR_TOPICS = Conversion(
    api_key=ApiKey.DELETE_MIRROR_TOPICS,
    command=DeleteTopics,
    to_request=_delete_request,
    to_command=_delete_command,
    to_response=with_error(DeleteMirrorTopicsResponse, _delete_response),
    to_result=unless_error(_delete_result),
)


def _grow_request(command: CreatePartitions) -> CreateMirrorPartitionsRequest:
    assert command.writer is not None, "a command of no link is carried by Kafka's own request"
    return CreateMirrorPartitionsRequest(
        writer=command.writer,
        validate_only=command.validate_only,
        topics=[
            MirrorTopicGrowth(
                name=item.name,
                count=item.count,
                assignments=None
                if item.assignments is None
                else [MirrorPartitionAssignment(broker_ids=list(ids)) for ids in item.assignments],
            )
            for item in command.items
        ],
    )


def _grow_command(request: CreateMirrorPartitionsRequest) -> CreatePartitions:
    items = tuple(map(_growth, request.topics))
    return CreatePartitions(items, request.validate_only, request.writer)


def _growth(topic: MirrorTopicGrowth) -> NewPartitions:
    assignments = None
    if topic.assignments is not None:
        assignments = tuple(tuple(each.broker_ids) for each in topic.assignments)
    return NewPartitions(name=topic.name, count=topic.count, assignments=assignments)


def _grow_response(outcomes: Iterable[TopicOutcome]) -> CreateMirrorPartitionsResponse:
    return CreateMirrorPartitionsResponse(topics=list(map(mirror_topic_to_wire, outcomes)))


def _grow_result(response: CreateMirrorPartitionsResponse) -> tuple[TopicOutcome, ...]:
    return tuple(map(mirror_topic_from_wire, response.topics))


CREATE_MIRROR_PARTITIONS = Conversion(
    api_key=ApiKey.CREATE_MIRROR_PARTITIONS,
    command=CreatePartitions,
    to_request=_grow_request,
    to_command=_grow_command,
    to_response=with_error(CreateMirrorPartitionsResponse, _grow_response),
    to_result=unless_error(_grow_result),
)
