"""Each node of a region is asked the same questions over REST, and gives the same answers."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from federation.cli import main
from federation.commands.link.messages import as_dict
from linker.wire.v1 import admin_pb2 as pb
from tests.process.asking import until
from tests.process.ledger import create_topic
from tests.process.members import Members
from tests.process.test_rest import LINK, TIMEOUT_S, TOPIC, Rest
from tests.process.test_same_answers import MIRRORS, Region, check_each, lasting

NODES = 3


class Several:
    """A region of three nodes, each with `rest.listener`."""

    def __init__(self, directory: Path) -> None:
        self.members = Members(directory, NODES, "east")
        self.members.up()
        self.members.down()
        for node in self.members.ids:
            with self.members.data(node).with_suffix(".toml").open("a") as settings:
                settings.write('rest.listener = "127.0.0.1:0"\n')
        self.members.up()
        self._clients = {node: httpx.Client(timeout=TIMEOUT_S) for node in self.members.ids}
        self._roots = {node: self._root(node) for node in self.members.ids}

    def _root(self, node: int) -> str:
        """What it announced at its last start."""
        lines = self.members.log(node).splitlines()
        told = [json.loads(line) for line in lines if line.startswith('{"ready"')][-1]
        brokers = json.loads(self.run("region", "describe").stdout)
        return f"http://{told['rest']}/kafka/v3/clusters/{brokers['cluster_id']}"

    def run(self, *arguments: str) -> Any:
        return CliRunner().invoke(
            main, [*arguments, "--json", "--bootstrap-server", self.members.bootstrap]
        )

    def ask(self, node: int, method: str, path: str, body: Any = None) -> Any:
        answer = self._clients[node].request(method, f"{self._roots[node]}{path}", json=body)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    def at_each(self, path: str) -> list[Any]:
        """Without what names the node or the moment."""
        found = [lasting(self.ask(node, "GET", path)) for node in self.members.ids]
        return [
            json.loads(json.dumps(one).replace(self._roots[node], ""))
            for node, one in zip(self.members.ids, found, strict=True)
        ]

    def wait(self, is_so: Callable[[], bool]) -> None:
        until(is_so, TIMEOUT_S, lambda: "it is not so")

    def end(self) -> None:
        for client in self._clients.values():
            client.close()
        self.members.down()


@pytest.mark.soak
def test_each_node_of_a_region_gives_the_same_answers_and_takes_changes(tmp_path: Path) -> None:
    west, east = Rest(tmp_path / "west"), Several(tmp_path / "east")
    try:
        check_each_node(west, east)
    finally:
        east.end()
        west.client.close()
        assert west.node.stop() == 0


def check_each_node(west: Rest, east: Several) -> None:
    create_topic(west.node.address, TOPIC, 1)
    for command in (
        ("link", "create", LINK, "--source-bootstrap-server", west.node.address),
        ("mirror", "create", TOPIC, "--link", LINK),
    ):
        assert east.run(*command).exit_code == 0
    east.wait(lambda: east.at_each(f"{MIRRORS}/{TOPIC}")[0]["mirror_lags"][0]["lag"] == 0)
    for node in east.members.ids:
        # The others have it once they have read the metadata log so far.
        setting = f"/links/{LINK}/configs/consumer.offset.sync.ms"
        east.ask(node, "PUT", setting, {"value": f"4000{node}"})
        east.wait(lambda: {one["value"] for one in east.at_each(setting)} == {f"4000{node}"})  # noqa: B023
    for path in ("/links", f"/links/{LINK}", f"/links/{LINK}/configs", MIRRORS, "/links/-/mirrors"):
        first, *others = east.at_each(path)
        assert first and others == [first, first], path
    for verb, state in (("pause", "PAUSED"), ("resume", "ACTIVE"), ("failover", "STOPPED")):
        body = {"mirror_topic_names": [TOPIC], "reason": f"a drill: {verb}"}
        (changed,) = east.ask(NODES, "POST", f"{MIRRORS}:{verb}", body)["data"]
        assert changed["error_code"] is None
        mirror = f"{MIRRORS}/{TOPIC}"
        east.wait(lambda: {one["mirror_status"] for one in east.at_each(mirror)} == {state})  # noqa: B023
    (decision,) = json.loads(east.run("mirror", "decisions", TOPIC).stdout)["decisions"]
    assert decision["reason"] == "a drill: failover"
    assert decision["asked_by"].startswith("127.0.0.1:")
    history = json.loads(east.run("region", "history", "--resource", f"mirror:{TOPIC}").stdout)
    told = {one["operation"]: one["details"] for one in history["operations"]}
    assert told["PauseMirrors"] == "a drill: pause"
    check_taken_over(west, decision)


def check_taken_over(west: Rest, decision: Any) -> None:
    """What the source says once it has heard of the failover."""
    path, region = "/links/-/taken-over-topics", Region(west)
    west.wait(lambda: west.get(path)["data"] != [])
    request = pb.ListTakenOverTopicsRequest()
    told = region.over_grpc("ListTakenOverTopics", request).topics
    (one,) = check_each(told, west.get(path))
    assert (one.topic, one.generation) == (TOPIC, decision["generation"])
    assert region.at_command_line("mirror", "taken-over")["topics"] == [as_dict(one)]
    assert (
        region.at_command_line("topic", "describe", TOPIC)["topics"][0]["topic_id"] == one.topic_id
    )
