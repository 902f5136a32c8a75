"""What a cleaning changes in an open log, and what happens to the log meanwhile."""

from dataclasses import replace

from brokers.records.batch import parse_header
from brokers.storage.segments.segment_digest import decode
from tests.unit.brokers.storage.cleaning.keyed import (
    COMPACT,
    DAY,
    keyed,
    new,
    records,
    rolled,
    sealed,
)
from tests.unit.brokers.storage.driver import NOW, TP, Driver


def test_the_digest_is_written_anew_for_a_cleaned_segment() -> None:
    driver = new()
    keyed(driver, (b"a", b"1"))
    keyed(driver, (b"a", b"2"))
    rolled(driver)
    driver.clean()
    assert not driver.log.segments[0].is_sealed and driver.files_in(".digest") == []
    driver.digest()
    assert driver.log.segments[0].is_sealed
    (name,) = driver.files_in(".digest")
    path = f"{TP}/{name}"
    whole, rows, _ = decode(driver.files.read(path, 0, driver.files.size(path)))
    assert (whole.records, whole.size) == (1, driver.log.segments[0].size)
    assert [row.base_offset for row in rows] == [0, 1]  # the first one is empty


def test_a_digest_that_was_being_written_of_replaced_bytes_does_not_stay() -> None:
    driver = new()
    keyed(driver, (b"a", b"1"))
    keyed(driver, (b"a", b"2"))
    rolled(driver)
    driver.files.remove(f"{TP}/{0:020d}.digest")
    driver.start()
    driver.sync()
    writing = driver.storage.begin_digest(TP)
    steps = writing.steps()
    next(steps)
    for segment in driver.log.segments:
        segment.is_sealed = True
    driver.clean()
    assert list(steps) == [] and driver.storage.end_digest(TP, writing) == []
    assert driver.files_in(".digest") == [] and TP in driver.storage.undigested


def test_a_reader_inside_a_removed_range_goes_on_at_the_next_batch() -> None:
    driver = new()
    for number in range(4):
        keyed(driver, (b"a", b"%d" % number))
    rolled(driver)
    driver.clean()
    found = driver.read(1)
    assert parse_header(found.data).base_offset == 3 and found.next_offset == 4


def test_a_range_that_was_found_before_is_read_as_it_was() -> None:
    from brokers.effects import FindRanges, Range

    driver = new(replace(COMPACT, segment_bytes=1 << 20))
    for number in range(50):
        keyed(driver, (b"a", b"%d" % number * 1_000))
    rolled(driver)
    before = driver.read_all()
    (found,) = driver.perform([FindRanges(1, (Range(TP, 0, 50, 1 << 20),), 1 << 20)])[0].found  # type: ignore[union-attr]
    driver.clean()
    assert len(sealed(driver)) == 1
    assert bytes(found.data) == before[: len(found.data)] and len(found.data) > 1 << 15


def test_a_timestamp_is_found_after_a_cleaning() -> None:
    driver = new()
    for number in range(30):
        keyed(driver, (b"k%d" % (number % 3), b"v" * 50), timestamp=NOW + number)
    rolled(driver)
    driver.clean()
    assert driver.find(NOW + 5) == (27, NOW + 27)
    assert driver.find(-3) == (29, NOW + 29)


def test_the_largest_timestamp_is_that_of_a_record_though_an_empty_batch_claims_more() -> None:
    driver = new()
    keyed(driver, (b"b", b"1"), timestamp=NOW + 1)
    producer = {"producer_id": 7, "producer_epoch": 0, "base_sequence": 0}
    keyed(driver, (b"a", b"1"), timestamp=NOW + 9, **producer)
    keyed(driver, (b"a", b"2"), timestamp=NOW + 2)
    rolled(driver)
    driver.clean()
    assert driver.find(-3, 3) == (2, NOW + 2)


def test_a_segment_without_records_is_put_in_place_as_it_was_written() -> None:
    driver = new(replace(COMPACT, delete_retention_ms=0))
    keyed(driver, (b"a", None))
    rolled(driver)
    driver.clean()
    driver.digest()
    driver.begin_cleaning(now=NOW + 1)
    syncs = driver.files.syncs  # type: ignore[attr-defined]
    for _ in driver.cleaning_steps():
        pass
    assert driver.files.syncs == syncs  # type: ignore[attr-defined]
    for _ in range(2):
        assert driver.log.segments[0].max_timestamp == -1 and sealed(driver) == []
        assert driver.find(NOW, 1) == (-1, -1)
        driver.start()


def test_a_log_that_was_cut_meanwhile_keeps_what_it_has() -> None:
    driver = new()
    for number in range(6):
        keyed(driver, (b"a", b"v%d" % number * 300))
    rolled(driver)
    driver.perform([])
    steps = _begun(driver)
    driver.perform(driver.log.truncate(3))
    for _ in steps:
        pass
    assert [offset for offset, _, _ in records(driver)] == [0, 1, 2]
    assert driver.storage.cleanings.pending == {} and driver.log.cleaner_offset <= 3


def test_a_log_that_was_trimmed_meanwhile_is_cleaned_the_next_time() -> None:
    driver = new()
    for number in range(12):
        keyed(driver, (b"a", b"v%d" % number * 300))
    rolled(driver)
    steps = _begun(driver)
    driver.perform(driver.log.trim(driver.log.segments[1].base_offset))
    for _ in steps:
        pass
    first = driver.log.segments[0].base_offset
    assert [offset for offset, _, _ in records(driver)] == list(range(first, 13))
    driver.clean()
    assert [offset for offset, _, _ in records(driver)] == [11, 12]


def _begun(driver: Driver):
    """A cleaning that is about to swap in its first segment."""
    from brokers.effects import CleanLog

    end = driver.log.segments[-1].base_offset
    driver.perform([CleanLog(TP, 0, end, NOW, DAY, 2_000, (), driver.limits)])
    cleaning = driver.storage.cleanings.begin(TP)
    from brokers.storage.cleaning.log_cleaning import LogCleaning

    steps = list(LogCleaning(driver.files, cleaning.plan).steps())

    def rest():
        for step in steps:
            if not isinstance(step, int) and hasattr(step, "size"):
                swap = driver.storage.cleanings.begin_swap(TP, cleaning, step)
                while not swap.is_over:
                    driver.follow(swap.advance())
                    yield
                    swap.sync()
                continue
            elif not isinstance(step, int):
                driver.follow(driver.storage.cleanings.end(TP, cleaning, step))
            yield

    return rest()


def test_the_checkpoint_survives_a_restart_and_sinks_with_a_truncation() -> None:
    driver = new()
    keyed(driver, (b"a", b"1"))
    keyed(driver, (b"a", b"2"))
    rolled(driver)
    driver.clean()
    content = bytes(driver.files.read("cleaner-offset-checkpoint", 0, 99))
    assert content == b"0\n1\nflights 0 2\n"
    driver.start()
    assert driver.log.cleaner_offset == 2
    driver.perform(driver.log.truncate(1))
    assert driver.log.cleaner_offset <= 1
