"""Aborted data and markers: Kafka's rules of CleanedTransactionMetadata, as a log with transactions is cleaned."""

from dataclasses import replace

from brokers.records.batch import DELETE_HORIZON
from brokers.records.builder import NewRecord, build_batch
from tests.unit.brokers.storage.cleaning.keyed import (
    COMPACT,
    DAY,
    headers,
    keyed,
    new,
    rolled,
    sealed,
)
from tests.unit.brokers.storage.driver import NOW, Driver

P = {"producer_id": 5, "producer_epoch": 0, "transactional": True}


def marker(driver: Driver, kind: int) -> int:
    base = driver.log.log_end_offset
    record = NewRecord(bytes([0, 0, 0, kind]), bytes(6))
    driver.append(
        build_batch([record], timestamp=NOW, base_offset=base, leader_epoch=0, is_control=True, **P)
    )
    return base


def test_aborted_data_goes_at_once_and_does_not_hide_what_was_there() -> None:
    driver = new()
    keyed(driver, (b"a", b"committed"))
    keyed(driver, (b"a", b"aborted"), (b"b", b"aborted"), base_sequence=0, **P)
    marker(driver, 0)
    keyed(driver, (b"c", b"1"), base_sequence=2, **P)
    marker(driver, 1)
    rolled(driver)
    driver.clean()
    assert sealed(driver) == [(0, b"a", b"committed"), (4, b"c", b"1")]


def test_the_marker_of_an_aborted_transaction_goes_after_its_data_by_its_horizon() -> None:
    driver = new(replace(COMPACT, delete_retention_ms=DAY))
    keyed(driver, (b"first", b"1"))
    keyed(driver, (b"a", b"aborted"), base_sequence=0, **P)
    at = marker(driver, 0)
    keyed(driver, (b"c", b"1"), base_sequence=1, **P)
    marker(driver, 1)
    rolled(driver)

    def found() -> list[tuple[int, bool]]:
        return [
            (each.base_offset, bool(each.attributes & DELETE_HORIZON))
            for each in headers(driver)
            if each.is_control
        ]

    driver.clean()
    assert found() == [(at, False), (4, False)]  # in this cleaning its data was still there
    rolled(driver)
    driver.clean(now=NOW + 1)
    assert found() == [(at, True), (4, False)]
    rolled(driver)
    driver.clean(now=NOW + DAY)
    assert found() == [(at, True), (4, False)]
    rolled(driver)
    driver.clean(now=NOW + DAY + 1)
    assert found() == [(4, False)]


def test_a_commit_marker_stays_while_data_of_its_transaction_is_left() -> None:
    driver = new(replace(COMPACT, delete_retention_ms=0))
    keyed(driver, (b"a", b"1"), (b"b", b"1"), base_sequence=0, **P)
    at = marker(driver, 1)
    for _ in range(4):
        keyed(driver, (b"b", b"2"))
        rolled(driver)
        driver.clean()
    assert at in [each.base_offset for each in headers(driver) if each.is_control]


def test_the_last_marker_of_a_producer_without_data_is_kept_for_its_epoch() -> None:
    driver = new(replace(COMPACT, delete_retention_ms=0))
    at = marker(driver, 0)
    for number in range(4):
        keyed(driver, (b"b", b"%d" % number))
        rolled(driver)
        driver.clean(now=NOW + number)
    kept = headers(driver)[0]
    assert (kept.base_offset, kept.is_control, kept.producer_id) == (at, True, 5)
    assert kept.record_count == 0
