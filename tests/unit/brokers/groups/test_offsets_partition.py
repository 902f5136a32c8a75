"""Groups lie where Kafka puts them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.groups.offsets_partition import java_hash, partition_for


@pytest.mark.parametrize(
    ("text", "hash_code"),
    [  # what Java prints, as unsigned
        ("", 0),
        ("a", 97),
        ("hello", 99162322),
        ("Hello, World!", 1498789909),
        (
            "polygenelubricants",
            0x8000_0000,
        ),  # Integer.MIN_VALUE, whose absolute value Java does not have
        ("\N{GRINNING FACE}", 1772899),  # two UTF-16 units
    ],
)
def test_the_hash_is_javas(text: str, hash_code: int) -> None:
    assert java_hash(text) == hash_code


def test_the_smallest_integer_has_a_partition_too() -> None:
    assert partition_for("polygenelubricants", 50) == 0


@pytest.mark.parametrize(
    ("group", "partition"), [("kp", 29), ("ak", 14), ("test-group", 12), ("console-consumer-1", 24)]
)
def test_a_group_lies_in_the_partition_that_kafka_computes(group: str, partition: int) -> None:
    assert partition_for(group, 50) == partition


@given(st.text(), st.integers(1, 1_000))
def test_every_group_has_a_partition(group: str, partitions: int) -> None:
    assert 0 <= partition_for(group, partitions) < partitions


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=20))
def test_the_hash_runs_over_utf_16(text: str) -> None:
    value = 0
    for unit in memoryview(text.encode("utf-16-le")).cast("H"):
        value = (31 * value + unit) % 2**32
    assert java_hash(text) == value
