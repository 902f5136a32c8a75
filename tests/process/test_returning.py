"""A region that was killed and failed over comes back while its producers go on trying: it acknowledges nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import KafkaException

from tests.process.ledger import Ledger, create_topic, read_all
from tests.process.regions import Regions
from tests.process.test_link import PARTITIONS, produce

FIRST = 500


@pytest.fixture
def regions(tmp_path: Path) -> Iterator[Regions]:
    both = Regions(tmp_path)
    both.up()
    create_topic(both.bootstrap("west"), "orders", PARTITIONS)
    both.link("orders")
    yield both
    both.down()


def test_a_region_that_was_taken_over_acknowledges_nothing_after_its_return(
    regions: Regions,
) -> None:
    west = regions.bootstrap("west")
    ledger = Ledger(west, "orders", PARTITIONS, pause_s=0.001)
    ledger.start()
    ledger.wait_for(FIRST)
    regions.kill("west")
    regions.stop_mirroring("failover", "orders")
    acknowledged = dict(ledger.acknowledged)
    regions.up()
    with pytest.raises(KafkaException, match="POLICY_VIOLATION"):
        produce(west, b"after the return")
    ledger.close()
    assert ledger.acknowledged == acknowledged
    assert set(acknowledged.values()) <= set(read_all(west, "orders", PARTITIONS))
    produce(regions.bootstrap("east"), b"now here")


def test_a_region_that_was_not_taken_over_goes_on_once_its_link_has_said_so(
    regions: Regions,
) -> None:
    west = regions.bootstrap("west")
    produce(west, b"1")
    regions.kill("west")
    regions.up()
    produce(west, b"2")
    held = read_all(west, "orders", PARTITIONS)
    assert held == {(0, 0): 1, (0, 1): 2}
    regions.wait_caught_up("orders", {0: 2, 1: 0})
