"""One cleaning after another of one log: Kafka's own scenarios."""

from dataclasses import replace

import pytest

from brokers.compaction import CleaningLimits
from brokers.events import LogCleaned
from brokers.log.cleanable import log_to_clean
from brokers.records.batch import DELETE_HORIZON, iter_headers, parse_header
from brokers.records.builder import NewRecord, build_batch
from brokers.records.record import open_batch
from brokers.storage.cleaning.cleaned_group import SEGMENTS_MAX
from tests.unit.brokers.storage.cleaning.keyed import (
    COMPACT,
    DAY,
    headers,
    keyed,
    new,
    records,
    rolled,
    sealed,
)
from tests.unit.brokers.storage.driver import NOW, TP


def test_the_last_record_of_each_key_is_left_at_its_offset() -> None:
    driver = new()
    keyed(driver, (b"a", b"1"), (b"b", b"1"))
    keyed(driver, (b"a", b"2"))
    keyed(driver, (b"c", b"1"), (b"a", b"3"))
    rolled(driver)
    events = driver.clean()
    assert sealed(driver) == [(1, b"b", b"1"), (3, b"c", b"1"), (4, b"a", b"3")]
    done = events[-1]
    assert isinstance(done, LogCleaned) and done.next_offset == 5 == driver.log.cleaner_offset
    # A batch keeps its offsets, also those that none of its records has any more.
    assert [(each.base_offset, each.next_offset) for each in headers(driver)][:2] == [
        (0, 2),
        (3, 5),
    ]
    assert (done.stats.records_read, done.stats.records_written) == (5, 3)


def test_the_active_segment_is_never_cleaned() -> None:
    driver = new()
    for number in range(3):
        keyed(driver, (b"a", b"%d" % number))
    driver.sync()
    driver.clean()
    assert len(records(driver)) == 3 and driver.log.cleaner_offset == 0


def test_a_later_cleaning_takes_clean_and_dirty_records_together() -> None:
    driver = new()
    keyed(driver, (b"a", b"1"), (b"b", b"1"), (b"c", b"1"))
    rolled(driver)
    driver.clean()
    keyed(driver, (b"b", b"2"))
    rolled(driver)
    driver.digest()
    driver.clean()
    assert [key for _, key, _ in sealed(driver)] == [b"a", b"c", b"b"]
    # Both segments have become one: they fit into one.
    assert [each.base_offset for each in driver.log.segments] == [0, 5]


def test_a_batch_of_which_nothing_is_removed_stays_as_it_is() -> None:
    driver = new()
    keyed(driver, (b"a", b"1"))
    rolled(driver)
    before = driver.read_all()
    names = driver.files_in()
    assert not [each for each in driver.clean() if not isinstance(each, LogCleaned)]
    assert driver.read_all() == before and driver.files_in() == names


def test_a_record_without_a_key_goes() -> None:
    driver = new()
    keyed(driver, (None, b"1"), (b"a", b"1"))
    rolled(driver)
    done = driver.clean()[-1]
    assert sealed(driver) == [(1, b"a", b"1")]
    assert isinstance(done, LogCleaned) and done.stats.records_without_key == 1


def test_a_deletion_marker_outlives_what_it_deleted_by_its_retention() -> None:
    config = replace(COMPACT, delete_retention_ms=DAY)
    driver = new(config)
    keyed(driver, (b"a", b"1"), (b"b", b"1"), timestamp=NOW - 5)
    keyed(driver, (b"a", None), (b"c", b"1"), timestamp=NOW - 3)
    rolled(driver)
    driver.clean(now=NOW)
    assert sealed(driver) == [(1, b"b", b"1"), (2, b"a", None), (3, b"c", b"1")]
    marked = headers(driver)[1]
    assert marked.attributes & DELETE_HORIZON and marked.base_timestamp == NOW + DAY
    data = driver.read_all()
    times = [
        record.timestamp
        for _, header in iter_headers(data)
        for record in open_batch(data[_ : _ + header.length])
    ]
    assert times[:3] == [NOW - 5, NOW - 3, NOW - 3]  # kept, although the base has changed
    rolled(driver)
    driver.clean(now=NOW + DAY - 1)
    assert (2, b"a", None) in sealed(driver)
    assert headers(driver)[1].base_timestamp == NOW + DAY  # the horizon is set once
    rolled(driver)
    driver.clean(now=NOW + DAY)
    assert sealed(driver) == [(1, b"b", b"1"), (3, b"c", b"1")]


def test_a_deletion_marker_that_is_deleted_late_hides_no_older_value() -> None:
    """The retention of the marker is over when it is cleaned for the first time."""
    driver = new(replace(COMPACT, delete_retention_ms=0))
    keyed(driver, (b"a", b"1"))
    rolled(driver)
    driver.clean()
    keyed(driver, (b"a", None), (b"b", b""))
    rolled(driver)
    driver.clean(now=NOW + DAY)
    assert (b"a", b"1") not in [each[1:] for each in records(driver)]
    rolled(driver)
    driver.clean(now=NOW + 2 * DAY)
    assert b"a" not in [key for _, key, _ in records(driver)]


@pytest.mark.parametrize("codec", [0, 1, 2, 3, 4])
def test_a_compressed_batch_stays_compressed(codec: int) -> None:
    driver = new(replace(COMPACT, segment_bytes=1 << 20))
    pairs = [NewRecord(b"k%d" % (number % 7), b"value " * 40) for number in range(90)]
    driver.append(_compressed(build_batch(pairs, timestamp=NOW, leader_epoch=0), codec))
    rolled(driver)
    driver.clean()
    assert [offset for offset, _, _ in sealed(driver)] == list(range(83, 90))
    assert headers(driver)[0].compression == codec and headers(driver)[0].record_count == 7


def _compressed(batch: bytearray, codec: int) -> bytearray:
    from brokers.records.batch import pack_header, renew_crc
    from brokers.records.recompression import compress

    header = parse_header(batch)
    packed = compress(codec, bytes(batch[61:]), 1)
    out = bytearray(61) + packed
    pack_header(out, header._replace(length=len(out), attributes=header.attributes | codec))
    renew_crc(out, 0, len(out))
    return out


def test_the_last_sequence_of_an_active_producer_is_kept_in_an_empty_batch() -> None:
    driver = new()
    producer = {"producer_id": 7, "producer_epoch": 2}
    keyed(driver, (b"first", b"1"))
    keyed(driver, (b"a", b"1"), base_sequence=0, **producer)
    keyed(driver, (b"a", b"2"), (b"b", b"1"), base_sequence=1, **producer)
    keyed(driver, (b"a", b"3"), (b"b", b"2"))
    rolled(driver)
    driver.clean()
    kept = headers(driver)[1]
    assert (kept.base_offset, kept.last_offset_delta, kept.record_count) == (2, 1, 0)
    assert (kept.producer_id, kept.producer_epoch, kept.base_sequence) == (7, 2, 1)
    for name in driver.files_in(".snapshot"):
        driver.files.remove(f"{TP}/{name}")
    driver.start()  # the state comes from the batches alone
    (state,) = driver.log.producers.entries
    assert state.batches[-1].last_sequence == 2


def test_an_empty_batch_goes_when_its_producer_goes_on() -> None:
    driver = new()
    producer = {"producer_id": 7, "producer_epoch": 0}
    keyed(driver, (b"first", b"1"))
    keyed(driver, (b"a", b"1"), base_sequence=0, **producer)
    keyed(driver, (b"a", b"2"))
    rolled(driver)
    driver.clean()
    assert [each.record_count for each in headers(driver)] == [1, 0, 1, 1]
    keyed(driver, (b"b", b"1"), base_sequence=1, **producer)
    rolled(driver)
    driver.clean()
    assert [each.base_offset for each in headers(driver)][:2] == [0, 2]


def test_the_first_batch_of_each_leader_epoch_is_kept_in_an_empty_batch() -> None:
    driver = new()
    for leader_epoch in (0, 0, 3, 3, 4):
        keyed(driver, (b"a", b"1"), leader_epoch=leader_epoch)
    keyed(driver, (b"a", b"2"), leader_epoch=4)
    rolled(driver)
    driver.clean()
    found = [(each.base_offset, each.leader_epoch, each.record_count) for each in headers(driver)]
    assert found[:4] == [(0, 0, 0), (2, 3, 0), (4, 4, 0), (5, 4, 1)]
    copied = new()
    data = driver.read_all()
    for at, header in iter_headers(data):
        copied.append(bytearray(data[at : at + header.length]))
    assert copied.log.epochs.entries == driver.log.epochs.entries


def test_a_buffer_that_is_too_small_cleans_what_fits_into_it() -> None:
    driver = new(limits=CleaningLimits(12 * 32, 1.0, 1 << 16, 1e12))
    for number in range(60):
        keyed(driver, (b"k%d" % number, b"1"))
        keyed(driver, (b"k%d" % number, b"2"))
    rolled(driver)
    done = driver.clean()[-1]
    assert isinstance(done, LogCleaned) and done.next_offset is not None
    assert 56 <= done.next_offset <= 60 and done.stats.map_utilization > 0.9
    for _ in range(9):
        found = log_to_clean(driver.log, COMPACT, driver.log.log_end_offset, NOW)
        assert (found.cleanable_bytes == 0) == (found.first_dirty == found.first_uncleanable)
        driver.clean()
    assert [value for _, _, value in sealed(driver)] == [b"2"] * 60


def test_a_batch_with_more_keys_than_the_buffer_makes_the_log_uncleanable() -> None:
    driver = new(limits=CleaningLimits(12 * 32, 1.0, 1 << 16, 1e12))
    keyed(driver, *((b"k%d" % number, b"") for number in range(50)))
    rolled(driver)
    done = driver.clean()[-1]
    assert isinstance(done, LogCleaned) and done.next_offset is None and done.is_final
    assert "log.cleaner.dedupe.buffer.size" in done.reason


def test_a_damaged_segment_ends_the_cleaning_and_nothing_is_changed() -> None:
    driver = new()
    keyed(driver, (b"a", b"1"))
    keyed(driver, (b"a", b"2"))
    rolled(driver)
    driver.files.damage(f"{TP}/{0:020d}.log", 66, b"?")  # type: ignore[attr-defined]
    done = driver.clean()[-1]
    assert isinstance(done, LogCleaned) and done.is_final and "checksum at byte 0" in done.reason
    assert driver.log.cleaner_offset == 0 and len(driver.log.segments) == 2


def test_a_full_disk_ends_the_cleaning_for_now() -> None:
    driver = new()
    keyed(driver, (b"a", b"1"))
    keyed(driver, (b"a", b"2"))
    rolled(driver)
    driver.files.full_after(10)  # type: ignore[attr-defined]
    done = driver.clean()[-1]
    assert isinstance(done, LogCleaned) and done.next_offset is None and not done.is_final
    assert "full" in done.reason
    driver.files.full_after(None)  # type: ignore[attr-defined]
    driver.clean()
    assert [value for _, _, value in sealed(driver)] == [b"2"]


def test_a_run_of_segments_without_a_live_record_becomes_one_with_the_next_that_has_one() -> None:
    """librdkafka takes a dozen answers without a record for one that is too large for it."""
    driver = new()
    for number in range(30):
        keyed(driver, (b"a", b"%02d" % number * 700))  # each fills a segment
    keyed(driver, (b"b", bytes(900)))
    rolled(driver)
    assert len(driver.log.segments) > 30
    driver.clean()
    # The first one is the leader epoch's.
    assert [each.record_count for each in headers(driver)] == [0, 1, 1, 1]
    assert [each.base_offset for each in driver.log.segments] == [0, 30, 31]
    driver.start()
    assert [key for _, key, _ in sealed(driver)] == [b"a", b"b"]
    assert [each.base_offset for each in driver.log.segments] == [0, 30, 31]


def test_of_very_many_segments_a_hundred_become_one() -> None:
    driver = new()
    for number in range(SEGMENTS_MAX + 20):
        keyed(driver, (b"a", b"%d" % number * 500))
    rolled(driver)
    before = len(driver.log.segments)
    driver.clean()
    assert before > SEGMENTS_MAX + 1 and len(driver.log.segments) == 3
    assert [each.record_count for each in headers(driver)] == [0, 0, 1, 1]
    driver.clean()
    assert [each.record_count for each in headers(driver)] == [0, 1, 1]
