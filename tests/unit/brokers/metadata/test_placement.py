"""Replicas go round the live brokers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.errors import KafkaError, Refusal
from brokers.metadata.assignments import check_assignment
from brokers.metadata.placement import place
from tests.unit.brokers.metadata.images import Region


@given(brokers=st.integers(1, 5), count=st.integers(1, 30), first=st.integers(0, 7), data=st.data())
def test_replicas_are_distinct_and_leaders_even(
    brokers: int, count: int, first: int, data: st.DataObject
) -> None:
    factor = data.draw(st.integers(1, brokers))
    image = Region(brokers=brokers).image
    placed = place(image, first_partition=first, count=count, wanted=factor)
    check_assignment(image, [each.replicas for each in placed])
    assert len(placed) == count and all(len(each.replicas) == factor for each in placed)
    led = [sum(each.replicas[0] == broker for each in placed) for broker in image.brokers]
    assert max(led) - min(led) <= 1


def test_a_fenced_broker_gets_nothing() -> None:
    region = Region(brokers=1)
    with pytest.raises(Refusal) as refused:
        place(region.image, first_partition=0, count=1, wanted=2)
    assert refused.value.error is KafkaError.INVALID_REPLICATION_FACTOR
    assert "1 are registered" in refused.value.because
