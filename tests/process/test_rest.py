"""REST v3 over HTTP, against two real regions: the same answers as the command line, and hostile requests."""

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from confluent_kafka import Producer

from brokers.connection_quotas import CONNECTIONS
from linker.peer_limits import COMMANDS
from tests.process.asking import until
from tests.process.commands import causeway
from tests.process.ledger import create_topic
from tests.process.nodes import NodeProcess

TIMEOUT_S = 90
LINK, TOPIC, PARTITIONS = "west-east", "orders", 3
DOCUMENTED = {
    "/links": {"get", "post"},
    "/links/{link_name}": {"get", "delete"},
    "/links/{link_name}/configs": {"get"},
    "/links/{link_name}/configs/{config_name}": {"get", "put", "delete"},
    "/links/{link_name}/configs:alter": {"put"},
    "/links/{link_name}/mirrors": {"get", "post"},
    "/links/-/mirrors": {"get"},
    "/links/-/holes": {"get"},
    "/links/-/decisions": {"get"},
    "/links/-/destinations": {"get"},
    "/links/-/taken-over-topics": {"get"},
    "/links/{link_name}/mirrors/{mirror_topic_name}": {"get"},
    **{
        f"/links/{{link_name}}/mirrors:{verb}": {"post"}
        for verb in (
            "promote", "failover", "pause", "resume", "reverse-and-start-mirror",
            "reverse-and-pause-mirror", "cancel", "truncate-and-restore",
        )
    },
}  # fmt: skip


class Rest:
    """A region's REST v3."""

    def __init__(self, directory: Path, **settings: object) -> None:
        directory.mkdir()
        self.cluster_id = directory.name
        given = {name.replace("_", "."): value for name, value in settings.items()}
        listener = {"cluster.id": self.cluster_id, "rest.listener": "127.0.0.1:0"}
        self.node = NodeProcess(directory, {**listener, **given})
        self.start()

    def start(self) -> None:
        """Also after a stop: on another port."""
        self.node.start()
        self.root = f"http://{self.node.told['rest']}"
        self.client = httpx.Client(
            base_url=f"{self.root}/kafka/v3/clusters/{self.cluster_id}", timeout=TIMEOUT_S
        )

    def stop(self) -> None:
        self.client.close()
        assert self.node.stop() == 0

    def get(self, path: str, **query: Any) -> Any:
        answer = self.client.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, body: Any, expected: int = 200, **query: Any) -> Any:
        answer = self.client.post(path, json=body, params=query)
        assert answer.status_code == expected, answer.text
        return answer.json()

    def put(self, path: str, body: Any, expected: int = 204, **query: Any) -> Any:
        answer = self.client.put(path, json=body, params=query)
        assert answer.status_code == expected, answer.text
        return answer.json() if answer.content else None

    def delete(self, path: str, expected: int = 204, **query: Any) -> None:
        answer = self.client.delete(path, params=query)
        assert answer.status_code == expected, answer.text

    def wait(self, is_so: Callable[[], bool]) -> None:
        until(is_so, TIMEOUT_S, lambda: "it is not so")

    def status(self) -> str:
        return str(self.get(f"/links/{LINK}/mirrors/{TOPIC}")["mirror_status"])

    def at_command_line(self, *arguments: str) -> Any:
        return causeway(*arguments, "--bootstrap-server", self.node.address, timeout=TIMEOUT_S)


@pytest.fixture
def regions(tmp_path: Path) -> Iterator[tuple[Rest, Rest]]:
    west, east = Rest(tmp_path / "west"), Rest(tmp_path / "east")
    yield west, east
    for region in (west, east):
        region.stop()
        assert "Traceback" not in region.node.log()


def produce(region: Rest, count: int) -> None:
    """`count` records to each partition."""
    producer = Producer({"bootstrap.servers": region.node.address})
    for number in range(count * PARTITIONS):
        producer.produce(TOPIC, str(number).encode(), partition=number % PARTITIONS)
    assert producer.flush(TIMEOUT_S) == 0


def linked(west: Rest, east: Rest) -> None:
    """East mirrors west's topic, which has ten records in each partition."""
    create_topic(west.node.address, TOPIC, PARTITIONS)
    produce(west, 10)
    configs = [
        {"name": "bootstrap.servers", "value": west.node.address},
        {"name": "source.fencing.enable", "value": "false"},
    ]
    body = {"configs": configs, "source_cluster_id": "west"}
    assert east.post("/links", body, link_name=LINK, validate_only=True)["link_id"] == ""
    assert east.get("/links")["data"] == []
    assert east.post("/links", body, 201, link_name=LINK)["source_cluster_id"] == "west"
    made = east.post(f"/links/{LINK}/mirrors", {"source_topic_name": TOPIC}, 201)
    assert made["mirror_topic_name"] == TOPIC


def held(region: Rest) -> dict[int, int]:
    """How many records the mirror lacks, by partition, once it knows."""
    mirror = region.get(f"/links/{LINK}/mirrors/{TOPIC}")
    return {one["partition"]: one["lag"] for one in mirror["mirror_lags"]}


def test_a_link_from_its_creation_to_its_end(regions: tuple[Rest, Rest]) -> None:
    west, east = regions
    linked(west, east)
    east.wait(lambda: held(east) == dict.fromkeys(range(PARTITIONS), 0))
    _compare(east)
    _configure(east)
    _change(east)
    assert east.post(f"/links/{LINK}/mirrors:failover", {"mirror_topic_names": [TOPIC]})
    east.wait(lambda: east.status() == "STOPPED")
    _restore(west, east)
    east.delete(f"/links/{LINK}")
    assert east.client.get(f"/links/{LINK}").status_code == 404


def _compare(east: Rest) -> None:
    """REST says what the command line says."""
    link = east.get(f"/links/{LINK}", include_tasks=True)
    told = east.at_command_line("link", "describe", LINK)
    same = ("link_name", "link_id", "source_cluster_id", "topic_names", "link_state", "link_error")
    assert {name: link[name] for name in same} == {name: told[name] for name in same}
    counts = {one["state_category"]: one["count"] for one in link["category_counts"]}
    assert counts == told["category_counts"]
    tasks = [(one["task_name"], one["state"]) for one in link["tasks"]]
    assert tasks == [(one["name"], one["state"]) for one in told["tasks"]]
    assert east.get(f"/links/{LINK}")["tasks"] is None
    told = east.at_command_line("mirror", "describe", TOPIC)
    (mirror,) = east.get("/links/-/mirrors", mirror_status="active")["data"]
    assert (mirror["mirror_status"], mirror["num_partitions"]) == ("ACTIVE", PARTITIONS)
    assert mirror["state_time_ms"] == told["state_time_ms"]
    assert east.client.get(mirror["metadata"]["self"]).json()["mirror_topic_name"] == TOPIC
    assert east.get(f"/links/{LINK}/mirrors", mirror_status="PAUSED")["data"] == []
    told = east.at_command_line("link", "configs", LINK)["configs"]
    configs = east.get(f"/links/{LINK}/configs")["data"]
    assert {one["name"]: one["value"] for one in configs} == {
        one["name"]: one["value"] for one in told
    }


def _configure(east: Rest) -> None:
    configs = f"/links/{LINK}/configs"
    name = "consumer.offset.sync.ms"
    east.put(f"{configs}/{name}", {"value": "2000"})
    one = east.get(f"{configs}/{name}")
    assert (one["value"], one["is_default"]) == ("2000", False)
    east.delete(f"{configs}/{name}")
    assert east.get(f"{configs}/{name}")["value"] == "30000"
    changes = [{"name": name, "value": "4000"}, {"name": "source.fencing.enable"}]
    changes[1]["operation"] = "DELETE"
    east.put(f"{configs}:alter", {"data": changes}, validate_only=True)
    assert east.get(f"{configs}/{name}")["is_default"]
    refused = east.put(f"{configs}:alter", {"data": [{"name": name, "value": "1"}]}, 400)
    assert refused["error"] == "INVALID_CONFIG" and name in refused["problems"][0]
    east.put(f"{configs}:alter", {"data": [{"name": name, "value": "4000"}]})
    assert east.get(f"{configs}/{name}")["value"] == "4000"
    assert east.get(f"{configs}/link.mode")["is_read_only"]
    assert east.client.get(f"{configs}/no.such").status_code == 404


def _change(east: Rest) -> None:
    mirrors = f"/links/{LINK}/mirrors"
    paused = east.post(f"{mirrors}:pause", {"mirror_topic_name_pattern": "ord.*"})
    (one,) = paused["data"]
    assert (one["mirror_topic_name"], one["error_code"]) == (TOPIC, None)
    assert east.status() == "PAUSED"
    (one,) = east.post(f"{mirrors}:promote", {"mirror_topic_names": [TOPIC]})["data"]
    assert one["error_code"] == 40002 and one["error_message"].startswith("INVALID_REQUEST")
    east.post(f"{mirrors}:resume", {"mirror_topic_names": [TOPIC]})
    assert east.status() == "ACTIVE"
    body = {"mirror_topic_names": [TOPIC]}
    east.post(f"{mirrors}:failover", body, validate_only=True)
    assert east.status() == "ACTIVE"


def _restore(west: Rest, east: Rest) -> None:
    """West goes on without knowing, and is restored: what is truncated is in the reply."""
    produce(west, 5)
    configs = [{"name": "bootstrap.servers", "value": east.node.address}]
    west.post("/links", {"configs": configs}, 201, link_name=LINK)
    for given in ((), ("--pattern", "o.*s")):
        command = ("mirror", "truncate-and-restore", "--link", LINK, "--dry-run", *given)
        (told,) = west.at_command_line(*command)["topics"]
        assert told["mirror_topic"] == TOPIC and west.get(f"/links/{LINK}/mirrors")["data"] == []
    restoring = f"/links/{LINK}/mirrors:truncate-and-restore"
    west.post(restoring, {"mirror_topic_name_pattern": "none.*"}, 400)
    pattern = {"mirror_topic_name_pattern": "ord.*"}
    (one,) = west.post(restoring, pattern, validate_only=True)["data"]
    assert (one["mirror_topic_name"], one["error_code"]) == (TOPIC, None)
    (one,) = west.post(restoring, pattern, include_partition_level_truncation_data=True)["data"]
    assert one["messages_truncated"] == 5 * PARTITIONS
    assert one["partition_level_truncation_data"] == [
        {"partition_id": index, "offset_truncated_to": 10, "messages_truncated": 5}
        for index in range(PARTITIONS)
    ]
    west.wait(lambda: west.status() == "ACTIVE")
    refused = west.client.delete(f"/links/{LINK}")
    assert (refused.status_code, refused.json()["error"]) == (409, "CLUSTER_LINK_IN_USE")
    west.delete(f"/links/{LINK}", force=True)


def test_what_is_asked_wrongly_is_refused_and_said(regions: tuple[Rest, Rest]) -> None:
    west, _ = regions
    for status, answer in _wrong(west):
        body = answer.json()
        assert answer.status_code == status, (status, body)
        assert (
            body["message"]
            and body["error_code"] // 10 ** (len(str(body["error_code"])) - 3) == status
        )
    assert west.get("/links")["data"] == []


def _wrong(west: Rest) -> Iterator[tuple[int, httpx.Response]]:
    client = west.client
    yield 404, client.get(f"{west.root}/kafka/v3/clusters/other/links")
    yield 404, client.get(f"{west.root}/no/such/path")
    yield 405, client.put("/links", json={})
    yield 400, client.get("/links", params={"no_such": 1})
    yield 400, client.get("/links/-/mirrors", params={"mirror_status": "no-such"})
    yield 400, client.get("/links/-/holes", params={"topic": "t"})
    yield 404, client.get("/links/none")
    yield 404, client.get("/links/none/mirrors")
    yield 404, client.get("/links/none/mirrors/none")
    yield 400, client.post("/links", json={"no_such": 1}, params={"link_name": "l"})
    yield 400, client.post("/links", content=b"{", params={"link_name": "l"})
    yield 400, client.post("/links", json={}, params={"link_name": "l"})
    yield 400, client.post("/links", json={}, params={"link_name": "a b"})
    yield 400, client.post("/links", json={"cluster_link_id": "x"}, params={"link_name": "l"})
    yield 400, client.post("/links", json={"remote_cluster_id": "x"}, params={"link_name": "l"})
    text = b'{"configs": [{"name": "\\ud800", "value": "x"}]}'
    headers = {"content-type": "application/json"}
    yield 400, client.post("/links", content=text, headers=headers, params={"link_name": "l"})
    long = b" " * (COMMANDS.request_bytes + 1)
    yield 413, client.post("/links", content=long, params={"link_name": "l"})


def test_the_description_has_every_operation(regions: tuple[Rest, Rest]) -> None:
    west, _ = regions
    described = httpx.get(f"{west.root}/kafka/v3/openapi.json").json()
    root = "/kafka/v3/clusters/{cluster_id}"
    operations = {
        path.removeprefix(root): set(methods) for path, methods in described["paths"].items()
    }
    assert operations == DOCUMENTED
    schemas = described["components"]["schemas"]
    for name in ("LinkData", "MirrorData", "MirrorLagData"):
        about = {
            key: one.get("description", "") for key, one in schemas[name]["properties"].items()
        }
        ours = {key for key, text in about.items() if text.startswith("Ours. ")}
        assert {"lag_bytes", "lag_ms", "lag_is_lower_bound"} <= ours, (name, about)


def test_connections_that_ask_nothing_make_room_for_others(regions: tuple[Rest, Rest]) -> None:
    west, _ = regions
    host, port = west.node.told["rest"].rsplit(":", 1)
    idle = [socket.create_connection((host, int(port))) for _ in range(CONNECTIONS.per_ip)]
    for each in idle:
        each.send(b"GET /kafka/v3")
    west.wait(lambda: _answers(west))
    for each in idle:
        assert each.recv(1) == b"", "it was closed"
        each.close()


def test_clients_are_answered_while_others_hold_all_connections(regions: tuple[Rest, Rest]) -> None:
    """They got 503."""
    west, _ = regions
    host, port = west.node.told["rest"].rsplit(":", 1)
    with ExitStack() as held:
        for number in range(CONNECTIONS.total):
            local = (f"127.0.0.{2 + number % 2}", 0)
            idle = socket.create_connection((host, int(port)), source_address=local)
            held.enter_context(idle).send(b"GET /kafka/v3")
        assert _answers(west)


def _answers(region: Rest) -> bool:
    with httpx.Client(base_url=region.client.base_url) as client:
        return client.get("/links").status_code == 200
