"""What a failover cost, against a second way of counting."""

from hypothesis import given
from hypothesis import strategies as st

from federation.demo.costs import (
    Acknowledged,
    loss,
    lost_below_the_cut,
    reading,
    stored_twice,
)

offsets = st.dictionaries(st.integers(0, 3), st.integers(0, 40))


def _log(size: int, partition: int = 0) -> list[Acknowledged]:
    """Acknowledgements of `size` flights, one a millisecond; flight numbers are the offsets."""
    return [Acknowledged(partition, offset, offset, float(offset)) for offset in range(size)]


def _stored(records: list[Acknowledged], cut: int) -> dict[int, dict[int, int]]:
    return {0: {record.offset: record.flight for record in records if record.offset < cut}}


@given(size=st.integers(0, 50), cut=st.integers(0, 60))
def test_what_lies_beyond_the_cut_is_lost_and_nothing_else(size: int, cut: int) -> None:
    log = _log(size)
    result = loss(log, _stored(log, cut), killed_at_ms=float(size))
    assert [record.offset for record in result.records] == list(range(cut, size))
    assert result.reaches_back_ms == max(0, size - cut)
    assert lost_below_the_cut(result.records, {0: cut}) == 0


def test_what_the_new_region_wrote_at_the_same_offset_replaces_nothing() -> None:
    log = _log(10)
    stored = _stored(log, 8) | {}
    stored[0][8] = 77  # after the failover the offset went to another flight
    result = loss(log, stored, killed_at_ms=10.0)
    assert [record.offset for record in result.records] == [8, 9]


def test_a_record_missing_below_the_cut_is_told_apart() -> None:
    log = _log(10)
    stored = _stored(log, 8)
    del stored[0][3]
    result = loss(log, stored, killed_at_ms=10.0)
    assert lost_below_the_cut(result.records, {0: 8}) == 1


def test_an_acknowledgement_heard_after_the_kill_reaches_back_to_it_at_most() -> None:
    late = [Acknowledged(0, 0, 0, 50.0)]
    assert loss(late, {}, killed_at_ms=40.0).reaches_back_ms == 0.0


@given(old_end=offsets, committed=offsets, new_start=offsets, cut=offsets)
def test_reading_is_counted_as_counting_one_by_one_counts(
    old_end: dict[int, int],
    committed: dict[int, int],
    new_start: dict[int, int],
    cut: dict[int, int],
) -> None:
    again = skipped = 0
    for partition, first in new_start.items():
        for offset in range(cut.get(partition, 0)):
            again += first <= offset < old_end.get(partition, 0)
            skipped += committed.get(partition, 0) <= offset < first
        skipped += max(0, first - cut.get(partition, 0))  # past what the region holds
    result = reading(old_end=old_end, new_start=new_start, committed=committed, cut=cut)
    assert (result.read_again, result.skipped) == (again, skipped)


def test_a_flight_sent_again_is_stored_twice() -> None:
    assert stored_twice({0: {0: 5, 1: 6}, 1: {0: 5}}) == 1
    assert stored_twice({0: {0: 5, 1: 6}, 1: {0: 7}}) == 0
