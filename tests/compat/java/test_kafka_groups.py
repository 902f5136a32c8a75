"""`causeway group` against a node of Apache Kafka and a group of the protocol of KIP-848."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from click.testing import CliRunner
from confluent_kafka import Consumer, Producer

from federation.cli import main
from tests.bench.peer.kafka import Kafka
from tests.bench.systems import SOURCE

TOPIC, GROUP = "orders", "readers"
RECORDS = 20
POLLS_MAX = 300  # of 100 ms
IN_USE = "offsets are moved only while a group has no members"


@pytest.fixture(scope="module")
def bootstrap(tool: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A node on which `readers` has read and committed all of `orders`, and has no members any more."""
    kafka = Kafka(tmp_path_factory.mktemp("kafka"))
    kafka.up((SOURCE,))
    try:
        yield kafka.region(SOURCE).bootstrap
    finally:
        kafka.down()


@contextmanager
def reading(bootstrap: str) -> Iterator[Consumer]:
    """A member that has read all there is."""
    settings = {"bootstrap.servers": bootstrap, "group.id": GROUP, "auto.offset.reset": "earliest"}
    consumer = Consumer(settings | {"group.protocol": "consumer", "enable.auto.commit": False})
    consumer.subscribe([TOPIC])
    try:
        read = 0
        for _ in range(POLLS_MAX):
            read += consumer.poll(0.1) is not None
            if read == RECORDS:
                break
        assert read == RECORDS
        yield consumer
    finally:
        consumer.close()


def told(bootstrap: str, *words: str, exit_code: int = 0) -> Any:
    ran = CliRunner().invoke(main, ["group", *words, "--bootstrap-server", bootstrap, "--json"])
    assert ran.exit_code == exit_code, ran.output
    return json.loads(ran.stdout)


def test_a_group_of_the_newer_protocol_is_handled_from_its_first_member_to_its_end(
    bootstrap: str,
) -> None:
    producer = Producer({"bootstrap.servers": bootstrap})
    for number in range(RECORDS):
        producer.produce(TOPIC, str(number))
    producer.flush()
    to_earliest = ("reset-offsets", GROUP, "--all-topics", "--to-earliest", "--execute")
    with reading(bootstrap) as consumer:
        consumer.commit(asynchronous=False)
        (listed,) = told(bootstrap, "list", "--type", "Consumer")["groups"]
        assert (listed["group"], listed["state"]) == (GROUP, "Stable")
        (described,) = told(bootstrap, "describe", GROUP)["groups"]
        (offset,) = described["offsets"]
        assert (offset["topic"], offset["current_offset"], offset["lag"]) == (TOPIC, RECORDS, 0)
        assert offset["member_id"] == consumer.memberid()
        assert described["assignment_strategy"] == "uniform"
        assert IN_USE in told(bootstrap, *to_earliest, exit_code=1)["error"]
        refused = told(bootstrap, "delete", GROUP, exit_code=1)["refused"]
        assert refused == {GROUP: "NON_EMPTY_GROUP"}
    told(bootstrap, *to_earliest)
    with reading(bootstrap):
        pass
    told(bootstrap, "delete-offsets", GROUP, "--topic", TOPIC)
    (described,) = told(bootstrap, "describe", "--all-groups")["groups"]
    assert (described["state"], described["offsets"]) == ("Empty", [])
    assert told(bootstrap, "delete", GROUP)["deleted"] == [GROUP]
    assert told(bootstrap, "list")["groups"] == []
