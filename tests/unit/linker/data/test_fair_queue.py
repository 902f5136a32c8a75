"""Shares of bytes by weight, and no waiting for those that were away."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.data.fair_queue import FairQueue


def served(weights: dict[int, int], sizes: dict[int, int], turns: int) -> Counter[int]:
    """Bytes of flows that always have more."""
    queue, given_bytes = FairQueue(), Counter[int]()
    for number in weights:
        queue.add(number)
    for _ in range(turns):
        number = queue.pop()
        given_bytes[number] += sizes[number]
        queue.charge(number, sizes[number], weights[number])
        queue.add(number)
    return given_bytes


@given(
    st.dictionaries(st.integers(1, 9), st.integers(1, 10), min_size=2),
    st.integers(1, 1_000),
    st.integers(1, 1_000),
)
def test_each_flow_gets_its_share_whatever_its_chunks(
    weights: dict[int, int], small: int, large: int
) -> None:
    sizes = {number: small if number % 2 else large for number in weights}
    found = served(weights, sizes, 2_000)
    shares = {number: found[number] / weight for number, weight in weights.items()}
    slack = max(sizes[number] / weight for number, weight in weights.items())
    assert max(shares.values()) - min(shares.values()) <= 2 * slack


def test_a_flow_that_was_away_is_next_and_has_saved_nothing() -> None:
    queue = FairQueue()
    for number in (1, 2):
        queue.add(number)
    for _ in range(100):
        number = queue.pop()
        queue.charge(number, 1_000, 1)
        queue.add(number)
    queue.add(3)
    served_next = []
    for _ in range(12):
        served_next.append(queue.pop())
        queue.charge(served_next[-1], 1_000, 1)
        queue.add(served_next[-1])
    assert 3 in served_next[:3]
    assert Counter(served_next) == {1: 4, 2: 4, 3: 4}


def test_who_waits_waits_once_and_who_is_gone_no_more() -> None:
    queue = FairQueue()
    queue.add(1)
    queue.add(1)
    queue.add(2)
    queue.remove(1)
    assert queue.pop() == 2 and not queue
    queue.add(1)
    assert queue.pop() == 1
    with pytest.raises(IndexError):
        queue.pop()
