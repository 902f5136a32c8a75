"""What `mirrors` has of one topic, of many: CreateMirrorTopics (key 10010), SetTopicWriters (10009) and
RaiseLeaderEpochsOfTopics (10011). One batch of the metadata log has the records of all; each topic has its own result.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypeVar

from brokers.errors import Refusal, error_from_code
from brokers.ids import LeaderEpoch
from brokers.metadata.commands.mirror_commands import (
    CreateMirrorTopics,
    RaiseLeaderEpochsOfTopics,
    SetTopicWriters,
)
from brokers.metadata.commands.topic_commands import TopicOutcome
from brokers.metadata.requests.conversion import (
    Conversion,
    leader_epochs_from_wire,
    leader_epochs_to_wire,
    unless_error,
    with_error,
)
from brokers.metadata.requests.mirrors import (
    creation_from_wire,
    creation_to_wire,
    mirror_topic_from_wire,
    mirror_topic_to_wire,
    raise_from_wire,
    raise_to_wire,
    writer_change_from_wire,
    writer_change_to_wire,
)
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.links import (
    CreateMirrorTopicsRequest,
    CreateMirrorTopicsResponse,
    MirrorTopicResult,
    NewMirrorTopic,
    RaiseLeaderEpochsOfTopicsRequest,
    RaiseLeaderEpochsOfTopicsResponse,
    SetTopicWritersRequest,
    SetTopicWritersResponse,
    TopicLeaderEpochs,
    TopicLeaderEpochsResult,
    TopicWriterChange,
    TopicWriterResult,
)

_Epochs: TypeAlias = Mapping[int, LeaderEpoch]
_EpochsResult = TypeVar("_EpochsResult", TopicWriterResult, TopicLeaderEpochsResult)


def _refusal_of(
    result: MirrorTopicResult | TopicWriterResult | TopicLeaderEpochsResult,
) -> Refusal | None:
    if not result.error_code:
        return None
    return Refusal(error_from_code(result.error_code), result.error_message or "")


def _epochs_to_wire(message: type[_EpochsResult], result: _Epochs | Refusal) -> _EpochsResult:
    if isinstance(result, Refusal):
        return message(error_code=result.error, error_message=result.because or None)
    return message(leader_epochs=leader_epochs_to_wire(result))


def _epochs_from_wire(
    response: SetTopicWritersResponse | RaiseLeaderEpochsOfTopicsResponse,
) -> tuple[_Epochs | Refusal, ...]:
    results: Sequence[TopicWriterResult | TopicLeaderEpochsResult] = response.results
    return tuple(
        _refusal_of(each) or leader_epochs_from_wire(each.leader_epochs) for each in results
    )


# --- CreateMirrorTopics ---


def _create_request(command: CreateMirrorTopics) -> CreateMirrorTopicsRequest:
    return CreateMirrorTopicsRequest(
        topics=[creation_to_wire(NewMirrorTopic, item) for item in command.items]
    )


def _create_command(request: CreateMirrorTopicsRequest) -> CreateMirrorTopics:
    return CreateMirrorTopics(tuple(creation_from_wire(each) for each in request.topics))


def _create_response(results: Sequence[TopicOutcome | Refusal]) -> CreateMirrorTopicsResponse:
    return CreateMirrorTopicsResponse(results=[_created(each) for each in results])


def _created(result: TopicOutcome | Refusal) -> MirrorTopicResult:
    if isinstance(result, Refusal):
        return MirrorTopicResult(
            name=None, error_code=result.error, error_message=result.because or None
        )
    return mirror_topic_to_wire(result)


def _create_result(response: CreateMirrorTopicsResponse) -> tuple[TopicOutcome | Refusal, ...]:
    return tuple(_refusal_of(each) or mirror_topic_from_wire(each) for each in response.results)


CREATE_MIRROR_TOPICS = Conversion(
    api_key=ApiKey.CREATE_MIRROR_TOPICS,
    command=CreateMirrorTopics,
    to_request=_create_request,
    to_command=_create_command,
    to_response=with_error(CreateMirrorTopicsResponse, _create_response),
    to_result=unless_error(_create_result),
)

# --- SetTopicWriters ---


def _set_request(command: SetTopicWriters) -> SetTopicWritersRequest:
    return SetTopicWritersRequest(
        topics=[writer_change_to_wire(TopicWriterChange, item) for item in command.items]
    )


def _set_command(request: SetTopicWritersRequest) -> SetTopicWriters:
    return SetTopicWriters(tuple(writer_change_from_wire(each) for each in request.topics))


def _set_response(results: Sequence[_Epochs | Refusal]) -> SetTopicWritersResponse:
    return SetTopicWritersResponse(
        results=[_epochs_to_wire(TopicWriterResult, each) for each in results]
    )


SET_TOPIC_WRITERS = Conversion(
    api_key=ApiKey.SET_TOPIC_WRITERS,
    command=SetTopicWriters,
    to_request=_set_request,
    to_command=_set_command,
    to_response=with_error(SetTopicWritersResponse, _set_response),
    to_result=unless_error(_epochs_from_wire),
)

# --- RaiseLeaderEpochsOfTopics ---


def _raise_request(command: RaiseLeaderEpochsOfTopics) -> RaiseLeaderEpochsOfTopicsRequest:
    return RaiseLeaderEpochsOfTopicsRequest(
        topics=[raise_to_wire(TopicLeaderEpochs, item) for item in command.items]
    )


def _raise_command(request: RaiseLeaderEpochsOfTopicsRequest) -> RaiseLeaderEpochsOfTopics:
    return RaiseLeaderEpochsOfTopics(tuple(raise_from_wire(each) for each in request.topics))


def _raise_response(results: Sequence[_Epochs | Refusal]) -> RaiseLeaderEpochsOfTopicsResponse:
    return RaiseLeaderEpochsOfTopicsResponse(
        results=[_epochs_to_wire(TopicLeaderEpochsResult, each) for each in results]
    )


RAISE_LEADER_EPOCHS_OF_TOPICS = Conversion(
    api_key=ApiKey.RAISE_LEADER_EPOCHS_OF_TOPICS,
    command=RaiseLeaderEpochsOfTopics,
    to_request=_raise_request,
    to_command=_raise_command,
    to_response=with_error(RaiseLeaderEpochsOfTopicsResponse, _raise_response),
    to_result=unless_error(_epochs_from_wire),
)
