"""Replicas go round the live brokers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.errors import KafkaError, Refusal
from brokers.metadata.placement import check_assignment, place
from tests.unit.brokers.metadata.images import Region


@given(brokers=st.integers(1, 5), count=st.integers(1, 30), first=st.integers(0, 7), data=st.data())
def test_replicas_are_distinct_and_leaders_even(
    brokers: int, count: int, first: int, data: st.DataObject
) -> None:
    factor = data.draw(st.integers(1, brokers))
    image = Region(brokers=brokers).image
    placed = place(image, first_partition=first, count=count, replication_factor=factor)
    check_assignment(image, placed)
    assert len(placed) == count and all(len(replicas) == factor for replicas in placed)
    led = [sum(replicas[0] == broker for replicas in placed) for broker in image.brokers]
    assert max(led) - min(led) <= 1


def test_a_fenced_broker_gets_nothing() -> None:
    region = Region(brokers=1)
    with pytest.raises(Refusal) as refused:
        place(region.image, first_partition=0, count=1, replication_factor=2)
    assert refused.value.error is KafkaError.INVALID_REPLICATION_FACTOR
    assert "1 are registered" in refused.value.because
