from hypothesis import given
from hypothesis import strategies as st

from brokers.storage.segments.indexes import OffsetEntry, OffsetIndex, TimeIndex

BASE = 1_000_000_000_000


def test_entries_are_kafkas_bytes() -> None:
    index = OffsetIndex(BASE)
    index.add(BASE + 9, 4_321)
    assert bytes(index.data) == (9).to_bytes(4, "big") + (4_321).to_bytes(4, "big")
    times = TimeIndex(BASE)
    times.add(77, BASE + 9)
    assert bytes(times.data) == (77).to_bytes(8, "big") + (9).to_bytes(4, "big")


def test_an_empty_index_leads_to_the_beginning() -> None:
    assert OffsetIndex(BASE).floor(BASE + 5) == 0
    assert OffsetIndex(BASE).last() is None
    assert OffsetIndex(BASE).before(BASE + 5, 100) == 0
    assert TimeIndex(BASE).floor(5) == BASE
    assert TimeIndex(BASE).last() is None


def test_a_timestamp_that_is_no_new_maximum_is_left_out() -> None:
    times = TimeIndex(BASE)
    for timestamp, offset in [(5, 1), (5, 2), (3, 3), (6, 4)]:
        times.add(timestamp, BASE + offset)
    assert [times.entry(number) for number in range(len(times))] == [(5, BASE + 1), (6, BASE + 4)]


steps = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 500)), max_size=30)


@given(steps, st.integers(-5, 300), st.integers(0, 16_000))
def test_lookups_find_what_a_linear_search_finds(
    steps: list[tuple[int, int]], offset: int, position: int
) -> None:
    index, entries, at = OffsetIndex(BASE), [], (BASE, 0)
    for offset_step, position_step in steps:
        at = (at[0] + offset_step, at[1] + position_step)
        index.add(*at)
        entries.append(OffsetEntry(*at))
    restored = OffsetIndex(BASE, bytes(index.data))
    asked = BASE + offset
    below = [entry for entry in entries if entry.last_offset <= asked]
    assert restored.floor(asked) == (below[-1].position if below else 0)
    both = [entry for entry in entries if entry.last_offset < asked and entry.position <= position]
    assert restored.before(asked, position) == len(both)
    assert restored.last() == (entries[-1] if entries else None)


@given(st.lists(st.integers(0, 50), max_size=30), st.integers(-5, 60))
def test_no_batch_before_the_floor_of_a_timestamp_reaches_it(times: list[int], asked: int) -> None:
    index = TimeIndex(BASE)
    largest, offset_of_largest = -1, -1
    for number, timestamp in enumerate(times):
        if timestamp > largest:
            largest, offset_of_largest = timestamp, BASE + number
        if number % 3 == 2:
            index.add(largest, offset_of_largest)
    floor = index.floor(asked)
    assert all(timestamp < asked for timestamp in times[: floor - BASE])
