"""Several listeners for clients in a node: each client is named the addresses of the listener that it came by."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer

from brokers.errors import KafkaError
from brokers.wire.messages.cluster import DescribeClusterRequest
from brokers.wire.messages.groups import FindCoordinatorRequest
from brokers.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from brokers.wire.messages.topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from tests.bench.processes import free_port
from tests.process.asking import ask, until
from tests.process.nodes import BrokerProcess

METADATA, OLD_METADATA, FIND_COORDINATOR = (3, 12), (3, 5), (10, 4)
CREATE_TOPICS, DESCRIBE_CLUSTER = (19, 7), (60, 2)
UNROUTABLE = 1  # a port where nobody listens
NAMES = {
    "listener.security.protocol.map": "INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "inter.broker.listener.name": "INTERNAL",
    "auto.create.topics.enable": False,
}


def free_ports(count: int) -> list[int]:
    """No connection that goes out meanwhile takes them."""
    found: set[int] = set()
    while len(found) < count:
        found.add(free_port())
    return [*found]


@pytest.fixture
def lone(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """The addresses of a node's listeners, as it advertises them."""
    internal, external = free_ports(2)
    node = BrokerProcess(
        tmp_path,
        NAMES | {
            "listeners": f"INTERNAL://127.0.0.1:{internal},EXTERNAL://127.0.0.1:{external}",
            "advertised.listeners": f"EXTERNAL://localhost:{external},INTERNAL://127.0.0.1:{internal}",
            "auto.create.topics.enable": True,
        },
    )  # fmt: skip
    node.start()
    assert node.told["kafka"] == f"127.0.0.1:{internal}"
    yield f"127.0.0.1:{internal}", f"localhost:{external}"
    node.kill()


def test_stock_clients_stay_at_the_listener_that_they_came_by(lone: tuple[str, str]) -> None:
    for address in lone:
        host, port = address.split(":")
        known = AdminClient({"bootstrap.servers": address}).list_topics(timeout=20)
        assert [(each.host, each.port) for each in known.brokers.values()] == [(host, int(port))]
        admin = KafkaAdminClient(bootstrap_servers=address)
        (described,) = admin.describe_cluster()["brokers"]
        assert (described["host"], described["port"]) == (host, int(port))
        admin.close()


def test_groups_read_at_either_listener_what_was_written_at_the_other(
    lone: tuple[str, str],
) -> None:
    internal, external = lone
    producer = Producer({"bootstrap.servers": external, "acks": "all"})
    producer.produce("t", b"by librdkafka")
    assert producer.flush(30) == 0
    other = KafkaProducer(bootstrap_servers=internal, acks="all")
    other.send("t", b"by kafka-python").get(timeout=30)
    other.close()
    consumer = Consumer(
        {"bootstrap.servers": internal, "group.id": "one", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe(["t"])
    assert [message.value() for message in consumer.consume(2, timeout=30)] == [
        b"by librdkafka",
        b"by kafka-python",
    ]
    consumer.close()
    reader = KafkaConsumer(
        "t", bootstrap_servers=external, group_id="two", auto_offset_reset="earliest",
        consumer_timeout_ms=30_000,
    )  # fmt: skip
    assert [next(reader).value for _ in range(2)] == [b"by librdkafka", b"by kafka-python"]
    reader.close()


@pytest.fixture
def region(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """Addresses of node 1, internal and external. Node 2 has no external listener, and node 3's leads nowhere."""
    first, third, voter, *internal = free_ports(6)
    listeners = [
        f"INTERNAL://127.0.0.1:{internal[0]},EXTERNAL://127.0.0.1:{first},CONTROLLER://127.0.0.1:{voter}",
        f"INTERNAL://127.0.0.1:{internal[1]}",
        f"INTERNAL://127.0.0.1:{internal[2]},EXTERNAL://127.0.0.1:{third}",
    ]
    nodes = []
    for number, own in enumerate(listeners, start=1):
        (tmp_path / f"{number}").mkdir()
        settings = NAMES | {
            "node.id": number,
            "cluster.id": "listeners",
            "process.roles": "broker,controller" if number == 1 else "broker",
            "controller.quorum.voters": f"1@127.0.0.1:{voter}",
            "listeners": own,
        }
        if number == 3:
            settings["advertised.listeners"] = (
                f"INTERNAL://127.0.0.1:{internal[2]},EXTERNAL://localhost:{UNROUTABLE}"
            )
        nodes.append(BrokerProcess(tmp_path / f"{number}", settings))
        nodes[-1].start()
    yield f"127.0.0.1:{internal[0]}", f"127.0.0.1:{first}"
    for node in nodes:
        node.kill()


def create(address: str, *replicas: list[int]) -> None:
    """Topic `t`, a partition for each list of replicas."""
    assignments = [
        CreatableReplicaAssignment(partition_index=index, broker_ids=ids)
        for index, ids in enumerate(replicas)
    ]
    topic = CreatableTopic(
        name="t", num_partitions=-1, replication_factor=-1, assignments=assignments
    )
    message = CreateTopicsRequest(topics=[topic], timeout_ms=20_000)
    (created,) = ask(address, CREATE_TOPICS, message, timeout_s=30).topics
    assert created.error_code == 0, created


def described(address: str, api: tuple[int, int] = METADATA) -> Any:
    wanted = [MetadataRequestTopic(name="t")]
    return ask(address, api, MetadataRequest(topics=wanted, allow_auto_topic_creation=False))


def placed(answer: Any) -> list[tuple[int, int]]:
    (topic,) = answer.topics
    return [(each.leader_id, each.error_code) for each in topic.partitions]


def test_brokers_use_their_own_listener_and_each_client_is_named_what_it_can_reach(
    region: tuple[str, str],
) -> None:
    internal, external = region
    until(lambda: len(described(internal).brokers) == 3, 60, lambda: described(internal))
    create(internal, [1, 2, 3], [2, 3, 1], [3, 1, 2])
    producer = KafkaProducer(bootstrap_servers=internal, acks="all")
    for partition in range(3):
        producer.send("t", b"x", partition=partition).get(timeout=30)
    producer.close()
    until(
        lambda: len(described(internal).topics[0].partitions[0].isr_nodes) == 3,
        60,
        lambda: described(internal),
    )
    assert placed(described(internal)) == [(1, 0), (2, 0), (3, 0)]

    host, port = external.split(":")
    seen = described(external)
    assert [(each.node_id, each.host, each.port) for each in seen.brokers] == [
        (1, host, int(port)),
        (3, "localhost", UNROUTABLE),
    ]
    assert placed(seen) == [(1, 0), (-1, KafkaError.LISTENER_NOT_FOUND), (3, 0)]
    too_old = described(external, OLD_METADATA)
    assert placed(too_old) == [(1, 0), (-1, KafkaError.LEADER_NOT_AVAILABLE), (3, 0)]
    cluster = ask(external, DESCRIBE_CLUSTER, DescribeClusterRequest())
    assert [(each.broker_id, each.port) for each in cluster.brokers] == [
        (1, int(port)),
        (3, UNROUTABLE),
    ]


def test_a_coordinator_that_a_client_cannot_reach_is_not_available_to_it(
    region: tuple[str, str],
) -> None:
    internal, external = region
    until(lambda: len(described(internal).brokers) == 3, 60, lambda: described(internal))
    keys = [f"group-{number}" for number in range(100)]
    message = FindCoordinatorRequest(coordinator_keys=keys)

    def found(address: str) -> dict[str, Any]:
        answer = ask(address, FIND_COORDINATOR, message, timeout_s=30)
        return {
            each.key: (each.node_id, each.port, each.error_code) for each in answer.coordinators
        }

    until(
        lambda: all(error == 0 for _, _, error in found(internal).values()),
        60,
        lambda: found(internal),
    )
    inside, outside = found(internal), found(external)
    assert {node for node, _, _ in inside.values()} == {1, 2, 3}
    at = {
        1: (1, int(external.split(":")[1]), 0),
        2: (-1, -1, KafkaError.COORDINATOR_NOT_AVAILABLE),
        3: (3, UNROUTABLE, 0),
    }
    assert outside == {key: at[node] for key, (node, _, _) in inside.items()}
