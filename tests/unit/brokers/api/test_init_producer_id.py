"""Producer ids: distinct for ever, one block for many, and a clear no to transactions."""

import pytest

from brokers.api import init_producer_id
from brokers.errors import KafkaError
from brokers.metadata.image.image import first_producer_id
from brokers.wire.messages.producers import InitProducerIdRequest
from tests.playbooks.metadata.host import Host
from tests.unit.brokers.api.asking import Node

PLAIN = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=0)


@pytest.mark.parametrize("version", range(6))
def test_an_id_at_every_version(version: int) -> None:
    answer = Node().ask(init_producer_id, version, PLAIN)
    assert (answer.error_code, answer.producer_epoch) == (0, 0)
    assert answer.producer_id == first_producer_id("region-one")


def test_ids_are_distinct_over_blocks_and_lives() -> None:
    node = Node()
    ids = [node.ask(init_producer_id, 1, PLAIN).producer_id for _ in range(1_500)]
    again = Host(node.host.crash(), seed=2).start()
    assert len(set(ids)) == 1_500
    assert again.plane.image.next_producer_id > max(ids)


def test_many_that_come_at_once_share_one_block() -> None:
    node = Node()
    before = len(node.host.disk.batches)
    tickets = [node.start_asking(init_producer_id, 1, PLAIN) for _ in range(5)]
    assert not node.replies, "the block is not in the log yet"
    node.settle()
    assert len({node.replies[ticket].producer_id for ticket in tickets}) == 5
    assert len(node.host.disk.batches) == before + 1


def test_more_that_wait_than_a_block_holds_get_the_next_one() -> None:
    node = Node()
    tickets = [node.start_asking(init_producer_id, 1, PLAIN) for _ in range(2_300)]
    node.settle()
    assert len({node.replies[ticket].producer_id for ticket in tickets}) == 2_300


def test_an_idempotent_producer_that_lost_a_batch_gets_a_new_id() -> None:
    node = Node()
    first = node.ask(init_producer_id, 4, PLAIN)
    recovering = InitProducerIdRequest(
        transactional_id=None, producer_id=first.producer_id, producer_epoch=first.producer_epoch
    )
    second = node.ask(init_producer_id, 4, recovering)
    assert (second.error_code, second.producer_epoch) == (0, 0)
    assert second.producer_id != first.producer_id


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (
            InitProducerIdRequest(transactional_id="tx"),
            KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        ),
        (InitProducerIdRequest(transactional_id=""), KafkaError.INVALID_REQUEST),
        (InitProducerIdRequest(transactional_id=None, producer_id=5), KafkaError.INVALID_REQUEST),
        (
            InitProducerIdRequest(transactional_id=None, producer_epoch=5),
            KafkaError.INVALID_REQUEST,
        ),
    ],
)
def test_what_is_refused(request_: InitProducerIdRequest, error: KafkaError) -> None:
    answer = Node().ask(init_producer_id, 3, request_)
    assert (answer.error_code, answer.producer_id, answer.producer_epoch) == (error, -1, -1)


def test_a_disk_that_refuses_is_tried_again_by_the_client() -> None:
    node = Node()
    tickets = [node.start_asking(init_producer_id, 1, PLAIN) for _ in range(2)]
    node.settle(failing="disk full")
    errors = {node.replies[ticket].error_code for ticket in tickets}
    assert errors == {KafkaError.COORDINATOR_NOT_AVAILABLE}
    later = node.ask(init_producer_id, 1, PLAIN)
    assert later.error_code == KafkaError.COORDINATOR_NOT_AVAILABLE
