"""Which names a topic may have."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.errors import KafkaError, Refusal
from brokers.metadata.image.image import Image
from brokers.metadata.topics.topic_names import check_name, check_name_is_free

LEGAL = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"


@pytest.mark.parametrize("name", ["a", "...", "-", "_", "A.b_C-9", "x" * 249])
def test_legal_names(name: str) -> None:
    assert is_legal(name)


def is_legal(name: str) -> bool:
    try:
        check_name(name)
    except Refusal:
        return False
    return True


@pytest.mark.parametrize(
    "name", ["", ".", "..", "x" * 250, "a/b", "a\n", "a\0", "é", "a b", "a:b", "../a"]
)
def test_illegal_names(name: str) -> None:
    with pytest.raises(Refusal) as refused:
        check_name(name)
    assert refused.value.error is KafkaError.INVALID_TOPIC_EXCEPTION


@given(st.text(max_size=260))
def test_a_name_is_legal_exactly_if_it_makes_a_safe_folder(name: str) -> None:
    is_safe = 0 < len(name) <= 249 and all(c in LEGAL for c in name) and name not in (".", "..")
    assert is_legal(name) == is_safe


def test_the_metadata_log_cannot_be_a_topic() -> None:
    with pytest.raises(Refusal) as refused:
        check_name("__cluster_metadata")
    assert refused.value.error is KafkaError.INVALID_REQUEST


def test_a_collision_names_the_other_topic() -> None:
    with pytest.raises(Refusal, match=r"collides with a\.b"):
        check_name_is_free(Image("r"), {"a_b": "a.b"}, "a_b")
