"""kill -9 in mid-stream: what a stock idempotent producer was told is kept is kept, once, in order."""

import random
from pathlib import Path

import pytest
from confluent_kafka import Consumer

from tests.process.ledger import Ledger, check, create_topic, read_all
from tests.process.nodes import BrokerProcess

PARTITIONS = 3
KILLS = 4


@pytest.mark.parametrize("flush_messages", ["1", "9223372036854775807"])
def test_nothing_acknowledged_is_lost_over_kills_at_random_instants(
    node: BrokerProcess, flush_messages: str, rng: random.Random
) -> None:
    create_topic(
        node.address, "orders", PARTITIONS, flush_messages=flush_messages, segment_bytes="1048576"
    )
    ledger = Ledger(node.address, "orders", PARTITIONS)
    ledger.start()
    for _ in range(KILLS):
        ledger.wait_for(len(ledger.acknowledged) + rng.randrange(50, 2000))
        node.kill()
        node.start()
    ledger.wait_for(len(ledger.acknowledged) + 100)
    ledger.close()
    check(ledger, read_all(node.address, "orders", PARTITIONS))
    assert len(ledger.acknowledged) == ledger.written


def test_a_clean_stop_and_a_start_change_nothing(node: BrokerProcess) -> None:
    create_topic(node.address, "orders", PARTITIONS)
    ledger = Ledger(node.address, "orders", PARTITIONS)
    ledger.start()
    ledger.wait_for(500)
    ledger.close()
    before = read_all(node.address, "orders", PARTITIONS)
    assert node.stop() == 0
    node.start()
    assert read_all(node.address, "orders", PARTITIONS) == before
    assert "repaired" not in node.log()


def test_committed_group_offsets_survive_a_kill(node: BrokerProcess) -> None:
    create_topic(node.address, "orders", 1)
    ledger = Ledger(node.address, "orders", 1)
    ledger.start()
    ledger.wait_for(300)
    ledger.close()
    first = _consume(node.address, 100)
    node.kill()
    node.start()
    rest = _consume(node.address, len(ledger.acknowledged) - 100)
    assert first + rest == list(range(len(ledger.acknowledged)))


def _consume(bootstrap: str, count: int) -> list[int]:
    """The group's next `count` numbers, committed."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "billing",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe(["orders"])
    seen: list[int] = []
    while len(seen) < count:
        messages = consumer.consume(count - len(seen), 20)
        assert messages, f"nothing more after {len(seen)} of {count}"
        seen += [int(message.value()) for message in messages]
        consumer.commit(message=messages[-1], asynchronous=False)
    consumer.close()
    return seen


def test_two_nodes_never_share_a_directory(node: BrokerProcess, tmp_path: Path) -> None:
    intruder = BrokerProcess(tmp_path)
    with pytest.raises(AssertionError, match="in use by another node"):
        intruder.start()
    assert node.is_running()
