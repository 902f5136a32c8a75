"""Kafka's administrative tools, unmodified, against a region of three nodes.

One region and one Java process for all of them; the last test takes brokers away.
"""

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from tests.bench.peer import jars
from tests.compat.conftest import AGAINST, CAUSEWAY
from tests.compat.java.together import Tools

pytestmark = pytest.mark.skipif(AGAINST != "causeway", reason="a region of several nodes of ours")

REASSIGN = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
CONFIGS = "kafka.admin.ConfigCommand"
TIMEOUT_S = 30
RATES = "leader.replication.throttled.rate", "follower.replication.throttled.rate"


class Region:
    """Three nodes in racks a, b and c; `at` are the options that name it, `at_controllers` those of its controllers."""

    def __init__(self, directory: Path) -> None:
        self._place = ("--dir", str(directory), "--region", "west")
        self._told: Any = None
        self.up()
        addresses = [self._settings(node) for node in self._told["nodes"]]
        self.bootstrap = self._told["bootstrap"]
        self.at = ("--bootstrap-server", self.bootstrap)
        self.at_controllers = ("--bootstrap-controller", ",".join(addresses))

    def up(self) -> None:
        said = self._causeway("up", "--nodes", "3", *([] if self._told else ["--racks", "a,b,c"]))
        (self._told,) = json.loads(said)["regions"]

    def down(self) -> None:
        self._causeway("down")

    def kill(self, node_id: int) -> None:
        os.kill(self._told["nodes"][node_id - 1]["pid"], signal.SIGKILL)

    def data(self, node_id: int) -> Path:
        return Path(self._told["nodes"][node_id - 1]["data"])

    def _settings(self, node: Any) -> str:
        found = re.search(r'CONTROLLER://([^,"]+)', Path(node["log"]).with_suffix(".toml").read_text())  # fmt: skip
        assert found
        return found[1]

    def _causeway(self, verb: str, *words: str) -> str:
        command = [CAUSEWAY, "local", verb, *self._place, "--json", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def produce(self, topic: str, partition: int, count: int = 1_000) -> None:
        producer = Producer({"bootstrap.servers": self.bootstrap, "acks": "all"})
        for _ in range(count):
            producer.produce(topic, b"x" * 1_000, partition=partition)
        assert producer.flush(TIMEOUT_S) == 0


@pytest.fixture(scope="module")
def region(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Region]:
    one = Region(tmp_path_factory.mktemp("tools"))
    yield one
    one.down()


@pytest.fixture(scope="module")
def tools() -> Iterator[Tools]:
    try:
        jars.fetch()
    except jars.Unavailable as reason:
        pytest.skip(str(reason))
    with Tools() as one:
        yield one


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not holds():
        assert time.monotonic() < deadline


def create(tools: Tools, region: Region, topic: str, replicas: str) -> None:
    named = ("--topic", topic, "--replica-assignment", replicas)
    tools("TopicCommand", *region.at, "--create", *named)


def rows(printed: str) -> list[list[str]]:
    """The words of each line below a table's head."""
    return [line.split() for line in printed.splitlines()[1:] if line.strip()]


def partitions(tools: Tools, region: Region, *options: str) -> list[tuple[str, int]]:
    printed = tools("TopicCommand", *region.at, "--describe", "--exclude-internal", *options)
    found = re.findall(r"Topic: (\S+)\tPartition: (\d+)", printed)
    return [(topic, int(partition)) for topic, partition in found]


def leader(tools: Tools, region: Region, topic: str, partition: int = 0) -> str:
    printed = tools("TopicCommand", *region.at, "--describe", "--topic", topic)
    found = re.search(rf"Partition: {partition}\tLeader: (\w+)", printed)
    assert found, printed
    return found[1]


def test_the_quorum_is_described_by_brokers_and_by_controllers(
    region: Region, tools: Tools
) -> None:
    for at in (region.at, region.at_controllers):
        status = tools("MetadataQuorumCommand", *at, "describe", "--status")
        voters = re.search(r"CurrentVoters: +(\[.*\])", status)
        assert voters, status
        assert [each["id"] for each in json.loads(voters[1])] == [1, 2, 3]
        replication = rows(tools("MetadataQuorumCommand", *at, "describe", "--replication"))
        assert sorted(row[0] for row in replication) == ["1", "2", "3"]
        assert sorted(row[-1] for row in replication) == ["Follower", "Follower", "Leader"]


def test_endpoints_are_listed_of_brokers_and_of_controllers(region: Region, tools: Tools) -> None:
    brokers = rows(tools("ClusterTool", "list-endpoints", *region.at))
    assert [(row[0], *row[3:]) for row in brokers] == [
        (str(number), rack, "unfenced", "broker") for number, rack in ((1, "a"), (2, "b"), (3, "c"))
    ]
    controllers = rows(tools("ClusterTool", "list-endpoints", *region.at_controllers))
    assert [(row[0], row[-1]) for row in controllers] == [
        (number, "controller") for number in ("1", "2", "3")
    ]
    listed = ",".join(f"{row[1]}:{row[2]}" for row in controllers)
    assert region.at_controllers[1] == listed
    ids = {tools("ClusterTool", "cluster-id", *at) for at in (region.at, region.at_controllers)}
    assert len(ids) == 1
    refused = tools.refused("ClusterTool", "unregister", *region.at, "--id", "99")
    assert "broker 99 is not registered" in refused


def test_features_are_described_and_what_is_not_supported_is_not_finalized(
    region: Region, tools: Tools
) -> None:
    for at in (region.at, region.at_controllers):
        described = tools("FeatureCommand", *at, "describe")
        found = re.findall(r"Feature: (\S+).*FinalizedVersionLevel: (\S+)", described)
        assert dict(found)["metadata.version"] == "4.3-IV0"
        assert dict(found)["kraft.version"] == "1"
        up = ("FeatureCommand", *at, "upgrade", "--feature")
        assert "was upgraded to 30" in tools(*up, "metadata.version=30")
        refused = tools.refused(*up, "share.version=1")
        assert "share.version cannot become 1" in refused
        down = ("downgrade", "--feature", "metadata.version=25")
        assert "metadata.version cannot become 25" in tools.refused("FeatureCommand", *at, *down)


def test_every_broker_tells_its_versions(region: Region, tools: Tools) -> None:
    printed = tools("BrokerApiVersionsCommand", *region.at)
    assert len(re.findall(r"\(id: [123] rack: [abc] isFenced: false\) -> \(", printed)) == 3
    assert printed.count("UpdateFeatures(57): 0 to 2 [usable: 2]") == 3


def test_offsets_are_those_that_were_written(region: Region, tools: Tools) -> None:
    create(tools, region, "offsets", "1:2,2:3")
    region.produce("offsets", 1, 7)
    assert tools("GetOffsetShell", *region.at, "--topic", "offsets") == "offsets:0:0\noffsets:1:7\n"
    earliest = tools("GetOffsetShell", *region.at, "--topic", "offsets", "--time", "earliest")
    assert earliest == "offsets:0:0\noffsets:1:0\n"


@pytest.mark.parametrize("entity", [("--entity-name", "2"), ("--entity-default",)])
def test_throttles_of_brokers_are_set_and_removed(
    region: Region, tools: Tools, entity: tuple[str, ...]
) -> None:
    for server in (region.at, region.at_controllers):
        at = (CONFIGS, *server, "--entity-type", "brokers", *entity)
        assert "12345" not in _set_and_removed(tools, at)


def _set_and_removed(tools: Tools, at: tuple[str, ...]) -> str:
    """What is described then. The broker that is asked may be another one, which hears of it a little later."""
    tools(*at, "--alter", "--add-config", ",".join(f"{rate}=12345" for rate in RATES))
    until(lambda: _are_set(tools(*at, "--describe")))
    tools(*at, "--alter", "--delete-config", ",".join(RATES))
    until(lambda: "12345" not in tools(*at, "--describe"))
    return tools(*at, "--describe")


def _are_set(described: str) -> bool:
    return all(f"{rate}=12345 " in described for rate in RATES)


def test_replicas_are_moved_under_a_throttle_and_back(
    region: Region, tools: Tools, tmp_path: Path
) -> None:
    create(tools, region, "moved", "1:2,2:1")
    region.produce("moved", 0)
    at = (REASSIGN, *region.at)
    topics, plan = tmp_path / "topics.json", tmp_path / "plan.json"
    topics.write_text('{"version": 1, "topics": [{"topic": "moved"}]}')
    wanted = ("--topics-to-move-json-file", str(topics), "--broker-list", "1,2,3")
    generated = tools(*at, "--generate", *wanted).splitlines()
    before = json.loads(generated[1])
    assert [each["replicas"] for each in before["partitions"]] == [[1, 2], [2, 1]]
    moved = [{"topic": "moved", "partition": 0, "replicas": [3, 2]}]
    plan.write_text(json.dumps({"version": 1, "partitions": moved}))
    named = ("--reassignment-json-file", str(plan))

    begun = tools(*at, "--execute", *named, "--throttle", "1")
    assert "The inter-broker throttle limit was set to 1 B/s" in begun
    assert "Successfully started partition reassignment" in begun
    assert "moved-0: replicas: 3,2,1. adding: 3. removing: 1." in tools(*at, "--list")
    assert "moved-0 is still in progress" in tools(*at, "--verify", *named)
    assert "--additional" in tools.refused(*at, "--execute", *named)
    cancelled = tools(*at, "--cancel", *named)
    assert "Successfully cancelled" in cancelled
    assert "Clearing broker-level throttles on brokers 1,2,3" in cancelled
    for server in (region.at, region.at_controllers):
        assert "No partition reassignments found." in tools(REASSIGN, *server, "--list")

    tools(*at, "--execute", *named, "--throttle", "1")
    tools(*at, "--execute", *named, "--additional", "--throttle", "100000000")
    until(lambda: "moved-0 is completed" in tools(*at, "--verify", *named, "--preserve-throttles"))
    assert "Clearing topic-level throttles on topic moved" in tools(*at, "--verify", *named)
    described = tools("TopicCommand", *region.at, "--describe", "--topic", "moved")
    assert "Partition: 0\tLeader: 3\tReplicas: 3,2\t" in described
    assert "throttled" not in described


def test_preferred_leaders_are_elected(region: Region, tools: Tools, tmp_path: Path) -> None:
    create(tools, region, "led", "1:2")
    plan = tmp_path / "plan.json"
    order = [{"topic": "led", "partition": 0, "replicas": [2, 1]}]
    plan.write_text(json.dumps({"version": 1, "partitions": order}))
    tools(REASSIGN, *region.at, "--execute", "--reassignment-json-file", str(plan))
    assert leader(tools, region, "led") == "1"
    elect = ("LeaderElectionCommand", *region.at, "--election-type", "preferred")
    one = (*elect, "--topic", "led", "--partition", "0")
    assert "Successfully completed leader election (PREFERRED) for partitions led-0" in tools(*one)
    assert leader(tools, region, "led") == "2"
    assert "Valid replica already elected for partitions led-0" in tools(*one)
    tools(*elect, "--all-topic-partitions")


def test_levels_of_loggers_are_set_and_given_back(region: Region, tools: Tools) -> None:
    at = (CONFIGS, *region.at, "--entity-type", "broker-loggers", "--entity-name", "2")
    assert "brokers.shell.peers=INFO " in tools(*at, "--describe")
    tools(*at, "--alter", "--add-config", "brokers.shell=DEBUG,brokers.shell.peers=ERROR")
    described = tools(*at, "--describe")
    assert "brokers.shell.peers=ERROR " in described
    assert "brokers.shell.server=DEBUG " in described
    tools(*at, "--alter", "--delete-config", "brokers.shell.peers")
    assert "brokers.shell.peers=DEBUG " in tools(*at, "--describe")
    assert "Invalid broker logger(s): nope" in tools.refused(
        *at, "--alter", "--add-config", "nope=DEBUG"
    )


def set_topic(tools: Tools, region: Region, topic: str, setting: str) -> None:
    at = (CONFIGS, *region.at, "--entity-type", "topics", "--entity-name", topic)
    tools(*at, "--alter", "--add-config", setting)


def test_brokers_that_are_gone(region: Region, tools: Tools) -> None:
    """What broker 3 lacks is held back from it when it returns; so when broker 2 goes, it may lead by force only."""
    create(tools, region, "unclean", "2:3")
    create(tools, region, "three", "1:2:3")
    create(tools, region, "alone", "3")
    set_topic(tools, region, "three", "min.insync.replicas=3")
    set_topic(tools, region, "unclean", "min.insync.replicas=1")
    set_topic(tools, region, "unclean", "leader.replication.throttled.replicas=*")
    rate = (CONFIGS, *region.at, "--entity-type", "brokers", "--entity-name", "2", "--alter")
    tools(*rate, "--add-config", "leader.replication.throttled.rate=1")
    assert partitions(tools, region, "--under-replicated-partitions") == []
    assert ("three", 0) in partitions(tools, region, "--at-min-isr-partitions")

    region.kill(3)
    until(lambda: ("alone", 0) in partitions(tools, region, "--unavailable-partitions"))
    assert ("unclean", 0) in partitions(tools, region, "--under-replicated-partitions")
    assert ("three", 0) in partitions(tools, region, "--under-min-isr-partitions")
    assert ("three", 0) not in partitions(tools, region, "--at-min-isr-partitions")
    listing = ("ClusterTool", "list-endpoints", *region.at, "--include-fenced-brokers")
    assert [row[4] for row in rows(tools(*listing))] == ["unfenced", "unfenced", "fenced"]

    region.produce("unclean", 0, 2_000)
    region.up()
    until(lambda: ("alone", 0) not in partitions(tools, region, "--unavailable-partitions"))
    region.kill(2)
    until(lambda: ("unclean", 0) in partitions(tools, region, "--unavailable-partitions"))
    elect = ("LeaderElectionCommand", *region.at, "--topic", "unclean", "--partition", "0")
    assert "unclean-0" in tools.refused(*elect, "--election-type", "preferred")
    forced = tools(*elect, "--election-type", "unclean")
    assert "Successfully completed leader election (UNCLEAN) for partitions unclean-0" in forced
    assert leader(tools, region, "unclean") == "3"

    tools("ClusterTool", "unregister", *region.at, "--id", "2")
    assert [row[0] for row in rows(tools(*listing))] == ["1", "3"]
    region.up()
    assert [row[0] for row in rows(tools(*listing))] == ["1", "2", "3"]
