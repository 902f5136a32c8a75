"""CreateMirrorTopic (key 10000), SetTopicWriter (10001) and RaiseLeaderEpochs (10002): the beginning and end of mirror
topics. `mirror_batches` has the same of many topics.

The functions with a `message` type are about one topic: a request of its own, or one of a batch's."""

from collections.abc import Mapping
from functools import partial
from typing import TypeVar

from brokers.errors import error_from_code
from brokers.ids import LeaderEpoch
from brokers.metadata.commands.mirror_commands import (
    CreateMirrorTopic,
    RaiseLeaderEpochs,
    SetTopicWriter,
)
from brokers.metadata.commands.topic_commands import TopicOutcome
from brokers.metadata.requests.conversion import (
    Conversion,
    leader_epochs_from_wire,
    leader_epochs_to_wire,
    unique,
    unless_error,
    versions_from_wire,
    versions_to_wire,
    with_error,
)
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.links import (
    CreateMirrorTopicRequest,
    CreateMirrorTopicResponse,
    MirrorTopicConfig,
    MirrorTopicResult,
    NewMirrorTopic,
    RaiseLeaderEpochsRequest,
    RaiseLeaderEpochsResponse,
    SetTopicWriterRequest,
    SetTopicWriterResponse,
    TopicLeaderEpochs,
    TopicWriterChange,
)
from brokers.wire.primitives import ZERO_UUID

_Creation = TypeVar("_Creation", CreateMirrorTopicRequest, NewMirrorTopic)
_WriterChange = TypeVar("_WriterChange", SetTopicWriterRequest, TopicWriterChange)
_Raise = TypeVar("_Raise", RaiseLeaderEpochsRequest, TopicLeaderEpochs)


def mirror_topic_to_wire(outcome: TopicOutcome) -> MirrorTopicResult:
    return MirrorTopicResult(
        name=outcome.name,
        topic_id=outcome.topic_id,
        error_code=outcome.error,
        error_message=outcome.because,
        warning=outcome.warning,
        partition_count=outcome.partition_count,
        replication_factor=outcome.replication_factor,
    )


def mirror_topic_from_wire(result: MirrorTopicResult) -> TopicOutcome:
    return TopicOutcome(
        name=result.name,
        topic_id=result.topic_id,
        error=error_from_code(result.error_code),
        because=result.error_message,
        warning=result.warning,
        partition_count=result.partition_count,
        replication_factor=result.replication_factor,
    )


def creation_to_wire(message: type[_Creation], command: CreateMirrorTopic) -> _Creation:
    return message(
        name=command.name,
        partition_count=command.partition_count,
        writer=command.writer,
        configs=[MirrorTopicConfig(name=name, value=v) for name, v in command.configs.items()],
        leader_epochs=leader_epochs_to_wire(command.leader_epochs),
        replication_factor=command.replication_factor,
        record_kind=command.record_kind,
        record_version=command.record_version,
    )


def creation_from_wire(request: CreateMirrorTopicRequest | NewMirrorTopic) -> CreateMirrorTopic:
    return CreateMirrorTopic(
        name=request.name,
        partition_count=request.partition_count,
        writer=request.writer,
        configs=unique((each.name, each.value) for each in request.configs),
        leader_epochs=leader_epochs_from_wire(request.leader_epochs),
        replication_factor=request.replication_factor,
        record_kind=request.record_kind,
        record_version=request.record_version,
    )


def _create_response(outcome: TopicOutcome) -> CreateMirrorTopicResponse:
    return CreateMirrorTopicResponse(topic=mirror_topic_to_wire(outcome))


def _create_result(response: CreateMirrorTopicResponse) -> TopicOutcome:
    return mirror_topic_from_wire(response.topic)


CREATE_MIRROR_TOPIC = Conversion(
    api_key=ApiKey.CREATE_MIRROR_TOPIC,
    command=CreateMirrorTopic,
    to_request=partial(creation_to_wire, CreateMirrorTopicRequest),
    to_command=creation_from_wire,
    to_response=with_error(CreateMirrorTopicResponse, _create_response),
    to_result=unless_error(_create_result),
)


def writer_change_to_wire(message: type[_WriterChange], command: SetTopicWriter) -> _WriterChange:
    return message(
        topic=command.topic,
        expected_writer=command.expected_writer,
        writer=command.writer,
        leader_epochs=leader_epochs_to_wire(command.leader_epochs),
        topic_id=command.topic_id or ZERO_UUID,
        expected_versions=versions_to_wire(command.expected_versions),
    )


def writer_change_from_wire(request: SetTopicWriterRequest | TopicWriterChange) -> SetTopicWriter:
    return SetTopicWriter(
        topic=request.topic,
        expected_writer=request.expected_writer,
        writer=request.writer,
        leader_epochs=leader_epochs_from_wire(request.leader_epochs),
        topic_id=None if request.topic_id == ZERO_UUID else request.topic_id,
        expected_versions=versions_from_wire(request.expected_versions),
    )


def _set_response(epochs: Mapping[int, LeaderEpoch]) -> SetTopicWriterResponse:
    return SetTopicWriterResponse(leader_epochs=leader_epochs_to_wire(epochs))


def _raised_epochs(
    response: SetTopicWriterResponse | RaiseLeaderEpochsResponse,
) -> Mapping[int, LeaderEpoch]:
    return leader_epochs_from_wire(response.leader_epochs)


SET_TOPIC_WRITER = Conversion(
    api_key=ApiKey.SET_TOPIC_WRITER,
    command=SetTopicWriter,
    to_request=partial(writer_change_to_wire, SetTopicWriterRequest),
    to_command=writer_change_from_wire,
    to_response=with_error(SetTopicWriterResponse, _set_response),
    to_result=unless_error(_raised_epochs),
)


def raise_to_wire(message: type[_Raise], command: RaiseLeaderEpochs) -> _Raise:
    return message(topic=command.topic, leader_epochs=leader_epochs_to_wire(command.leader_epochs))


def raise_from_wire(request: RaiseLeaderEpochsRequest | TopicLeaderEpochs) -> RaiseLeaderEpochs:
    return RaiseLeaderEpochs(
        topic=request.topic, leader_epochs=leader_epochs_from_wire(request.leader_epochs)
    )


def _raise_response(epochs: Mapping[int, LeaderEpoch]) -> RaiseLeaderEpochsResponse:
    return RaiseLeaderEpochsResponse(leader_epochs=leader_epochs_to_wire(epochs))


RAISE_LEADER_EPOCHS = Conversion(
    api_key=ApiKey.RAISE_LEADER_EPOCHS,
    command=RaiseLeaderEpochs,
    to_request=partial(raise_to_wire, RaiseLeaderEpochsRequest),
    to_command=raise_from_wire,
    to_response=with_error(RaiseLeaderEpochsResponse, _raise_response),
    to_result=unless_error(_raised_epochs),
)
