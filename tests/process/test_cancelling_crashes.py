"""Transitions between two regions of three nodes are cancelled after kills of coordinators and controllers on both
sides, and while the cut is made: one of both wins, and both regions know which."""

import json
import random
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol
from uuid import UUID

import pytest
from click.testing import CliRunner
from confluent_kafka import KafkaError, Producer

from brokers.metadata.image.image import BrokerImage, Image
from federation.cli import main
from linker.coordinator_election import coordinator_of
from linker.shell.administrator import Administrator, Unreachable, find_endpoint
from linker.wire.v1 import admin_pb2 as pb
from tests.process.followers import ConfluentFollower
from tests.process.ledger import Ledger, check, create_topic, read_all
from tests.process.members import Members
from tests.process.test_link import ends
from tests.process.test_linked_regions import (
    LINK,
    NODES,
    PARTITIONS,
    TIMEOUT_S,
    TOPIC,
    LinkedRegions,
    segments,
)

BILLS = "bills"  # has one replica of each partition in east
SLOW = "1000"  # bytes a second: what is there already takes hours
LARGE_BYTES, LARGE_RECORDS = 700_000, 24
LONG_MS = "600000"
RACES, RACES_MAX, RACES_WON = 8, 40, 2
KILLED_WITHIN_S = 0.1  # the cut takes twice as long


class Addressed(Protocol):
    """A region, or a node of one."""

    @property
    def bootstrap(self) -> str: ...


@pytest.fixture
def regions(tmp_path: Path) -> Iterator[LinkedRegions]:
    """East mirrors west's topic; each has the link."""
    both = LinkedRegions(tmp_path)
    both.up()
    create_topic(both.west.bootstrap, TOPIC, PARTITIONS, replicas=NODES, min_insync_replicas="2")
    both.west.wait_in_sync(TOPIC, PARTITIONS)
    for here, there in ((both.east, both.west), (both.west, both.east)):
        told(here, "link", "create", LINK, "--remote-bootstrap-server", there.bootstrap)
    told(both.east, "mirror", "create", TOPIC, "--link", LINK)
    both.east.wait_in_sync(TOPIC, PARTITIONS)
    yield both
    both.down()


# --- what operators ask ---


def asked(region: Addressed, *arguments: str) -> tuple[int, Any]:
    """The exit code of a command in this process, and its answer."""
    command = [*arguments, "--json", "--bootstrap-server", region.bootstrap]
    ran = CliRunner().invoke(main, command)
    return ran.exit_code, json.loads(ran.stdout)


def told(region: Addressed, *arguments: str) -> Any:
    code, answer = asked(region, *arguments)
    assert code == 0, (arguments, answer)
    return answer


def begin(region: Addressed, verb: str) -> None:
    told(
        region, "mirror", verb, TOPIC, "--no-wait", "--timeout-ms", LONG_MS, "--reason", "exercise"
    )


def steps(region: Addressed) -> list[str]:
    """Of what is under way, as soon as it is known; a region that has lost its coordinator does not say yet."""
    return [one["step"] for one in transitions(region)]


def transitions(region: Addressed) -> list[Any]:
    code, answer = asked(region, "mirror", "transitions")
    return list(answer["transitions"]) if code == 0 else [{"step": answer["error"]}]


def status(region: Addressed) -> str:
    """Empty where the topic is no mirror, or nobody says."""
    _, described = asked(region, "mirror", "describe", TOPIC)
    return str(described.get("mirror_status", ""))


def limit(regions: LinkedRegions, rate: str) -> None:
    """Of new streams, which have not been allowed anything before."""
    for paused in ("true", "false"):
        configs = (f"io.max.bytes.per.second={rate}", f"cluster.link.paused={paused}")
        options = [part for config in configs for part in ("--config", config)]
        told(regions.east, "link", "configs", LINK, *options)
    regions.wait_until(
        lambda: told(regions.east, "link", "describe", LINK)["link_state"] == "ACTIVE"
    )


# --- crashes ---


def kill(region: Members) -> None:
    """The link coordinator and the active controller, at once."""
    described = told(region, "region", "describe")
    for node in {described["controller"], coordinator(described)}:
        region.signal(node, signal.SIGKILL)
    for node in {described["controller"], coordinator(described)}:
        region.wait_dead(node)


def coordinator(described: Any) -> int:
    image = Image(described["cluster_id"])
    for one in described["brokers"]:
        image.brokers[one["id"]] = BrokerImage(one["id"], 0, UUID(int=0), (), fenced=one["fenced"])
    found = coordinator_of(image)
    assert found is not None
    return found.id


# --- records ---


def fill(region: Members) -> None:
    """Records that a slow link does not copy; their numbers are below those of a ledger."""
    producer = Producer(
        {"bootstrap.servers": region.bootstrap, "message.max.bytes": LARGE_BYTES * 2}
    )
    for number in range(-LARGE_RECORDS, 0):
        value = b"%*d" % (LARGE_BYTES, number)
        producer.produce(TOPIC, value, partition=number % PARTITIONS)
    assert producer.flush(TIMEOUT_S) == 0


def refuses(region: Addressed) -> bool:
    """Whether the topic is read-only there."""
    errors: list[Any] = []
    producer = Producer({"bootstrap.servers": region.bootstrap})
    producer.produce(TOPIC, b"0", partition=0, on_delivery=lambda error, _: errors.append(error))
    assert producer.flush(TIMEOUT_S) == 0
    return errors[0] is not None and errors[0].code() == KafkaError.POLICY_VIOLATION


def check_equal(regions: LinkedRegions) -> None:
    """Every replica on both sides has the same segments."""
    for region in (regions.west, regions.east):
        region.wait_in_sync(TOPIC, PARTITIONS)
    regions.down()
    for partition in range(PARTITIONS):
        first, *others = segments(regions.west, partition) + segments(regions.east, partition)
        assert all(other == first for other in others)


@pytest.mark.parametrize(
    "verb",
    [
        "reverse-and-start",
        pytest.param("reverse-and-pause", marks=pytest.mark.soak),
        pytest.param("promote", marks=pytest.mark.soak),
    ],
)
def test_a_transition_is_cancelled_after_kills_on_both_sides_and_succeeds_later(
    regions: LinkedRegions, verb: str
) -> None:
    west, east = regions.west, regions.east
    limit(regions, SLOW)
    fill(west)
    ledger = Ledger(west.bootstrap, TOPIC, PARTITIONS, pause_s=0.005)
    ledger.start()
    begin(east, verb)
    there = [] if verb == "promote" else ["AWAITING_CUT"]
    regions.wait_until(lambda: (steps(east), steps(west)) == (["PROVING"], there))
    before = transitions(east)
    assert [(one["verb"], one["can_be_cancelled"]) for one in before] == [(verb, True)]
    for region in (east, west):
        kill(region)
        region.up()
    regions.wait_until(lambda: (steps(east), steps(west)) == (["PROVING"], there))
    (after,) = transitions(east)
    same = ("verb", "since_ms", "gives_up_at_ms", "can_be_cancelled", "asked_by", "reason")
    assert [after[name] for name in same] == [before[0][name] for name in same]
    told(east, "mirror", "cancel", TOPIC, "--reason", "not tonight")
    regions.wait_until(lambda: steps(east) == steps(west) == [])
    assert status(east) == "ACTIVE"
    ledger.wait_for(len(ledger.acknowledged) + 200)
    ledger.close()
    assert refuses(east)
    limit(regions, "0")
    found = read_all(west.bootstrap, TOPIC, PARTITIONS)
    check(ledger, found)
    regions.wait_caught_up(ends(found))
    (done,) = told(east, "mirror", verb, TOPIC)["topics"]
    assert done["mirror_status"] == "STOPPED", done
    assert read_all(east.bootstrap, TOPIC, PARTITIONS) == found
    mirrors = {"reverse-and-start": "ACTIVE", "reverse-and-pause": "PAUSED", "promote": ""}
    regions.wait_until(lambda: status(west) == mirrors[verb])
    check_equal(regions)


@pytest.mark.parametrize("kills", [False, True], ids=["calm", "kills"])
@pytest.mark.soak
def test_of_a_cancel_and_the_cut_one_wins_and_both_regions_agree(
    regions: LinkedRegions, rng: random.Random, kills: bool
) -> None:
    follower = ConfluentFollower(
        (regions.west.bootstrap, regions.east.bootstrap), TOPIC, PARTITIONS
    )
    follower.start()
    topic, mirror = regions.west, regions.east
    won: Counter[bool] = Counter()
    delay_s = 0.1
    while won.total() < RACES or min(won[True], won[False]) < RACES_WON:
        assert won.total() < RACES_MAX, won
        victim = coordinator(told(mirror, "region", "describe")) if kills else 0
        is_cut = race(regions, topic, mirror, rng, rng.uniform(0.5, 1.5) * delay_s, victim)
        won[is_cut] += 1
        delay_s *= 0.7 if is_cut else 1.4
        if is_cut:
            topic, mirror = mirror, topic
        assert refuses(mirror)
        follower.wait_for(20)
    follower.close()
    found = read_all(topic.bootstrap, TOPIC, PARTITIONS)
    assert {found.get(where) for where in follower.acknowledged.values()} == {
        *follower.acknowledged
    }
    assert Counter(found.values()).most_common(1)[0][1] == 1
    regions.wait_until(lambda: read_all(mirror.bootstrap, TOPIC, PARTITIONS) == found)
    check_equal(regions)


def race(
    regions: LinkedRegions,
    topic: Members,
    mirror: Members,
    rng: random.Random,
    delay_s: float,
    victim: int,
) -> bool:
    """Whether the cut won. `victim` is a node of the mirror's region that is killed while both are under way, before
    the cancellation arrives or after it; or 0."""
    begin(mirror, "reverse-and-start")
    threading.Event().wait(delay_s)
    with ThreadPoolExecutor(1) as threads:
        answering = threads.submit(cancelled, mirror)
        if victim:
            threading.Event().wait(rng.uniform(0, KILLED_WITHIN_S))
            mirror.signal(victim, signal.SIGKILL)
        answers = [answering.result()]
    while answers[-1] is None:
        answers.append(cancelled(mirror))
    if victim:
        mirror.wait_dead(victim)
        mirror.up()
    regions.wait_until(lambda: steps(mirror) == steps(topic) == [])
    if "is ACTIVE" in answers[-1] or not answers[-1]:
        assert status(mirror) == "ACTIVE" and (len(answers) > 1 or not answers[-1]), answers
        return False
    assert "was cut" in answers[-1] or "STOPPED" in answers[-1], answers
    regions.wait_until(lambda: (status(mirror), status(topic)) == ("STOPPED", "ACTIVE"))
    return True


def cancelled(mirror: Members) -> str | None:
    """Why it was not; empty if it was. None where nobody knows, as whoever was asked is gone."""
    code, answer = asked(mirror, "mirror", "cancel", TOPIC)
    if "topics" not in answer:
        return None
    (one,) = answer["topics"]
    assert (code, "error" in one) in {(0, False), (1, True)}, answer
    if "error" in one and one["error"]["code"] != "INVALID_REQUEST":
        return None
    return str(one["error"]["message"]) if code else ""


@pytest.mark.soak
def test_a_failover_that_waits_is_cancelled_after_kills_and_succeeds_later(
    regions: LinkedRegions,
) -> None:
    """It waits for a broker that does not answer, which alone has the end of a log."""
    west, east = regions.west, regions.east
    create_topic(west.bootstrap, BILLS, NODES)
    single = ("--replication-factor", "1")
    told(east, "mirror", "create", BILLS, "--link", LINK, *single)
    produce(west, 0)
    regions.wait_until(lambda: held(east) == [1] * NODES)
    described = told(east, "region", "describe")
    frozen = min({*east.ids} - {described["controller"], coordinator(described)})
    east.signal(frozen, signal.SIGSTOP)
    with ThreadPoolExecutor(2) as threads:
        failing_over = threads.submit(fail_over, east)
        regions.wait_until(lambda: steps(east) == ["CUTTING"])
        kill(east)
        starting = threads.submit(east.up)  # until the frozen one answers, too
        assert failing_over.result(TIMEOUT_S) is None  # whoever was asked is gone
        regions.wait_until(lambda: steps(east) == ["CUTTING"])
        told(east, "mirror", "cancel", BILLS, "--link", LINK)
        produce(west, 1)
        east.signal(frozen, signal.SIGCONT)
        starting.result(TIMEOUT_S)
    regions.wait_until(lambda: (steps(east), held(east)) == ([], [2] * NODES))
    (topic,) = told(east, "mirror", "failover", BILLS)["topics"]
    assert topic["mirror_status"] == "STOPPED", topic
    found = read_all(east.bootstrap, BILLS, NODES)
    assert found == {(index, offset): offset for index in range(NODES) for offset in (0, 1)}


def fail_over(region: Members) -> Any:
    """The answer; None where there is none."""
    with Administrator(find_endpoint(region.bootstrap)) as administrator, suppress(Unreachable):
        request = pb.MirrorsRequest(link_name=LINK, mirror_topics=[BILLS])
        return administrator.ask("FailoverMirrors", request, TIMEOUT_S)


def produce(region: Members, number: int) -> None:
    """A record to each partition."""
    producer = Producer({"bootstrap.servers": region.bootstrap})
    for partition in range(NODES):
        producer.produce(BILLS, b"%d" % number, partition=partition)
    assert producer.flush(TIMEOUT_S) == 0


def held(region: Members) -> list[int]:
    """By partition; empty where nobody says."""
    _, described = asked(region, "mirror", "describe", BILLS)
    return [one["local_log_end_offset"] for one in described.get("mirror_lags", [])]
