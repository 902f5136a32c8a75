"""What a mirror's log was copied without counts as left out until the log has a later record of the same key."""

import pytest

from brokers.ids import TopicPartition
from brokers.records.builder import NewRecord, build_batch
from tests.sim.evidence import Batch, parse
from tests.sim.history import Truth, Written
from tests.sim.linked.left_out import LeftOut
from tests.sim.regions.compacted_logs import CompactedLog, removed

PARTITION = TopicPartition("orders", 0)
NUMBER = 21


def copied(offset: int, key: bytes) -> Batch:
    """A batch of one record."""
    (batch,) = parse(
        bytes(build_batch([NewRecord(key, b"value")], timestamp=0, base_offset=offset))
    )
    return batch


@pytest.fixture
def left_out() -> LeftOut:
    """Of a log whose first batch lay at 2, and had been written behind records of `g` and `h`."""
    found = LeftOut()
    found.copied(NUMBER, PARTITION, copied(2, b"e"), {0: b"g", 1: b"h"})
    return found


def test_what_nothing_here_has_replaced_is_left_out(left_out: LeftOut) -> None:
    assert set(left_out.of(NUMBER, PARTITION)) == {0, 1}


def test_a_later_record_of_the_key_replaces_it_for_good(left_out: LeftOut) -> None:
    """So a log that is cut below that one, and does not begin anew, is found."""
    left_out.copied(NUMBER, PARTITION, copied(3, b"g"), {})
    assert set(left_out.of(NUMBER, PARTITION)) == {1}


def test_a_log_that_begins_anew_has_left_out_nothing_yet(left_out: LeftOut) -> None:
    left_out.begins(NUMBER, PARTITION)
    assert not left_out.of(NUMBER, PARTITION)


@pytest.mark.parametrize(("known", "findings"), [(frozenset(), 1), (frozenset({0}), 0)])
def test_it_is_no_record_that_cleaning_took_too_early(known: frozenset[int], findings: int) -> None:
    g, e = Written(b"g", b"1", False), Written(b"e", b"2", False)
    log = CompactedLog(0, 3, (), {2: e}, {}, known)
    found = list(removed(log, Truth({0: g, 2: e}, {}), markers_last=True))
    assert len(found) == findings
