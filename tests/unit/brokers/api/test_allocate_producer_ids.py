"""Blocks of producer ids, by Kafka's own request."""

from typing import Any

import pytest

from brokers.api import allocate_producer_ids
from brokers.errors import KafkaError
from brokers.ids import Instant
from brokers.metadata.controller.producer_id_control import BLOCK_SIZE
from brokers.wire.messages.broker_lifecycle import AllocateProducerIdsRequest
from tests.unit.brokers.api.asking import Node


def own_epoch(node: Node) -> int:
    return node.image.brokers[1].broker_epoch


def test_each_block_follows_the_one_before() -> None:
    node = Node()
    request = AllocateProducerIdsRequest(broker_id=1, broker_epoch=own_epoch(node))
    first, second = (node.ask(allocate_producer_ids, 0, request) for _ in range(2))
    assert (first.error_code, first.producer_id_len) == (KafkaError.NONE, BLOCK_SIZE)
    assert second.producer_id_start == first.producer_id_start + BLOCK_SIZE


@pytest.mark.parametrize(
    ("broker_id", "skew", "error"),
    [(1, 1, KafkaError.STALE_BROKER_EPOCH), (2, 0, KafkaError.BROKER_ID_NOT_REGISTERED)],
)
def test_whoever_is_not_that_broker_gets_none(broker_id: int, skew: int, error: KafkaError) -> None:
    node = Node()
    request = AllocateProducerIdsRequest(broker_id=broker_id, broker_epoch=own_epoch(node) + skew)
    assert node.ask(allocate_producer_ids, 0, request).error_code == error


def test_a_node_asks_itself_in_the_same_words() -> None:
    node, told = Node(), []
    request = AllocateProducerIdsRequest(broker_id=1, broker_epoch=own_epoch(node))

    def then(response: Any, now: Instant) -> list[Any]:
        told.append(response)
        return []

    node._take(node.wiring.channel.send(allocate_producer_ids.KEY, request, then, 0))
    node.settle()
    assert [each.producer_id_len for each in told] == [BLOCK_SIZE]
