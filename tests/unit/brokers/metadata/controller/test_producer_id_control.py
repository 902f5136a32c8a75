"""Producer ids are never handed out twice, nor by two regions."""

import pytest

from brokers.errors import KafkaError, Refusal
from brokers.metadata.commands.producer_id_commands import AllocateProducerIds, ProducerIdBlock
from brokers.metadata.controller.producer_id_control import (
    BLOCK_SIZE,
    REGION_IDS,
    ProducerIdManager,
)
from brokers.metadata.image.image import first_producer_id
from tests.unit.brokers.metadata.images import Region


def test_blocks_follow_one_another_from_the_regions_own_start() -> None:
    region = Region()
    first = region.do(AllocateProducerIds(1))
    second = region.do(AllocateProducerIds(1))
    start = first_producer_id("region-one")
    assert first == ProducerIdBlock(start, start + BLOCK_SIZE)
    assert second == ProducerIdBlock(start + BLOCK_SIZE, start + 2 * BLOCK_SIZE)


def test_regions_count_in_ranges_that_do_not_meet() -> None:
    starts = {first_producer_id(f"cluster-{number}") for number in range(200)}
    assert len(starts) == 200
    assert all(0 <= start < 2**63 - REGION_IDS and start % REGION_IDS == 0 for start in starts)


def test_a_broker_that_is_not_registered_gets_none() -> None:
    with pytest.raises(Refusal) as refused:
        Region().do(AllocateProducerIds(2))
    assert refused.value.error is KafkaError.BROKER_ID_NOT_REGISTERED


def test_a_region_never_runs_into_the_next_ones_range() -> None:
    region = Region()
    region.image.next_producer_id = first_producer_id("region-one") + REGION_IDS - BLOCK_SIZE
    region.do(AllocateProducerIds(1))
    with pytest.raises(Refusal, match="used up"):
        region.do(AllocateProducerIds(1))


def test_a_block_is_used_up_in_order_and_then_needs_another() -> None:
    ids = ProducerIdManager()
    assert ids.take() is None
    ids.refill(ProducerIdBlock(10, 13))
    assert [ids.take() for _ in range(4)] == [10, 11, 12, None]
    ids.refill(ProducerIdBlock(20, 21))
    assert [ids.take() for _ in range(2)] == [20, None]
