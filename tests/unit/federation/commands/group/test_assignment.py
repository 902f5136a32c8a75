"""What a member reads, by the bytes of its assignment."""

from struct import pack

import pytest

from brokers.ids import TopicPartition
from federation.commands.group.assignment import assigned_partitions


def assignment(**topics: list[int]) -> bytes:
    parts = [pack(">hi", 1, len(topics))]
    for name, numbers in topics.items():
        parts.append(
            pack(
                f">h{len(name)}si{len(numbers)}i", len(name), name.encode(), len(numbers), *numbers
            )
        )
    return b"".join(parts)


def test_partitions_are_read_and_user_data_is_not() -> None:
    written = assignment(orders=[1, 0], bills=[]) + pack(">i", -1)
    assert assigned_partitions(written) == [
        TopicPartition("orders", 0),
        TopicPartition("orders", 1),
    ]
    assert assigned_partitions(b"") == []


@pytest.mark.parametrize("size", range(1, len(assignment(orders=[1]))))
def test_bytes_that_end_too_early_are_no_assignment(size: int) -> None:
    assert assigned_partitions(assignment(orders=[1])[:size]) is None


def test_a_length_below_zero_is_no_assignment() -> None:
    assert assigned_partitions(pack(">hih", 1, 1, -1) + bytes(8)) is None
