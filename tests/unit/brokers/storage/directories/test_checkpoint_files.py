import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.ids import TopicPartition
from brokers.storage.directories.checkpoint_files import (
    CheckpointError,
    format_epochs,
    format_offsets,
    format_topic_id,
    parse_epochs,
    parse_offsets,
    parse_topic_id,
    print_id,
)

partitions = st.builds(
    TopicPartition, st.from_regex(r"\A[a-zA-Z0-9._-]{1,20}\Z"), st.integers(0, 10**6)
)


@given(st.dictionaries(partitions, st.integers(0, 2**63 - 1), max_size=5))
def test_offsets_come_back(offsets: dict[TopicPartition, int]) -> None:
    assert parse_offsets(format_offsets(offsets)) == offsets


def test_offsets_are_written_as_kafka_does() -> None:
    offsets = {TopicPartition("flights", 0): 5, TopicPartition("a-b", 11): 0}
    assert format_offsets(offsets) == b"0\n2\nflights 0 5\na-b 11 0\n"
    assert format_offsets({}) == b"0\n0\n"


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), max_size=6))
def test_epochs_come_back(steps: list[tuple[int, int]]) -> None:
    entries, entry = [], (-1, -1)
    for step in steps:
        entry = (entry[0] + step[0], entry[1] + step[1])
        entries.append(entry)
    assert parse_epochs(format_epochs(entries)) == entries


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"0",
        b"0\n",
        b"1\n0\n",
        b"0\n1\n",
        b"0\n1\nflights 0\n",
        b"0\n1\nflights 0 5",
        b"0\n1\nflights 0 5 6\n",
        b"0\n1\nflights zero 5\n",
        b"0\n2\nflights 0 5\n",
        b"0\n0\nflights 0 5\n",
        b"0\n-1\n",
        b"0\none\n",
        b"\xff\xfe",
        "0\n1\nflights ² 5\n".encode(),
        b"\0" * 30,
    ],
)
def test_a_damaged_offset_checkpoint_is_refused(content: bytes) -> None:
    with pytest.raises(CheckpointError):
        parse_offsets(content)


@pytest.mark.parametrize(
    "content",
    [
        b"0\n1\n5\n",
        b"0\n1\n5 6 7\n",
        b"0\n2\n5 6\n5 7\n",  # epochs must ascend
        b"0\n2\n5 6\n4 7\n",
        b"0\n2\n5 6\n6 6\n",  # and so must offsets
        b"0\n2\n5 6\n6 5\n",
        b"0\n1\nx 6\n",
        b"",
    ],
)
def test_a_damaged_epoch_checkpoint_is_refused(content: bytes) -> None:
    with pytest.raises(CheckpointError):
        parse_epochs(content)


@pytest.mark.parametrize("parse", [parse_offsets, parse_epochs, parse_topic_id])
@given(content=st.binary(max_size=80))
def test_any_bytes_are_accepted_or_refused_and_nothing_else(parse, content: bytes) -> None:
    try:
        found = parse(content)
    except CheckpointError:
        return
    assert found is not None


@given(st.binary(min_size=16, max_size=16))
def test_a_topic_id_comes_back(topic_id: bytes) -> None:
    assert parse_topic_id(format_topic_id(topic_id)) == topic_id


def test_ids_are_printed_as_kafka_prints_them() -> None:
    assert print_id(bytes(15) + b"\1") == "AAAAAAAAAAAAAAAAAAAAAQ"
    assert format_topic_id(b"\xff" * 16) == b"version: 0\ntopic_id: _____________________w"


@pytest.mark.parametrize(
    "content",
    [
        b"version: 1\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ",
        b"version: 0",
        b"topic_id: AAAAAAAAAAAAAAAAAAAAAQ",
        b"version: 0\ntopic_id: AAAA",
        b"version: 0\ntopic_id: ????????????????????AQ",
        b"version: 0\ntopic_id: ",
        b"\0\0",
        b"\xff",
    ],
)
def test_damaged_partition_metadata_is_refused(content: bytes) -> None:
    with pytest.raises(CheckpointError):
        parse_topic_id(content)
