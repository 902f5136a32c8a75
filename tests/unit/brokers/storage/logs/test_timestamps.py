"""Lookups by time in batches that are compressed, broken or stamped by the broker; the rest is in `test_machine`."""

import pytest

from brokers.log.config import LogConfig
from brokers.records.batch import HEADER_SIZE, parse_header, renew_crc, stamp, stamp_append_time
from brokers.records.builder import NewRecord, build_batch
from brokers.storage.logs.timestamps import RECORDS_OPENED_MAX
from tests.unit.brokers.records.batches import foreign_batch
from tests.unit.brokers.storage.driver import NOW, Driver, batch_at


def compressed_at(offset: int, times: list[int], codec: int) -> bytearray:
    batch = bytearray(
        foreign_batch([NewRecord(None, b"value" * 20, (), NOW + time) for time in times], codec)
    )
    stamp(batch, 0, offset, 0)
    return batch


@pytest.mark.parametrize("codec", [0, 1, 2, 3, 4])
def test_the_record_is_found_within_its_batch(codec: int) -> None:
    driver = Driver()
    driver.append(compressed_at(0, [0, 5, 3], codec))
    driver.append(compressed_at(3, [2, 9], codec))
    asked = [-1, 0, 1, 4, 5, 6, 9]
    found = [driver.find(NOW + time) for time in asked]
    times = [(0, 0), (0, 0), (1, 5), (1, 5), (1, 5), (4, 9), (4, 9)]
    assert found == [(offset, NOW + time) for offset, time in times]
    assert driver.find(NOW + 10) == (-1, -1)
    assert driver.find(-3) == (4, NOW + 9)


def test_records_below_the_log_start_are_not_found() -> None:
    driver = Driver()
    driver.append(compressed_at(0, [7, 1, 2, 7], 0))
    driver.perform(driver.log.trim(1))
    assert driver.find(NOW) == (1, NOW + 1)
    assert driver.find(NOW + 3) == (3, NOW + 7)
    assert driver.find(-3) == (3, NOW + 7)


def test_the_largest_of_equals_is_the_first() -> None:
    driver = Driver(config=LogConfig(segment_bytes=400))
    for offset in range(12):
        driver.append(batch_at(offset, timestamp=NOW + offset % 3))
    assert driver.find(-3) == (2, NOW + 2)
    assert driver.find(-3, bound=2) == (1, NOW + 1)
    assert driver.find(-3, bound=0) == (-1, -1)


def test_broker_time_is_the_time_of_every_record() -> None:
    driver = Driver()
    batch = compressed_at(0, [0, 1, 2], 0)
    stamp_append_time(batch, 0, NOW + 50)
    driver.append(batch)
    assert driver.find(NOW + 3) == (0, NOW + 50)
    assert driver.find(-3) == (0, NOW + 50)


def test_a_batch_that_nobody_can_open_answers_with_its_header() -> None:
    driver = Driver()
    batch = compressed_at(0, [0, 1, 2], 4)
    batch[70:90] = bytes(20)
    header = parse_header(batch)
    assert header.compression == 4
    driver.append(batch, compressed_at(3, [8], 0))
    assert driver.find(NOW + 1) == (0, NOW + 2)
    assert driver.find(NOW + 3) == (3, NOW + 8)
    driver.perform(driver.log.trim(1))
    assert driver.find(NOW + 1) == (1, NOW + 2)


@pytest.mark.parametrize("claim", ["offset", "time"])
def test_a_record_that_claims_to_lie_outside_its_batch_leads_nobody_astray(claim: str) -> None:
    driver = Driver()
    lying = batch_at(0)
    if claim == "offset":
        lying[HEADER_SIZE + 3] = 0x7E
    else:
        lying[27:35] = (2**63 - 1).to_bytes(8, "big")
        lying[HEADER_SIZE + 2] = 2  # one later: no number of the answer can hold it
    renew_crc(lying, 0, len(lying))
    driver.append(lying, batch_at(1, timestamp=NOW + 5))
    assert driver.find(NOW) == (0, NOW)
    assert driver.find(NOW + 1) == (1, NOW + 5)


def test_a_batch_of_too_many_records_answers_with_its_header() -> None:
    driver = Driver(config=LogConfig(segment_bytes=1 << 30))
    records = [NewRecord(None, None, (), NOW + number) for number in range(RECORDS_OPENED_MAX + 1)]
    driver.append(build_batch(records[:-1], timestamp=NOW))
    assert driver.find(NOW + 70) == (70, NOW + 70)
    driver.append(build_batch(records, timestamp=NOW, base_offset=RECORDS_OPENED_MAX))
    assert driver.find(NOW + RECORDS_OPENED_MAX) == (RECORDS_OPENED_MAX, NOW + RECORDS_OPENED_MAX)


def test_a_header_that_promises_too_late_a_time_is_not_believed() -> None:
    driver = Driver()
    lying = compressed_at(0, [0, 1], 0)
    lying[35:43] = (NOW + 99).to_bytes(8, "big")
    driver.append(lying, batch_at(2, timestamp=NOW + 60))
    assert driver.find(NOW + 50) == (2, NOW + 60)
    assert driver.find(NOW + 70) == (-1, -1)


def test_records_without_timestamps_are_never_found() -> None:
    driver = Driver()
    driver.append(batch_at(0, 2, timestamp=-1))
    assert driver.find(0) == (-1, -1)
    assert driver.find(-3) == (-1, -1)
