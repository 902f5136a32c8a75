"""Reversals and promotions are listed and cancelled over the command line, gRPC and REST, under a stock producer."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from confluent_kafka import KafkaError, Producer

from federation.cli import main
from federation.commands.link.messages import as_dict
from linker.shell.administrator import Administrator, find_endpoint
from linker.wire.v1 import admin_pb2 as pb
from tests.process.ledger import create_topic, read_all
from tests.process.test_rest import TIMEOUT_S, TOPIC, Rest

LINK = "both"
MIRRORS = f"/links/{LINK}/mirrors"
SLOW = "1000"  # bytes a second: what is sent behind a first batch takes minutes
LONG = "600000"


@pytest.fixture
def regions(tmp_path: Path) -> Iterator[tuple[Rest, Rest]]:
    """East mirrors west's topic; each has the link."""
    west, east = Rest(tmp_path / "west"), Rest(tmp_path / "east")
    create_topic(west.node.address, TOPIC, 1)
    for here, there in ((east, west), (west, east)):
        told(here, "link", "create", LINK, "--remote-bootstrap-server", there.node.address)
    for region in (west, east):
        region.wait(lambda region=region: region.get(f"/links/{LINK}")["link_state"] == "ACTIVE")  # type: ignore[misc]
    told(east, "mirror", "create", TOPIC, "--link", LINK)
    yield west, east
    for region in (west, east):
        region.client.close()
        assert region.node.stop() == 0
        assert "Traceback" not in region.node.log()


def told(region: Rest, *arguments: str, exit_code: int = 0) -> Any:
    """What the command line answers, in this process."""
    command = [*arguments, "--json", "--bootstrap-server", region.node.address]
    ran = CliRunner().invoke(main, command)
    assert ran.exit_code == exit_code, ran.output
    return json.loads(ran.stdout)


class Sender:
    """Numbered records of 700 KB to west; `acknowledged` has those that it has stored."""

    def __init__(self, region: Rest, rng: random.Random) -> None:
        self.acknowledged: dict[tuple[int, int], int] = {}
        self._rng = rng
        self._number = 0
        self._producer = Producer(
            {"bootstrap.servers": region.node.address, "enable.idempotence": True}
        )

    def send(self) -> bool:
        """Whether the region has taken a record; what it refuses is refused because the topic is read-only."""
        self._number += 1
        number, results = self._number, []
        value = str(number).encode() + b" " + self._rng.randbytes(700_000)

        def answered(error: Any, message: Any) -> None:
            results.append(error)
            if error is None:
                self.acknowledged[message.partition(), message.offset()] = number

        self._producer.produce(TOPIC, value, partition=0, on_delivery=answered)
        assert self._producer.flush(TIMEOUT_S) == 0
        (error,) = results
        assert error is None or error.code() == KafkaError.POLICY_VIOLATION, error
        return error is None


def limit(east: Rest, rate: str) -> None:
    """Of a new stream, which has not been allowed anything before."""
    for paused in ("true", "false"):
        configs = (f"io.max.bytes.per.second={rate}", f"cluster.link.paused={paused}")
        options = [part for config in configs for part in ("--config", config)]
        told(east, "link", "configs", LINK, *options)
    east.wait(lambda: east.get(f"/links/{LINK}")["link_state"] == "ACTIVE")


def begun(west: Rest, east: Rest, sender: Sender, verb: str) -> None:
    """The transition waits for records that come slowly."""
    limit(east, SLOW)
    for _ in range(5):
        assert sender.send()
    asked = ("mirror", verb, TOPIC, "--no-wait", "--timeout-ms", LONG, "--reason", "exercise")
    (topic,) = told(east, *asked)["topics"]
    assert "error" not in topic
    east.wait(lambda: under_way(east)[0]["step"] == "PROVING")


def under_way(region: Rest) -> list[Any]:
    return list(told(region, "mirror", "transitions")["transitions"])


def transitions(region: Rest) -> list[Any]:
    """The same by the command line, over gRPC, and over REST, of what waits."""
    rows = under_way(region)
    with Administrator(find_endpoint(region.node.address)) as administrator:
        request = pb.ListMirrorsRequest(in_transition=True)
        reply = administrator.ask("ListMirrors", request, TIMEOUT_S)
    listed = region.get("/links/-/mirrors", in_transition=True)["data"]
    for one, mirror, data in zip(rows, reply.mirrors, listed, strict=True):
        found = as_dict(mirror.transition)
        assert {name: one[name] for name in found} == found
        same = ("verb", "step", "since_ms", "waits_for", "can_be_cancelled", "asked_by", "reason")
        assert [data["transition"][name] for name in same] == [found[name] for name in same]
        assert data["mirror_topic_name"] == one["mirror_topic"]
    return rows


def refusal(region: Rest, *arguments: str) -> Any:
    """Of the first topic."""
    return told(region, *arguments, exit_code=1)["topics"][0]["error"]


def status(region: Rest) -> str:
    return str(region.get(f"{MIRRORS}/{TOPIC}")["mirror_status"])


def is_held(east: Rest) -> bool:
    (one,) = east.get(f"{MIRRORS}/{TOPIC}")["mirror_lags"]
    return bool(one["lag"] == 0)


def check_all_held(west: Rest, east: Rest, sender: Sender) -> None:
    limit(east, "0")
    assert sender.send()
    east.wait(lambda: is_held(east))
    assert set(read_all(west.node.address, TOPIC, 1, number_of=_number).items()) >= set(
        sender.acknowledged.items()
    )


def _number(value: bytes) -> int:
    return int(value.split(b" ", 1)[0])


def test_a_reversal_and_a_promotion_are_cancelled_and_the_producer_goes_on(
    regions: tuple[Rest, Rest], rng: random.Random
) -> None:
    west, east = regions
    sender = Sender(west, rng)
    begun(west, east, sender, "reverse-and-start")
    assert not sender.send()
    (there,) = transitions(west)
    assert (there["step"], there["can_be_cancelled"]) == ("AWAITING_CUT", False)
    (one,) = transitions(east)
    assert (one["verb"], one["reason"]) == ("reverse-and-start", "exercise")
    assert one["asked_by"].startswith("127.0.0.1:")
    error = refusal(west, "mirror", "cancel", TOPIC)
    assert "east" in error["message"] and "ask there" in error["hint"]
    east.post(f"{MIRRORS}:cancel", {"mirror_topic_names": [TOPIC]}, validate_only=True)
    assert status(east) == "PENDING_SYNCHRONIZE"
    cancel = ("mirror", "cancel", TOPIC, "--reason", "not tonight")
    assert told(east, *cancel)["topics"][0]["mirror_status"] == "ACTIVE"
    east.wait(lambda: not under_way(east) and not under_way(west))
    assert transitions(east) == transitions(west) == []
    check_all_held(west, east, sender)
    begun(west, east, sender, "promote")
    body = {"mirror_topic_name_pattern": "ord.*", "reason": "too slow"}
    (done,) = east.post(f"{MIRRORS}:cancel", body)["data"]
    assert (done["error_code"], status(east)) == (None, "ACTIVE")
    (again,) = east.post(f"{MIRRORS}:cancel", {"mirror_topic_names": [TOPIC]})["data"]
    error = refusal(east, "mirror", "cancel", TOPIC)
    assert again["error_message"].startswith(f"{error['code']}: {error['message']}")
    check_all_held(west, east, sender)
    history = told(east, "region", "history", "--resource", f"mirror:{TOPIC}")
    cancels = [one for one in history["operations"] if one["operation"] == "CancelMirrors"]
    assert [one["details"] for one in cancels] == ["not tonight", "too slow"]
    assert {one["host"] for one in cancels} == {"127.0.0.1"}
    errors = told(east, "mirror", "describe", TOPIC)["state_transition_errors"]
    assert [one["code"] for one in errors] == ["CANCELLED", "CANCELLED"]
    check_reversals_over_rest(west, east)
    assert (
        "nothing to cancel" in refusal(east, "mirror", "cancel", TOPIC, "--link", LINK)["message"]
    )


def check_reversals_over_rest(west: Rest, east: Rest) -> None:
    """There and back: east's mirror is paused at the end."""
    swaps = ((east, west, "start", "ACTIVE"), (west, east, "pause", "PAUSED"))
    for mirror, source, verb, state in swaps:
        body = {"mirror_topic_names": [TOPIC], "reason": f"drill: {verb}"}
        (one,) = mirror.post(f"{MIRRORS}:reverse-and-{verb}-mirror", body)["data"]
        assert one["error_code"] is None
        mirror.wait(lambda mirror=mirror: status(mirror) == "STOPPED")  # type: ignore[misc]
        source.wait(lambda source=source, state=state: status(source) == state)  # type: ignore[misc]
        decision = told(mirror, "mirror", "decisions", TOPIC)["decisions"][-1]
        assert decision["kind"] == f"REVERSE_AND_{verb.upper()}"
        assert decision["reason"] == f"drill: {verb}"
        assert decision["asked_by"].startswith("127.0.0.1:")
        cut = mirror.get(f"{MIRRORS}/{TOPIC}")["cut"]
        assert (cut["known_missing"], cut["is_known_missing_exact"]) == (0, True)
        assert {name: decision["cut"][name] for name in cut} == cut
