"""Every command that is submitted, and every result, arrives as it was sent; nothing else arrives at all."""

from collections.abc import Mapping
from typing import Any, get_args
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brokers.errors import KafkaError, Refusal
from brokers.metadata.commands.commands import Submitted
from brokers.metadata.commands.config_commands import (
    AlterConfigs,
    ConfigChange,
    ConfigOperation,
    ConfigOutcome,
)
from brokers.metadata.commands.document_commands import DocumentChange, PutDocuments
from brokers.metadata.commands.mirror_commands import (
    CreateMirrorTopic,
    CreateMirrorTopics,
    RaiseLeaderEpochs,
    RaiseLeaderEpochsOfTopics,
    SetTopicWriter,
    SetTopicWriters,
)
from brokers.metadata.commands.operation_commands import RecordOperation
from brokers.metadata.commands.topic_commands import (
    CreatePartitions,
    CreateTopics,
    DeleteTopics,
    NewPartitions,
    NewTopic,
    TopicOutcome,
)
from brokers.metadata.requests.conversion import AnyConversion
from brokers.metadata.requests.conversions import OWN_APIS, conversion_of
from brokers.security.origin import Origin
from brokers.wire import codec
from brokers.wire.message import Message
from brokers.wire.messages.links import (
    AlterMirrorConfigsRequest,
    CreateMirrorTopicRequest,
    CreateMirrorTopicsRequest,
    DocumentVersion,
    MirrorConfigChange,
    MirrorConfigResource,
    MirrorTopicConfig,
    NewMirrorTopic,
    PartitionLeaderEpoch,
    PutDocument,
    PutDocumentsRequest,
    RaiseLeaderEpochsOfTopicsRequest,
    RaiseLeaderEpochsRequest,
    SetTopicWriterRequest,
    SetTopicWritersRequest,
    TopicLeaderEpochs,
    TopicWriterChange,
)
from brokers.wire.primitives import WireError

THOROUGH = settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
INT8, INT16 = st.integers(-(1 << 7), (1 << 7) - 1), st.integers(-(1 << 15), (1 << 15) - 1)
INT32, OFFSETS = st.integers(-(1 << 31), (1 << 31) - 1), st.integers(0, (1 << 63) - 1)
TEXT, MAYBE = st.text(max_size=20), st.none() | st.text(max_size=20)
IDS = st.lists(INT32, max_size=3).map(tuple)
EPOCHS = st.dictionaries(INT32, INT32, max_size=3)
VALIDATE = st.booleans()


def tuples(of: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(of, max_size=3).map(tuple)


NEW_MIRRORS = st.builds(
    CreateMirrorTopic,
    name=TEXT,
    partition_count=INT32,
    replication_factor=st.integers(-1, 2**15 - 1),
    writer=TEXT,
    configs=st.dictionaries(TEXT, TEXT, max_size=3),
    leader_epochs=EPOCHS,
    record_kind=TEXT,
    record_version=OFFSETS,
)
WRITER_CHANGES = st.builds(
    SetTopicWriter,
    topic=TEXT,
    expected_writer=MAYBE,
    writer=MAYBE,
    leader_epochs=EPOCHS,
    topic_id=st.none() | st.uuids(),
    expected_versions=st.dictionaries(st.tuples(TEXT, TEXT), st.integers(0, 2**63 - 1), max_size=3),
)
RAISES = st.builds(RaiseLeaderEpochs, topic=TEXT, leader_epochs=EPOCHS)

COMMANDS: Mapping[type, st.SearchStrategy[Any]] = {
    CreateTopics: st.builds(
        CreateTopics,
        tuples(
            st.builds(
                NewTopic,
                name=TEXT,
                partition_count=INT32,
                replication_factor=INT16,
                assignments=tuples(st.tuples(INT32, IDS)),
                configs=st.dictionaries(TEXT, MAYBE, max_size=3),
            )
        ),
        VALIDATE,
    ),
    DeleteTopics: st.builds(DeleteTopics, tuples(TEXT | st.uuids()), TEXT),
    CreatePartitions: st.builds(
        CreatePartitions,
        tuples(
            st.builds(NewPartitions, name=TEXT, count=INT32, assignments=st.none() | tuples(IDS))
        ),
        VALIDATE,
        TEXT,
    ),
    CreateMirrorTopic: NEW_MIRRORS,
    CreateMirrorTopics: st.builds(CreateMirrorTopics, tuples(NEW_MIRRORS)),
    SetTopicWriter: WRITER_CHANGES,
    SetTopicWriters: st.builds(SetTopicWriters, tuples(WRITER_CHANGES)),
    RaiseLeaderEpochs: RAISES,
    RaiseLeaderEpochsOfTopics: st.builds(RaiseLeaderEpochsOfTopics, tuples(RAISES)),
    AlterConfigs: st.builds(
        AlterConfigs,
        tuples(
            st.builds(
                ConfigChange,
                st.tuples(INT8, TEXT),
                st.dictionaries(
                    TEXT, st.tuples(st.sampled_from(ConfigOperation), MAYBE), max_size=3
                ),
                st.booleans(),
            )
        ),
        VALIDATE,
        TEXT,
    ),
    PutDocuments: st.builds(
        PutDocuments,
        tuples(
            st.builds(
                DocumentChange,
                kind=TEXT,
                name=TEXT,
                body=st.none() | st.binary(max_size=20),
                expected_version=st.none() | OFFSETS,
                unless_writer=TEXT,
                partition_epochs=tuples(INT32),
            )
        ),
    ),
    RecordOperation: st.builds(
        RecordOperation,
        origin=st.builds(Origin, TEXT, MAYBE, TEXT),
        operation=TEXT,
        resources=tuples(st.tuples(TEXT, TEXT)),
        details=TEXT,
    ),
}


KNOWN = st.sampled_from(
    [error for error in KafkaError if error is not KafkaError.REQUEST_TIMED_OUT]
)


def topic_outcomes(
    *,
    warning: st.SearchStrategy[str | None],
    errors: st.SearchStrategy[KafkaError] = KNOWN,
) -> st.SearchStrategy[TopicOutcome]:
    return st.builds(
        TopicOutcome,
        name=TEXT,
        topic_id=st.uuids(),
        error=errors,
        because=MAYBE,
        warning=warning,
        partition_count=INT32,
        replication_factor=INT16,
    )


RESULTS: Mapping[type, st.SearchStrategy[Any]] = {
    CreateTopics: tuples(topic_outcomes(warning=st.none())),
    DeleteTopics: tuples(topic_outcomes(warning=MAYBE)),
    CreatePartitions: tuples(topic_outcomes(warning=MAYBE)),
    CreateMirrorTopic: topic_outcomes(warning=MAYBE),
    CreateMirrorTopics: tuples(topic_outcomes(warning=MAYBE, errors=st.just(KafkaError.NONE))),
    SetTopicWriter: EPOCHS,
    SetTopicWriters: tuples(EPOCHS),
    RaiseLeaderEpochs: EPOCHS,
    RaiseLeaderEpochsOfTopics: tuples(EPOCHS),
    AlterConfigs: tuples(
        st.builds(
            ConfigOutcome,
            resource=st.tuples(INT8, TEXT),
            error=st.sampled_from(KafkaError),
            because=MAYBE,
        )
    ),
    PutDocuments: st.dictionaries(st.tuples(TEXT, TEXT), OFFSETS, max_size=3),
    RecordOperation: st.none(),
}
KINDS = get_args(Submitted)


def versions(conversion: AnyConversion) -> range:
    first, last = codec.VERSIONS[conversion.api_key]
    return range(first, last + 1)


def through_request(conversion: AnyConversion, message: Message, version: int) -> Any:
    data = b"".join(codec.encode_request(conversion.api_key, version, message))
    return codec.decode_request(conversion.api_key, version, data, 0)


def through_response(conversion: AnyConversion, message: Message, version: int) -> Any:
    data = b"".join(map(bytes, codec.encode_response(conversion.api_key, version, message)))
    return codec.decode_response(conversion.api_key, version, data, 0)


def test_every_command_that_may_be_submitted_is_tried_here() -> None:
    assert set(KINDS) == set(COMMANDS) == set(RESULTS)


@THOROUGH
@given(st.data())
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_command_arrives_as_it_was_sent(kind: type, data: st.DataObject) -> None:
    command = data.draw(COMMANDS[kind])
    conversion = conversion_of(command)
    for version in versions(conversion) if conversion.api_key in OWN_APIS else (7,):
        arrived = through_request(conversion, conversion.to_request(command), version)
        assert conversion.to_command(arrived) == command


@THOROUGH
@given(st.data())
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_result_arrives_as_it_was_sent(kind: type, data: st.DataObject) -> None:
    command, result = data.draw(COMMANDS[kind]), data.draw(RESULTS[kind])
    conversion = conversion_of(command)
    for version in versions(conversion) if conversion.api_key in OWN_APIS else (7,):
        arrived = through_response(conversion, conversion.to_response(command, result), version)
        assert conversion.to_result(arrived) == result


@given(st.sampled_from([error for error in KafkaError if error]), st.text(max_size=20))
@pytest.mark.parametrize("conversion", OWN_APIS.values(), ids=lambda each: each.command.__name__)
def test_a_refusal_arrives_as_it_was_sent(
    conversion: AnyConversion, error: KafkaError, because: str
) -> None:
    response = conversion.to_response(None, Refusal(error, because))
    arrived = conversion.to_result(through_response(conversion, response, 0))
    assert isinstance(arrived, Refusal)
    assert (arrived.error, arrived.because) == (error, because)


def test_kafkas_create_topics_has_a_refusal_for_each_topic_and_the_unknown_outcome_is_one() -> None:
    command = CreateTopics((NewTopic(name="a"), NewTopic(name="b")))
    conversion = conversion_of(command)
    refused = conversion.to_response(command, Refusal(KafkaError.POLICY_VIOLATION, "no"))
    outcomes = conversion.to_result(refused)
    assert [(each.name, each.error, each.because) for each in outcomes] == [
        ("a", KafkaError.POLICY_VIOLATION, "no"),
        ("b", KafkaError.POLICY_VIOLATION, "no"),
    ]
    unknown = conversion.to_response(command, Refusal(KafkaError.REQUEST_TIMED_OUT, "who knows"))
    outcome = conversion.to_result(unknown)
    assert isinstance(outcome, Refusal) and outcome.error is KafkaError.REQUEST_TIMED_OUT


def test_an_error_of_a_later_release_is_an_unknown_one() -> None:
    command = CreateMirrorTopic(name="a", partition_count=1, writer="w")
    conversion = conversion_of(command)
    response = conversion.to_response(command, TopicOutcome(name="a"))
    response.topic.error_code = 9_999
    assert conversion.to_result(response).error is KafkaError.UNKNOWN_SERVER_ERROR
    response.error_code = 9_999
    assert conversion.to_result(response).error is KafkaError.UNKNOWN_SERVER_ERROR


TWICE = [PartitionLeaderEpoch(partition_index=1), PartitionLeaderEpoch(partition_index=1)]


@pytest.mark.parametrize(
    ("kind", "request_"),
    [
        (CreateMirrorTopic, CreateMirrorTopicRequest(leader_epochs=TWICE)),
        (
            CreateMirrorTopic,
            CreateMirrorTopicRequest(configs=[MirrorTopicConfig(name="k"), MirrorTopicConfig(name="k")]),
        ),
        (SetTopicWriter, SetTopicWriterRequest(leader_epochs=TWICE)),
        (SetTopicWriter, SetTopicWriterRequest(expected_versions=[DocumentVersion(), DocumentVersion()])),
        (
            SetTopicWriters,
            SetTopicWritersRequest(topics=[TopicWriterChange(leader_epochs=TWICE)]),
        ),
        (RaiseLeaderEpochs, RaiseLeaderEpochsRequest(leader_epochs=TWICE)),
        (CreateMirrorTopics, CreateMirrorTopicsRequest(topics=[NewMirrorTopic(leader_epochs=TWICE)])),
        (
            RaiseLeaderEpochsOfTopics,
            RaiseLeaderEpochsOfTopicsRequest(topics=[TopicLeaderEpochs(leader_epochs=TWICE)]),
        ),
        (PutDocuments, PutDocumentsRequest(documents=[PutDocument(expected_version=-2)])),
        (PutDocuments, PutDocumentsRequest(documents=[PutDocument(expected_version=-(1 << 63))])),
        (
            AlterConfigs,
            AlterMirrorConfigsRequest(
                resources=[MirrorConfigResource(configs=[MirrorConfigChange(operation=4)])]
            ),
        ),
        (
            AlterConfigs,
            AlterMirrorConfigsRequest(
                resources=[MirrorConfigResource(configs=[MirrorConfigChange(), MirrorConfigChange()])]
            ),
        ),
    ],
)  # fmt: skip
def test_what_no_command_can_say_is_refused(kind: type, request_: Message) -> None:
    (conversion,) = (each for each in OWN_APIS.values() if each.command is kind)
    with pytest.raises(Refusal) as refused:
        conversion.to_command(request_)
    assert refused.value.error is KafkaError.INVALID_REQUEST


@THOROUGH
@given(st.binary(max_size=60))
@pytest.mark.parametrize("conversion", OWN_APIS.values(), ids=lambda each: each.command.__name__)
def test_noise_is_refused_or_means_something_and_nothing_worse(
    conversion: AnyConversion, noise: bytes
) -> None:
    try:
        message = codec.decode_request(conversion.api_key, 0, noise, 0)
    except WireError:
        return
    try:
        assert type(conversion.to_command(message)) is conversion.command
    except Refusal as refusal:
        if refusal.error is not KafkaError.INVALID_REQUEST:
            raise


def test_a_count_beyond_what_a_frame_holds_allocates_nothing() -> None:
    """The documents of a request of seven bytes: four billion."""
    with pytest.raises(WireError):
        codec.decode_request(10_003, 0, b"\xff\xff\xff\xff\x0f\0\0", 0)


def test_the_bytes_are_a_format_that_nodes_of_two_releases_share() -> None:
    """A change here breaks a region while it is upgraded: add a version, or a tagged field."""
    command = PutDocuments((DocumentChange(kind="k", name="n", body=b"x", expected_version=5),))
    conversion = conversion_of(command)
    data = b"".join(codec.encode_request(10_003, 0, conversion.to_request(command)))
    assert data == b"\2\2k\2n\2x" + (5).to_bytes(8, "big") + b"\0\0"
    topic = CreateMirrorTopic(name="t", partition_count=2, writer="w", leader_epochs={1: 7})
    data = b"".join(codec.encode_request(10_000, 0, conversion_of(topic).to_request(topic)))
    epoch = (1).to_bytes(4, "big") + (7).to_bytes(4, "big") + b"\0"
    assert data == b"\2t" + (2).to_bytes(4, "big") + b"\2w\1\2" + epoch + b"\0"


def test_a_tagged_field_of_a_later_release_is_skipped() -> None:
    command = RaiseLeaderEpochs(topic="t", leader_epochs={0: 3})
    conversion = conversion_of(command)
    data = b"".join(codec.encode_request(10_002, 0, conversion.to_request(command)))
    assert data.endswith(b"\0")
    later = data[:-1] + b"\1\x05\x03new"
    assert conversion.to_command(codec.decode_request(10_002, 0, later, 0)) == command


def test_a_topic_by_id_has_no_name() -> None:
    command = DeleteTopics(("a", UUID(int=7)), "link")
    request = conversion_of(command).to_request(command)
    assert [(each.name, each.topic_id.int) for each in request.topics] == [("a", 0), (None, 7)]


@pytest.mark.parametrize(
    ("command", "done"),
    [
        (SetTopicWriters(()), {0: 5}),
        (RaiseLeaderEpochsOfTopics(()), {0: 5}),
        (CreateMirrorTopics(()), TopicOutcome(name="t", partition_count=2)),
    ],
)
def test_each_of_many_topics_has_its_own_refusal(command: Submitted, done: object) -> None:
    conversion = conversion_of(command)
    refused = Refusal(KafkaError.POLICY_VIOLATION, "another link's")
    response = conversion.to_response(None, (refused, done))
    first, second = conversion.to_result(response)
    assert (first.error, first.because, second) == (refused.error, refused.because, done)
