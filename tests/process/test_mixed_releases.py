"""A region of three nodes whose nodes are of two releases, rolled forth and back under a stock idempotent producer.

At every step of the roll each node is asked, and the active controller decides: no request fails for reason of a
version, nothing acknowledged is lost, and all nodes have the same metadata.
"""

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)

from brokers.events import Request
from brokers.membership.envelopes import disclose_response, enclose
from brokers.metadata.commands.document_commands import DocumentChange, PutDocuments
from brokers.metadata.requests.documents import PUT_DOCUMENTS
from brokers.wire.messages.api_versions import ApiVersionsRequest
from brokers.wire.messages.configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    IncrementalAlterableConfig,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResource,
)
from brokers.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from brokers.wire.messages.producers import InitProducerIdRequest
from brokers.wire.messages.topics import (
    CreatableTopic,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DeleteTopicState,
)
from tests.process.asking import ask, leads_the_quorum, placed, until
from tests.process.hosts import Loopback
from tests.process.ledger import Ledger, check, create_topic, read_all
from tests.process.releases import CREATE_TOPICS_NEXT, ROOT, environment, next_release

NODES, PARTITIONS, TOPIC = 3, 3, "orders"
CLUSTER_ID = "AQIDBAUGBwgJCgsMDQ4PEA"
TIMEOUT_S = 60
# Of one request, in which a client may wait for the node that it takes for the controller, while that node is away.
REQUEST_TIMEOUT_S = 20
TOPIC_RESOURCE, SET = 2, 0
# What an administrator may meet while nodes go and come: none of these says that a request was not understood.
PASSING = frozenset(
    {
        KafkaError._TIMED_OUT,
        KafkaError._TRANSPORT,
        KafkaError._ALL_BROKERS_DOWN,
        KafkaError._DESTROY_BROKER,  # a broker that stops leaves the metadata, with what it was asked
        KafkaError.REQUEST_TIMED_OUT,
        KafkaError.TOPIC_ALREADY_EXISTS,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
    }
)


class ReleasedNode:
    """A broker and controller; each life of it runs the code of a tree."""

    def __init__(self, node_id: int, directory: Path, data: str, controller: str) -> None:
        self.id, self.data = node_id, data
        self.controller = controller
        self.folder = directory / f"node-{node_id}"
        self._settings = directory / f"node-{node_id}.toml"
        self._log = directory / f"node-{node_id}.log"
        self._process: subprocess.Popen[str] | None = None

    def configure(self, voters: str) -> None:
        settings = {
            "node.id": self.id,
            "cluster.id": CLUSTER_ID,
            "log.dirs": str(self.folder),
            "process.roles": "broker,controller",
            "listeners": f"PLAINTEXT://{self.data},CONTROLLER://{self.controller}",
            "controller.quorum.voters": voters,
            "default.replication.factor": NODES,
            "auto.create.topics.enable": True,
        }
        lines = (f"{key} = {json.dumps(value)}\n" for key, value in settings.items())
        self._settings.write_text("".join(lines))

    def start(self, tree: Path) -> None:
        with self._log.open("a") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "brokers", "--config", str(self._settings)],
                env=environment(tree),
                cwd=tree,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def wait_ready(self) -> None:
        assert self._process is not None and self._process.stdout is not None
        assert self._process.stdout.readline(), f"node {self.id}: {self.log()[-2000:]}"

    def end(self, number: signal.Signals = signal.SIGTERM) -> None:
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(TIMEOUT_S)

    def log(self) -> str:
        return self._log.read_text()

    def highest(self, api_key: int) -> int:
        """The highest version of an API that this life serves."""
        answer = ask(
            self.data,
            (18, 4),
            ApiVersionsRequest(client_software_name="a", client_software_version="1"),
        )
        return next(each.max_version for each in answer.api_keys if each.api_key == api_key)


class MixedRegion:
    def __init__(self, directory: Path) -> None:
        hosts = Loopback()
        self.nodes = [
            ReleasedNode(
                index, directory, *(f"{hosts.address(index)}:{hosts.port()}" for _ in range(2))
            )
            for index in range(1, NODES + 1)
        ]
        voters = ",".join(f"{node.id}@{node.controller}" for node in self.nodes)
        for node in self.nodes:
            node.configure(voters)

    @property
    def bootstrap(self) -> str:
        return ",".join(node.data for node in self.nodes)

    def up(self, tree: Path) -> None:
        for node in self.nodes:
            node.start(tree)
        for node in self.nodes:
            node.wait_ready()

    def active(self) -> ReleasedNode:
        """Waits until one of the nodes says that it leads."""
        found: list[ReleasedNode] = []

        def is_found() -> bool:
            found[:] = [node for node in self.nodes if leads_the_quorum(node.controller)]
            return len(found) == 1

        until(is_found, TIMEOUT_S, lambda: "no controller is active")
        return found[0]

    def wait_in_sync(self, *topics: str) -> None:
        """Until all replicas are in sync, as every node knows it."""

        def is_whole() -> bool:
            return all(
                each.is_whole for node in self.nodes for each in placed(node.data, topics).values()
            )

        until(is_whole, TIMEOUT_S, lambda: [placed(node.data, topics) for node in self.nodes])

    def metadata(self, node: ReleasedNode) -> object:
        """Topics with their partitions and settings, and brokers, as one node has them."""
        known = ask(node.data, (3, 12), MetadataRequest(topics=None))
        topics = {
            topic.name: (
                topic.topic_id,
                [
                    (each.leader_id, each.leader_epoch, each.replica_nodes, sorted(each.isr_nodes))
                    for each in topic.partitions
                ],
            )
            for topic in known.topics
        }
        resources = [
            DescribeConfigsResource(
                resource_type=TOPIC_RESOURCE, resource_name=name, configuration_keys=None
            )
            for name in sorted(topics)
        ]
        described = ask(node.data, (32, 4), DescribeConfigsRequest(resources=resources))
        configs = {
            result.resource_name: {
                each.name: (each.value, each.config_source) for each in result.configs
            }
            for result in described.results
        }
        brokers = {broker.node_id: (broker.host, broker.port) for broker in known.brokers}
        return topics, configs, brokers


class Administrator:
    """Creates, changes, grows and deletes topics by a stock client, from a thread of its own, until `close`."""

    def __init__(self, bootstrap: str) -> None:
        self.rounds = 0
        self.errors: list[KafkaError] = []
        self._admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 2})
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        self._thread.join(TIMEOUT_S)

    def wait_for_more(self, count: int) -> None:
        wanted, deadline = self.rounds + count, time.monotonic() + TIMEOUT_S
        while self.rounds < wanted:
            assert time.monotonic() < deadline, f"{self.rounds} rounds, then {self.errors[-5:]}"
            assert not self._stop.wait(0.01)

    def _run(self) -> None:
        waits = {"request_timeout": REQUEST_TIMEOUT_S}
        number = 0
        while not self._stop.is_set():
            number += 1
            name = f"admin-{number}"
            change = ConfigEntry(
                "retention.ms", "9999", incremental_operation=AlterConfigOpType.SET
            )
            resource = ConfigResource(ResourceType.TOPIC, name, incremental_configs=[change])
            done = (
                self._try(
                    self._admin.create_topics(
                        [NewTopic(name, 2, NODES)], operation_timeout=10, **waits
                    )
                ),
                self._try(self._admin.incremental_alter_configs([resource], **waits)),
                self._try(self._admin.delete_topics([name], operation_timeout=10, **waits)),
            )
            self.rounds += all(done)

    def _try(self, futures: dict[Any, Any]) -> bool:
        try:
            for future in futures.values():
                future.result()  # the client ends it at its time
        except KafkaException as failure:
            self.errors.append(failure.args[0])
            return False
        return True


@pytest.fixture
def region(tmp_path: Path) -> Iterator[MixedRegion]:
    region = MixedRegion(tmp_path)
    yield region
    for node in region.nodes:
        node.end(signal.SIGKILL)


def test_nodes_of_two_releases_make_one_region(region: MixedRegion, tmp_path: Path) -> None:
    later = next_release(tmp_path)
    region.up(ROOT)
    create_topic(region.bootstrap, TOPIC, PARTITIONS, replicas=NODES, min_insync_replicas="2")
    region.wait_in_sync(TOPIC)
    ledger, admin = Ledger(region.bootstrap, TOPIC, PARTITIONS), Administrator(region.bootstrap)
    ledger.start()
    admin.start()
    pairs: set[tuple[bool, bool]] = set()
    steps = [(node, tree) for tree in (later, ROOT) for node in region.nodes]
    for step, (node, tree) in enumerate(steps):
        node.end()
        node.start(tree)
        node.wait_ready()
        assert (node.highest(19) == CREATE_TOPICS_NEXT) == (tree is later)
        region.wait_in_sync(TOPIC)
        pairs |= every_node_is_asked(region, f"step-{step}")
        ledger.wait_for(len(ledger.acknowledged) + 200)
        admin.wait_for_more(1)
    admin.close()
    ledger.close()
    assert pairs == {(False, False), (False, True), (True, False), (True, True)}, (
        "forwarded both ways"
    )
    assert {error.name() for error in admin.errors if error.code() not in PASSING} == set()
    assert [error for error in admin.errors if has_no_response(error)] == [], (
        "sent, and not answered"
    )
    check_same(region, ledger)


def has_no_response(error: KafkaError) -> bool:
    """Whether a node that had the request did not answer in time; the client's waiting for a node is another text."""
    return error.code() == KafkaError._TIMED_OUT and "waiting for response" in error.str()


def every_node_is_asked(region: MixedRegion, name: str) -> set[tuple[bool, bool]]:
    """Each node takes one of each request that the active controller decides; none of them may fail.

    Returns for each node that forwards whether it and the active controller are of the next release.
    """
    active = region.active()
    put_a_document(active, name)
    pairs = set()
    for node in region.nodes:
        administer(region, node, f"{name}-{node.id}")
        if node is not active:
            pairs.add(tuple(each.highest(19) == CREATE_TOPICS_NEXT for each in (node, active)))
    return pairs


def administer(region: MixedRegion, node: ReleasedNode, name: str) -> None:
    """What is answered is in force at the node that was asked: each request builds on the one before."""
    create = CreatableTopic(name=name, num_partitions=2, replication_factor=NODES)
    created = ask(node.data, (19, 7), CreateTopicsRequest(topics=[create]), timeout_s=TIMEOUT_S)
    assert [topic.error_code for topic in created.topics] == [0], created
    assert len(placed(node.data, [name])) == 2
    configs = [IncrementalAlterableConfig(name="retention.ms", config_operation=SET, value="777")]
    changed = IncrementalAlterConfigsResource(
        resource_type=TOPIC_RESOURCE, resource_name=name, configs=configs
    )
    altered = ask(
        node.data,
        (44, 1),
        IncrementalAlterConfigsRequest(resources=[changed]),
        timeout_s=TIMEOUT_S,
    )
    assert [each.error_code for each in altered.responses] == [0], altered
    grow = CreatePartitionsRequest(
        topics=[CreatePartitionsTopic(name=name, count=3, assignments=None)], timeout_ms=10_000
    )
    grown = ask(node.data, (37, 3), grow, timeout_s=TIMEOUT_S)
    assert [each.error_code for each in grown.results] == [0], grown
    assert len(placed(node.data, [name])) == 3
    wanted = MetadataRequest(topics=[MetadataRequestTopic(name=f"{name}-auto")])
    known = ask(node.data, (3, 12), wanted, timeout_s=TIMEOUT_S)
    assert [topic.error_code for topic in known.topics] == [0], known
    granted = ask(
        node.data, (22, 4), InitProducerIdRequest(transactional_id=None), timeout_s=TIMEOUT_S
    )
    assert granted.error_code == 0 and granted.producer_id >= 0
    gone = DeleteTopicsRequest(topics=[DeleteTopicState(name=name)], timeout_ms=10_000)
    deleted = ask(node.data, (20, 6), gone, timeout_s=TIMEOUT_S)
    assert [each.error_code for each in deleted.responses] == [0], deleted
    assert placed(node.data, [name]) == {}


def put_a_document(active: ReleasedNode, name: str) -> None:
    """As a node of this release forwards it for a link, in the version that both releases have."""
    command = PutDocuments((DocumentChange(kind="test", name=name, body=b"x", expected_version=0),))
    request = Request(0, PUT_DOCUMENTS.api_key, 0, None, "", PUT_DOCUMENTS.to_request(command))
    envelope = ask(active.controller, (58, 0), enclose(request), timeout_s=TIMEOUT_S)
    assert envelope.error_code == 0
    versions = PUT_DOCUMENTS.to_result(disclose_response(request, envelope))
    assert versions["test", name] > 0


def check_same(region: MixedRegion, ledger: Ledger) -> None:
    """Records are where they were acknowledged, replicas equal byte for byte, and the metadata the same everywhere."""
    region.wait_in_sync(TOPIC)
    check(ledger, read_all(region.bootstrap, TOPIC, PARTITIONS))
    assert len(ledger.acknowledged) == ledger.written
    until(
        lambda: len({repr(region.metadata(node)) for node in region.nodes}) == 1,
        TIMEOUT_S,
        lambda: [region.metadata(node) for node in region.nodes],
    )
    for node in region.nodes:
        node.end()
        lines = node.log().splitlines()
        assert [line for line in lines if "version" in line or "Traceback" in line] == []
    for partition in range(PARTITIONS):
        folders = [node.folder / f"{TOPIC}-{partition}" for node in region.nodes]
        copies = {
            b"".join(path.read_bytes() for path in sorted(each.glob("*.log"))) for each in folders
        }
        assert len(copies) == 1, f"the replicas of partition {partition} differ"
