"""Cancels where a region, or one of its nodes, is of a release that does not know them, built from git.

A source of such a release takes its topic back as after a reversal that was given up. A mirror's region refuses, leaves
the transition as it is, and cancels it once the node is upgraded: the link coordinator alone has to know how.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from confluent_kafka import Producer

from linker.shell.administrator import Administrator, find_endpoint
from linker.wire.v1 import admin_pb2 as pb
from tests.bench.processes import free_port
from tests.process.asking import until
from tests.process.ledger import create_topic, read_all
from tests.process.nodes import NodeProcess
from tests.process.releases import ROOT, environment
from tests.process.test_cancelling_crashes import (
    LARGE_BYTES,
    LINK,
    SLOW,
    TOPIC,
    asked,
    begin,
    coordinator,
    refuses,
    status,
    steps,
    told,
    transitions,
)
from tests.process.test_earlier_release import earlier_release

REVERSES = "9d90cfad81e6d5b48f4253b8221c44d259dc9dcc"  # the first one that has reversals
LAST = "a7b89ff86d436b344130d40bb9a6014c9f0b9d46"  # the last one without cancels
OTHER, RECORDS, TIMEOUT_S = "bills", 12, 60

pytestmark = [pytest.mark.soak, pytest.mark.timeout(280)]


class Region:
    """Nodes that are brokers and controllers, each of a release; asked by commands of this one."""

    def __init__(self, started: list["Region"], directory: Path, *trees: Path) -> None:
        started.append(self)
        directory.mkdir()
        ports = {index: free_port() for index, _ in enumerate(trees, 1)}
        voters = ",".join(f"{index}@127.0.0.1:{port}" for index, port in ports.items())
        self.nodes = {index: _node(directory, index, port, voters) for index, port in ports.items()}
        for node, tree in zip(self.nodes.values(), trees, strict=True):
            node.environment = environment(tree)
        with ThreadPoolExecutor(len(trees)) as threads:
            list(threads.map(NodeProcess.start, self.nodes.values()))

    @property
    def bootstrap(self) -> str:
        return ",".join(node.address for node in self.nodes.values())

    def upgrade(self, node: int) -> None:
        assert self.nodes[node].stop() == 0
        self.nodes[node].environment = None
        self.nodes[node].start()

    def end(self) -> None:
        for node in self.nodes.values():
            if node.is_running():
                node.kill()


def _node(directory: Path, index: int, controller: int, voters: str) -> NodeProcess:
    folder = directory / f"node-{index}"
    folder.mkdir()
    listens = {name: f"127.0.0.1:{free_port()}" for name in ("admin.listener", "link.listener")}
    settings = {
        "node.id": index,
        "cluster.id": directory.name,
        "process.roles": "broker,controller",
        "listeners": f"PLAINTEXT://127.0.0.1:{free_port()},CONTROLLER://127.0.0.1:{controller}",
        "controller.quorum.voters": voters,
        "rest.listener": "127.0.0.1:0",
    }
    return NodeProcess(folder, settings | listens)


class At:
    """One node of a region."""

    def __init__(self, node: NodeProcess) -> None:
        self.bootstrap = node.address


@pytest.fixture(params=[REVERSES, LAST])
def earlier(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return earlier_release(request.param, tmp_path)


@pytest.fixture
def started() -> Iterator[list[Region]]:
    """They are ended with the test."""
    regions: list[Region] = []
    yield regions
    for region in regions:
        region.end()


def link(west: Region, east: Region) -> None:
    """East mirrors west's topic; each has the link."""
    for here, there in ((east, west), (west, east)):
        told(here, "link", "create", LINK, "--remote-bootstrap-server", there.bootstrap)
    told(east, "mirror", "create", TOPIC, "--link", LINK)
    for region in (east, west):
        wait(lambda region=region: _is_active(region), lambda: told(west, "link", "list"))  # type: ignore[misc]


def _is_active(region: Region) -> bool:
    return bool(told(region, "link", "describe", LINK)["link_state"] == "ACTIVE")


def wait(is_so: Any, what: Any) -> None:
    until(is_so, TIMEOUT_S, what)


def limit(east: Region, rate: str) -> None:
    """Of new streams, which have not been allowed anything before."""
    for paused in ("true", "false"):
        configs = (f"io.max.bytes.per.second={rate}", f"cluster.link.paused={paused}")
        options = [part for config in configs for part in ("--config", config)]
        told(east, "link", "configs", LINK, *options)
    wait(lambda: _is_active(east), lambda: told(east, "link", "describe", LINK))


def fill(west: Region, partitions: int) -> None:
    producer = Producer({"bootstrap.servers": west.bootstrap, "message.max.bytes": LARGE_BYTES * 2})
    for number in range(RECORDS * partitions):
        producer.produce(TOPIC, b"%*d" % (LARGE_BYTES, number), partition=number % partitions)
    assert producer.flush(TIMEOUT_S) == 0


def begun(west: Region, east: Region, verb: str) -> None:
    """The transition waits for records that come slowly."""
    limit(east, SLOW)
    fill(west, 1)
    begin(east, verb)
    wait(lambda: refuses(west) == (verb != "promote"), lambda: transitions(west))


def check_goes_on(west: Region, east: Region, verb: str) -> None:
    """What was cancelled is over on both sides, and happens later."""
    wait(lambda: steps(east) == steps(west) == [], lambda: (transitions(east), transitions(west)))
    assert status(east) == "ACTIVE" and refuses(east)
    wait(lambda: not refuses(west), lambda: transitions(west))
    limit(east, "0")
    found = read_all(west.bootstrap, TOPIC, 1)
    (done,) = told(east, "mirror", verb, TOPIC)["topics"]
    assert done["mirror_status"] == "STOPPED", done
    assert read_all(east.bootstrap, TOPIC, 1).items() >= found.items()
    assert not refuses(east)


@pytest.mark.parametrize("verb", ["reverse-and-start", "promote"])
def test_a_source_of_an_earlier_release_takes_its_topic_back(
    tmp_path: Path, earlier: Path, started: list[Region], verb: str
) -> None:
    west, east = (
        Region(started, tmp_path / "west", earlier),
        Region(started, tmp_path / "east", ROOT),
    )
    create_topic(west.bootstrap, TOPIC, 1)
    link(west, east)
    begun(west, east, verb)
    assert [one["verb"] for one in transitions(east)] == [verb]
    told(east, "mirror", "cancel", TOPIC)
    check_goes_on(west, east, verb)


@pytest.mark.parametrize("verb", ["reverse-and-start", "promote"])
def test_a_mirror_s_region_of_an_earlier_release_refuses_and_cancels_once_it_is_upgraded(
    tmp_path: Path, earlier: Path, started: list[Region], verb: str
) -> None:
    west, east = (
        Region(started, tmp_path / "west", ROOT),
        Region(started, tmp_path / "east", earlier),
    )
    create_topic(west.bootstrap, TOPIC, 1)
    link(west, east)
    begun(west, east, verb)
    before = _check_refused(east)
    east.upgrade(1)
    wait(lambda: steps(east) == ["PROVING"], lambda: transitions(east))
    (one,) = transitions(east)
    assert (one["verb"], one["can_be_cancelled"]) == (verb, True)
    assert one["mirror_status"] == before["mirror_status"]
    told(east, "mirror", "cancel", TOPIC)
    check_goes_on(west, east, verb)


def _check_refused(region: Region | At) -> Any:
    """-> the transition, which is there before and afterwards."""
    (before,) = transitions(region)
    code, answer = asked(region, "mirror", "cancel", TOPIC, "--link", LINK)
    assert code == 1, answer
    assert "earlier release, which does not know CancelMirrors" in answer["error"], answer
    assert "upgrade the node" in answer["hint"], answer
    (after,) = transitions(region)
    assert (after["mirror_status"], after["waits_for"]) == (
        before["mirror_status"],
        "not said: the link coordinator is of an earlier release",
    )
    assert after["since_ms"] == before["since_ms"] and not after["can_be_cancelled"]
    return after


def _coordinator(name: str) -> int:
    """Of a region of three nodes whose cluster id this is."""
    brokers = [{"id": index, "fenced": False} for index in (1, 2, 3)]
    return coordinator({"cluster_id": name, "brokers": brokers})


def test_a_coordinator_of_an_earlier_release_refuses_what_newer_nodes_pass_on(
    tmp_path: Path, earlier: Path, started: list[Region]
) -> None:
    older = _coordinator("east")
    west, east = (
        Region(started, tmp_path / "west", ROOT),
        Region(started, tmp_path / "east", *[earlier] * 3),
    )
    for node in {1, 2, 3} - {older}:
        east.upgrade(node)
    for topic in (TOPIC, OTHER):
        create_topic(west.bootstrap, topic, 1)
    link(west, east)
    told(east, "mirror", "create", OTHER, "--link", LINK)
    begun(west, east, "reverse-and-start")
    newer = At(east.nodes[older % 3 + 1])
    _check_refused(newer)
    _check_refused_over_rest(east.nodes[older % 3 + 1])
    east.upgrade(older)
    wait(lambda: steps(newer) == ["PROVING"], lambda: transitions(newer))
    told(newer, "mirror", "cancel", TOPIC)
    check_goes_on(west, east, "reverse-and-start")


def _check_refused_over_rest(node: NodeProcess) -> None:
    url = f"http://{node.told['rest']}/kafka/v3/clusters/east"
    with httpx.Client(base_url=url, timeout=TIMEOUT_S) as rest:
        listed = rest.get("/links/-/mirrors", params={"in_transition": True}).json()["data"]
        assert [one["mirror_topic_name"] for one in listed] == [TOPIC]
        topics = {"mirror_topic_names": [TOPIC]}
        answer = rest.post(f"/links/{LINK}/mirrors:cancel", json=topics)
        assert (answer.status_code, answer.json()["error"]) == (400, "UNSUPPORTED_VERSION")


def test_brokers_of_an_earlier_release_copy_on_after_a_coordinator_of_this_one_has_cancelled(
    tmp_path: Path, earlier: Path, started: list[Region]
) -> None:
    """A failover that waits for the end of a log: all brokers had stopped copying."""
    newer = _coordinator("east")
    west, east = (
        Region(started, tmp_path / "west", ROOT),
        Region(started, tmp_path / "east", *[earlier] * 3),
    )
    east.upgrade(newer)
    create_topic(west.bootstrap, TOPIC, 3)
    link(west, east)
    fill(west, 3)
    wait(lambda: held(east) == [RECORDS] * 3, lambda: held(east))
    away, other, at = newer % 3 + 1, (newer + 1) % 3 + 1, At(east.nodes[newer])
    east.nodes[away].kill()
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(failed_over, at)
        wait(lambda: steps(at) == ["CUTTING"], lambda: transitions(at))
        fill(west, 3)
        _, refused = asked(At(east.nodes[other]), "mirror", "cancel", TOPIC, "--link", LINK)
        assert "earlier release" in refused["error"], refused
        told(at, "mirror", "cancel", TOPIC)
        (answer,) = waiting.result(TIMEOUT_S).topics
    assert "changed meanwhile: it is ACTIVE" in answer.error.message, answer
    east.nodes[away].start()
    wait(lambda: held(east) == [2 * RECORDS] * 3, lambda: held(east))
    (done,) = told(at, "mirror", "promote", TOPIC)["topics"]
    assert done["mirror_status"] == "STOPPED", done
    assert read_all(east.bootstrap, TOPIC, 3) == read_all(west.bootstrap, TOPIC, 3)


def failed_over(at: At) -> Any:
    """As soon as it is done, or is not any more."""
    with Administrator(find_endpoint(at.bootstrap)) as administrator:
        request = pb.MirrorsRequest(link_name=LINK, mirror_topics=[TOPIC])
        return administrator.ask("FailoverMirrors", request, TIMEOUT_S)


def held(region: Region) -> list[int]:
    lags = asked(region, "mirror", "describe", TOPIC)[1]["mirror_lags"]
    return [one["local_log_end_offset"] for one in lags]
