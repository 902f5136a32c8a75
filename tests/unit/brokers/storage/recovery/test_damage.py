"""A disk that turns bytes of an open log: what is behind the damage is refused or read, and never skipped."""

import pytest

from brokers.effects import FindRanges, Range
from brokers.errors import KafkaError
from brokers.events import RangeFound, RangeRead, RangesFound
from brokers.ids import Offset
from brokers.log.config import LogConfig
from brokers.records.batch import parse_header
from tests.unit.brokers.storage.driver import TP, Driver, batch_at

SIZE = 20_000
DAMAGED = 5
LOG = f"{TP}/{0:020}.log"


def damaged(at: int, content: bytes, *, interval: int, is_sealed: bool) -> Driver:
    driver = Driver(config=LogConfig(), index_interval_bytes=interval)
    for number in range(10):
        driver.append(batch_at(number, size=SIZE))
    if is_sealed:
        driver.append(batch_at(10), roll_first=True)
    driver.files.damage(LOG, DAMAGED * len(batch_at(0, size=SIZE)) + at, content)  # type: ignore[attr-defined]
    return driver


def found(driver: Driver, offset: Offset) -> RangeFound:
    wanted = Range(TP, offset, driver.log.written_offset, 3 * SIZE)
    [answer] = driver.perform([FindRanges(1, (wanted,), 3 * SIZE)])
    assert isinstance(answer, RangesFound)
    return answer.found[0]


@pytest.mark.parametrize(
    ("at", "content"),
    [(8, b"\x7f\0\0\0"), (8, b"\0\0\0\1"), (16, b"\7")],
    ids=["too long", "too short", "no batch"],
)
@pytest.mark.parametrize("interval", [1, 1 << 20])
@pytest.mark.parametrize("is_sealed", [False, True])
@pytest.mark.parametrize("take", [Driver.read, found])
def test_what_lies_behind_damage_is_never_skipped_and_the_log_goes_on(
    at: int, content: bytes, interval: int, is_sealed: bool, take: object
) -> None:
    driver = damaged(at, content, interval=interval, is_sealed=is_sealed)
    for offset in (7, DAMAGED, 8, 7, DAMAGED):
        taken = take(driver, offset)  # type: ignore[operator]
        assert isinstance(taken, RangeRead | RangeFound)
        if taken.error == KafkaError.NONE:  # an index may lead behind the damage
            assert parse_header(bytes(taken.data)).base_offset == offset != DAMAGED
        else:
            assert (taken.error, taken.next_offset) == (KafkaError.CORRUPT_MESSAGE, offset)
    driver.append_next()
    assert driver.failure == ""
    assert driver.log.written_offset == driver.log.log_end_offset
