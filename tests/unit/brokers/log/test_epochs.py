import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.log.epochs import EpochHistory

LOG_END = 100
HISTORY = [(2, 0), (4, 10), (7, 40)]


@pytest.mark.parametrize(
    ("leader_epoch", "expected"),
    [
        (7, (7, LOG_END)),  # the latest ends at the log's end
        (4, (4, 40)),
        (2, (2, 10)),
        (5, (4, 40)),  # unknown: the largest below it, which ends where the next begins
        (6, (4, 40)),
        (3, (2, 10)),
        (0, (0, 0)),  # older than all: where the first known one begins
        (1, (1, 0)),
        (8, (-1, -1)),  # above all
        (-1, (-1, -1)),  # undefined
    ],
)
def test_an_epoch_ends_where_the_next_begins(leader_epoch: int, expected: tuple[int, int]) -> None:
    assert EpochHistory(HISTORY).end_offset_for(leader_epoch, LOG_END) == expected


def test_an_empty_history_knows_no_end() -> None:
    history = EpochHistory()
    assert history.latest == -1
    assert history.entries == ()
    assert [history.end_offset_for(epoch, 5) for epoch in (-1, 0, 3)] == [(-1, -1)] * 3
    assert history.epoch_at(0) == -1


def test_the_epoch_of_an_offset_is_the_one_that_wrote_it() -> None:
    history = EpochHistory([(2, 5), (4, 10)])
    assert [history.epoch_at(offset) for offset in (0, 4, 5, 9, 10, 99)] == [-1, -1, 2, 2, 4, 4]


def test_an_epoch_without_data_gives_way_to_the_next() -> None:
    history = EpochHistory([(2, 0), (3, 10)])
    assert history.assign(5, 10)
    assert history.entries == ((2, 0), (5, 10))


def test_an_epoch_that_is_known_or_older_changes_nothing() -> None:
    history = EpochHistory(HISTORY)
    assert not any(history.assign(epoch, 200) for epoch in (0, 2, 5, 7))
    assert history.entries == tuple(HISTORY)


def test_an_epoch_that_begins_earlier_removes_what_it_overwrites() -> None:
    history = EpochHistory(HISTORY)
    assert history.assign(8, 10)
    assert history.entries == ((2, 0), (8, 10))


@pytest.mark.parametrize(
    ("end", "left"),
    [(100, 3), (40, 3), (39, 2), (10, 2), (9, 1), (0, 1)],
)
def test_a_shorter_log_forgets_the_epochs_above_its_end(end: int, left: int) -> None:
    history = EpochHistory(HISTORY)
    assert history.truncate_from_end(end) == (left < 3)
    assert history.entries == tuple(HISTORY[:left])
    assert history.latest == HISTORY[left - 1][0]


@pytest.mark.parametrize(
    ("start", "entries"),
    [
        (0, HISTORY),
        (1, [(2, 1), (4, 10), (7, 40)]),
        (9, [(2, 9), (4, 10), (7, 40)]),
        (10, [(4, 10), (7, 40)]),
        (45, [(7, 45)]),
        (LOG_END, [(7, LOG_END)]),
    ],
)
def test_a_log_that_begins_later_keeps_the_epoch_it_begins_with(start: int, entries: list) -> None:
    history = EpochHistory(HISTORY)
    assert history.truncate_from_start(start) == (entries != HISTORY)
    assert history.entries == tuple(entries)
    assert not history.truncate_from_start(start)


def test_a_log_that_begins_before_its_history_keeps_it() -> None:
    history = EpochHistory([(2, 5)])
    assert not history.truncate_from_start(3)
    assert history.entries == ((2, 5),)


# What really wrote a log: (step to the next epoch, records that it wrote).
reigns = st.lists(st.tuples(st.integers(1, 3), st.integers(0, 4)), max_size=8)


@given(reigns, st.integers(0, 40), st.integers(0, 40), st.integers(-1, 30))
def test_ends_and_owners_are_those_of_the_records(
    reigns: list[tuple[int, int]], start: int, end: int, asked: int
) -> None:
    history, owners, epoch = EpochHistory(), [], -1
    for step, records in reigns:
        epoch += step
        history.assign(epoch, len(owners))
        owners += [epoch] * records
    end = min(end, len(owners))
    start = min(start, end)
    history.truncate_from_end(end)
    history.truncate_from_start(start)
    assert [history.epoch_at(offset) for offset in range(start, end)] == owners[start:end]
    entries = history.entries
    assert sorted(set(entries)) == list(entries)
    assert len({offset for _, offset in entries}) == len(entries)
    floor, end_offset = history.end_offset_for(asked, end)
    if 0 <= asked <= history.latest:
        assert floor <= asked
        assert all(owner <= asked for owner in owners[start:end_offset])
        assert all(owner > asked for owner in owners[max(start, end_offset) : end])
    else:
        assert (floor, end_offset) == (-1, -1)
