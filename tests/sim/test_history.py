"""What was written in one region, and what others have of it."""

import pytest

from brokers.ids import LeaderEpoch, Offset, TopicPartition
from brokers.records.builder import NewRecord, build_batch
from tests.sim.evidence import parse
from tests.sim.history import History

ORDERS = TopicPartition("orders", 0)


def writes(history: History, offset: Offset, key: bytes, epoch: LeaderEpoch = 1) -> None:
    records = [NewRecord(key, b"%s at %d" % (key, offset))]
    data = build_batch(records, timestamp=0, base_offset=offset, leader_epoch=epoch)
    for batch in parse(bytes(data)):
        assert not history.witness(ORDERS, batch)


@pytest.mark.parametrize(
    ("offset", "key", "epoch", "is_replaced"),
    [
        (7, b"a", 1, True),
        (7, b"b", 1, False),  # of another key
        (7, b"a", 2, False),  # of another history
        (3, b"a", 1, False),  # not later
    ],
)
def test_what_another_region_has_a_later_record_of_is_replaced_there(
    offset: Offset, key: bytes, epoch: LeaderEpoch, is_replaced: bool
) -> None:
    """`--rounds --compacted` 118: that region got a log from which the earlier record had been cleaned away."""
    west, east = History(), History()
    west.is_copied("orders", east, "orders")
    writes(west, 3, b"a")
    writes(west, 7, b"a")
    assert not west.is_replaced_beside(ORDERS, b"a", 3)
    writes(east, offset, key, epoch)
    assert west.is_replaced_beside(ORDERS, b"a", 3) == is_replaced
