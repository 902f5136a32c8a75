"""Every command and every result arrives as it was sent; nothing else arrives at all."""

import json
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brokers.errors import KafkaError, Refusal
from brokers.ids import NO_ID
from brokers.membership.encoding import (
    INT64_MAX,
    RESULTS,
    VERSION,
    EncodingError,
    Outcome,
    decode_command,
    decode_outcome,
    encode_command,
    encode_outcome,
)
from brokers.metadata.commands.commands import Command
from brokers.metadata.commands.document_commands import DocumentChange, PutDocuments
from brokers.metadata.commands.mirror_commands import RaiseLeaderEpochs
from brokers.metadata.commands.producer_id_commands import AllocateProducerIds, ProducerIdBlock
from brokers.metadata.commands.topic_commands import CreateTopics, DeleteTopics, NewTopic

st.register_type_strategy(int, st.integers(-INT64_MAX - 1, INT64_MAX))
COMMANDS = get_args(Command)
THOROUGH = settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])


def test_every_command_may_travel() -> None:
    assert set(RESULTS) == set(COMMANDS)


@THOROUGH
@given(st.data())
@pytest.mark.parametrize("kind", COMMANDS, ids=lambda kind: kind.__name__)
def test_a_command_arrives_as_it_was_sent(kind: type, data: st.DataObject) -> None:
    command: Any = data.draw(st.from_type(kind))
    arrived = decode_command(encode_command(command))
    assert type(arrived) is kind and arrived == command


@THOROUGH
@given(st.data(), st.integers(0, INT64_MAX))
@pytest.mark.parametrize("kind", COMMANDS, ids=lambda kind: kind.__name__)
def test_a_result_arrives_as_it_was_sent(kind: type, data: st.DataObject, offset: int) -> None:
    result = data.draw(st.from_type(RESULTS[kind]))
    arrived = decode_outcome(kind, encode_outcome(kind, Outcome(result, offset)))
    assert arrived == Outcome(result, offset)


@given(st.sampled_from(KafkaError), st.text())
def test_a_refusal_arrives_as_it_was_sent(error: KafkaError, because: str) -> None:
    data = encode_outcome(CreateTopics, Outcome(Refusal(error, because), 7))
    arrived = decode_outcome(CreateTopics, data)
    assert isinstance(arrived.result, Refusal)
    assert (arrived.result.error, arrived.result.because) == (error, because)
    assert arrived.next_offset == 7


def test_what_travels_says_what_it_is() -> None:
    """The bytes are a format: nodes of two releases meet while a region is upgraded."""
    command = CreateTopics((NewTopic(name="a", configs={"k": None, "l": "v"}),), validate_only=True)
    assert json.loads(encode_command(command)) == {
        "version": 1,
        "command": "CreateTopics",
        "body": {
            "items": [
                {
                    "name": "a",
                    "partition_count": -1,
                    "replication_factor": -1,
                    "assignments": [],
                    "configs": [["k", None], ["l", "v"]],
                }
            ],
            "validate_only": True,
        },
    }
    assert json.loads(encode_command(DeleteTopics(("a", NO_ID))))["body"] == {
        "topics": [["str", "a"], ["UUID", str(NO_ID)]],
        "writer": None,
    }
    outcome = Outcome(ProducerIdBlock(1, 2), 9)
    assert json.loads(encode_outcome(AllocateProducerIds, outcome)) == {
        "version": 1,
        "next_offset": 9,
        "result": {"first": 1, "bound": 2},
    }


def told(sent: Command, /, **changed: object) -> bytes:
    return json.dumps(json.loads(encode_command(sent)) | changed).encode()


ONE = AllocateProducerIds(3)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff",
        b"[]",
        b"{}",
        b"[" * 100_000,
        told(ONE, version=VERSION + 1),
        told(ONE, more=1),
        told(ONE, command="Command"),
        told(ONE, command=["AllocateProducerIds"]),
        told(ONE, body=None),
        told(ONE, body={}),
        told(ONE, body={"broker_id": "3"}),
        told(ONE, body={"broker_id": True}),
        told(ONE, body={"broker_id": 3.0}),
        told(ONE, body={"broker_id": INT64_MAX + 1}),
        told(ONE, body={"broker_id": 3, "more": 1}),
        told(DeleteTopics(("a",)), body={"topics": [["int", 3]], "writer": None}),
        told(DeleteTopics(("a",)), body={"topics": [["UUID", "no"]], "writer": None}),
        told(DeleteTopics(("a",)), body={"topics": ["ab"], "writer": None}),
        told(DeleteTopics(("a",)), body={"topics": [["str", "\ud800"]], "writer": None}),
        told(DeleteTopics(("a",)), body={"topics": {}, "writer": None}),
        told(RaiseLeaderEpochs(topic="a", leader_epochs={}), body={"topic": "a", "leader_epochs": [[1, 2], [1, 3]]}),
        told(RaiseLeaderEpochs(topic="a", leader_epochs={}), body={"topic": "a", "leader_epochs": [[1]]}),
        told(RaiseLeaderEpochs(topic="a", leader_epochs={}), body={"topic": None, "leader_epochs": []}),
        encode_command(
            PutDocuments((DocumentChange(kind="a", name="b", body=b"abc"),))
        ).replace(b"YWJj", b"Y=Jj"),
    ],
)  # fmt: skip
def test_nothing_else_is_taken_for_a_command(data: bytes) -> None:
    with pytest.raises(EncodingError):
        decode_command(data)


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        encode_outcome(CreateTopics, Outcome((), 1)),
        encode_outcome(AllocateProducerIds, Outcome(ProducerIdBlock(1, 2), 9)).replace(b"9", b"null"),
        encode_outcome(AllocateProducerIds, Outcome(Refusal(KafkaError.NONE), 9)).replace(
            b'"error":0', b'"error":7777'
        ),
    ],
)  # fmt: skip
def test_another_commands_result_is_not_taken_for_this_ones(data: bytes) -> None:
    with pytest.raises(EncodingError):
        decode_outcome(AllocateProducerIds, data)
