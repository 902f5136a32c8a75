"""What is found is what would be read, whatever the batches, the bounds and the limits."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brokers.effects import FindRanges, Range
from brokers.errors import KafkaError
from brokers.events import RangeFound, RangesFound
from brokers.ids import Buffer, Offset
from brokers.log.config import LogConfig
from tests.sim.files import SimFiles
from tests.sim.stored_file import SimRange
from tests.unit.brokers.storage.driver import TP, Driver

KIB = 1 << 10
LARGE = LogConfig(segment_bytes=400 * KIB)


class CountingFiles(SimFiles):
    """Counts the bytes that are read."""

    def __init__(self) -> None:
        super().__init__()
        self.bytes_read = 0

    def read(self, path: str, position: int, size: int) -> Buffer:
        data = super().read(path, position, size)
        self.bytes_read += len(data)
        return data


def find(driver: Driver, offset: Offset, bound: Offset, size_max: int) -> RangeFound:
    (found,) = find_all(driver, [Range(TP, offset, bound, size_max)])
    return found


def find_all(driver: Driver, ranges: list[Range], size_max: int = 1 << 30) -> Sequence[RangeFound]:
    (event,) = driver.perform([FindRanges(7, tuple(ranges), size_max)])
    assert isinstance(event, RangesFound)
    return event.found


def log_of(sizes: list[int], config: LogConfig = LARGE) -> tuple[Driver, CountingFiles]:
    files = CountingFiles()
    driver = Driver(files, config=config, index_interval_bytes=4096)
    for size in sizes:
        driver.append_next(size=size)
    return driver, files


LIMITS = st.sampled_from([0, 1, 20_000, 32_768, 60_000, 150_000, 300_000, 1 << 20])


@given(
    st.lists(st.sampled_from([10, 1_000, 5_000, 15_000, 40_000, 120_000]), min_size=1, max_size=60),
    st.lists(
        st.tuples(
            st.lists(st.tuples(st.integers(0, 60), st.integers(0, 61), LIMITS), max_size=4), LIMITS
        ),
        max_size=8,
    ),
)
@settings(max_examples=60, deadline=None)
def test_what_is_found_is_what_would_be_read_one_after_another(sizes, requests) -> None:
    driver, _ = log_of(sizes)
    end = driver.log.written_offset
    for wanted, left in requests:
        ranges = [
            Range(TP, min(offset, end), min(bound, end), limit) for offset, bound, limit in wanted
        ]
        all_found, is_first = find_all(driver, ranges, left), True
        for (_, offset, bound, limit), found in zip(ranges, all_found, strict=True):
            if left <= 0 and not is_first:
                assert (bytes(found.data), found.next_offset) == (b"", offset)
                continue
            read = driver.read(offset, bound, max(0, min(limit, left)), at_least_one=is_first)
            assert bytes(found.data) == bytes(read.data)
            assert (found.next_offset, found.error) == (read.next_offset, read.error)
            left -= len(read.data)
            is_first = is_first and not read.data


@pytest.mark.parametrize("size", [100, 1_000, 15_000, 100_000])
def test_a_sequential_reader_gets_all_of_it_for_a_few_headers(size: int) -> None:
    driver, files = log_of([size] * (1_200_000 // size))
    size_read, finds, offset, files.bytes_read = 0, 0, 0, 0
    while offset < driver.log.written_offset:
        found = find(driver, offset, driver.log.written_offset, 150 * KIB)
        is_last = found.next_offset == driver.log.written_offset
        assert isinstance(found.data, SimRange) or is_last
        offset, size_read, finds = found.next_offset, size_read + len(found.data), finds + 1
    assert size_read > 1_200_000
    assert files.bytes_read < finds * 66 * KIB
    if size > 10_000:
        assert files.bytes_read <= 3 * finds * 61


def test_a_little_is_read_at_once() -> None:
    driver, _ = log_of([1_000] * 100)
    assert isinstance(find(driver, 0, 100, 16 * KIB).data, bytes | memoryview)
    assert isinstance(find(driver, 95, 100, 1 << 20).data, bytes | memoryview)


def test_an_index_that_leads_astray_is_not_believed() -> None:
    driver, _ = log_of([10_000] * 30)
    expected = driver.read(0, 30, 150 * KIB)
    index = driver.storage._logs[TP].active.index
    for number in range(len(index)):
        last_offset, position = index.entry(number)
        index.data[number * 8 : number * 8 + 8] = (last_offset).to_bytes(4, "big") + (
            position + 7
        ).to_bytes(4, "big")
    found = find(driver, 0, 30, 150 * KIB)
    assert bytes(found.data) == bytes(expected.data)
    assert found.next_offset == expected.next_offset


def test_what_cannot_be_found_says_why() -> None:
    driver, _ = log_of([10])
    assert find(driver, 5, 9, 100).error == KafkaError.OFFSET_OUT_OF_RANGE
    driver.close()
    assert find(driver, 0, 1, 100).error == KafkaError.KAFKA_STORAGE_ERROR
