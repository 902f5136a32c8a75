"""Reading what consumers subscribe to, whatever the bytes."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.groups.consumer_protocol import subscribed_topics
from tests.playbooks.groups.consumer import subscription

TOPICS = st.lists(
    st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=20), max_size=5
)


@given(TOPICS, st.binary(max_size=20))
def test_the_topics_are_read_and_the_rest_is_left_alone(topics: list[str], rest: bytes) -> None:
    assert subscribed_topics(subscription(topics, rest)) == frozenset(topics)


def test_later_versions_begin_the_same_way() -> None:
    version_3 = struct.pack(">h", 3) + subscription(["t"])[2:] + struct.pack(">iih", 0, -1, -1)
    assert subscribed_topics(version_3) == {"t"}


@given(TOPICS, st.data())
def test_a_subscription_cut_short_in_its_topics_is_none(
    topics: list[str], data: st.DataObject
) -> None:
    whole = subscription(topics)[:-4]  # without user data
    cut = data.draw(st.integers(0, len(whole) - 1))
    assert subscribed_topics(whole[:cut]) is None


@pytest.mark.parametrize(
    "metadata",
    [
        b"",
        b"not a subscription at all",
        struct.pack(">hi", -1, 0),
        struct.pack(">hi", 0, -1),
        struct.pack(">hi", 0, 2**31 - 1),
        struct.pack(">hih", 0, 1, -1),
        struct.pack(">hih", 0, 1, 5) + b"abc",
    ],
)
def test_other_bytes_are_no_subscription(metadata: bytes) -> None:
    assert subscribed_topics(metadata) is None


@given(st.binary(max_size=64))
def test_no_bytes_do_harm(metadata: bytes) -> None:
    topics = subscribed_topics(metadata)
    assert topics is None or all(isinstance(topic, str) for topic in topics)
