"""What a broker tells those who watch it."""

import pytest

from brokers.events import Written
from brokers.ids import TopicPartition
from brokers.region import PartitionAdvanced, WatchRegion
from tests.unit.brokers.api.whole import NOW, Whole

PARTITION = TopicPartition("orders", 0)


@pytest.mark.parametrize(
    ("watched", "told"),
    [
        ([], []),
        ([WatchRegion(logs=False)], []),
        ([WatchRegion(logs=True)], [PartitionAdvanced(PARTITION)]),
        ([WatchRegion(logs=True), WatchRegion(logs=False)], []),
    ],
)
def test_a_write_is_told_only_while_the_logs_are_watched(
    watched: list[WatchRegion], told: list[PartitionAdvanced]
) -> None:
    whole = Whole()
    whole.create("orders")
    for watch in watched:
        assert whole.broker.step(watch, NOW) == []
    assert whole.broker.step(Written(PARTITION, 0), NOW) == told
