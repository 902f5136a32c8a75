"""`causeway mirror lost`, with real processes: a lower bound while the old primary is away, then every record.

What the old primary has deleted or discarded is never taken for nothing.
"""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from tests.process.asking import COMMAND_PAUSE_S, until
from tests.process.commands import CAUSEWAY, causeway
from tests.process.ledger import create_topic
from tests.process.nodes import NodeProcess

TIMEOUT_S = 90
LINK, TOPIC, PARTITIONS, COPIED, LOST = "west-east", "orders", 2, 10, 7
DELETED = 2  # of the lost records of partition 0
LOWER_BOUND = 3


class Pair:
    """Two regions of one node; east mirrors west."""

    def __init__(self, directory: Path) -> None:
        self.west, self.east = (self._node(directory / name) for name in ("west", "east"))

    @staticmethod
    def _node(directory: Path) -> NodeProcess:
        directory.mkdir()
        node = NodeProcess(directory, {"cluster.id": directory.name})
        node.start()
        return node

    def at_east(self, *arguments: str) -> Any:
        return causeway(*arguments, "--bootstrap-server", self.east.address, timeout=TIMEOUT_S)

    def lost(self, *arguments: str) -> tuple[int, Any]:
        command = [CAUSEWAY, "mirror", "lost", TOPIC, "--json", *arguments]
        command += ["--bootstrap-server", self.east.address]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
        return done.returncode, json.loads(done.stdout)

    def produce(self, node: NodeProcess, values: list[str]) -> None:
        producer = Producer({"bootstrap.servers": node.address})
        for value in values:
            for partition in range(PARTITIONS):
                producer.produce(TOPIC, value, partition=partition)
        assert producer.flush(TIMEOUT_S) == 0

    def wait_copied(self, count: int) -> None:
        def is_copied() -> bool:
            lags = self.at_east("mirror", "describe", TOPIC)["mirror_lags"]
            return [one["local_log_end_offset"] for one in lags] == [count] * PARTITIONS

        until(is_copied, TIMEOUT_S, lambda: "not copied", pause_s=COMMAND_PAUSE_S)

    def wait_foretold(self, count: int) -> None:
        """The mirror is paused, and hears how far its source is all the same."""

        def is_foretold() -> bool:
            (topic,) = self.at_east("mirror", "forecast", TOPIC)["topics"]
            return bool(sum(one["missing"] for one in topic["partitions"]) == count)

        until(is_foretold, TIMEOUT_S, lambda: "not foretold", pause_s=COMMAND_PAUSE_S)


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    pair = Pair(tmp_path)
    create_topic(pair.west.address, TOPIC, PARTITIONS)
    pair.at_east("link", "create", LINK, "--source-bootstrap-server", pair.west.address)
    pair.at_east("mirror", "create", TOPIC, "--link", LINK)
    yield pair
    for node in (pair.west, pair.east):
        if node.is_running():
            node.stop()


def fail_over(pair: Pair, deleted: int = 0) -> list[str]:
    """West dies with records that east never gets -> their values. The first of them are deleted in partition 0."""
    pair.produce(pair.west, [str(number) for number in range(COPIED)])
    pair.wait_copied(COPIED)
    pair.at_east("mirror", "pause", TOPIC)
    values = [f"lost-{number}" for number in range(LOST)]
    for batch in (values[:DELETED], values[DELETED:]):
        pair.produce(pair.west, batch)
    pair.wait_foretold(LOST * PARTITIONS)
    if deleted:
        admin = AdminClient({"bootstrap.servers": pair.west.address})
        before = TopicPartition(TOPIC, 0, COPIED + deleted)
        (done,) = admin.delete_records([before]).values()
        assert done.result(TIMEOUT_S).low_watermark == COPIED + deleted
    pair.west.kill()
    pair.at_east("mirror", "failover", TOPIC)
    return values


def test_what_is_lost_is_listed_once_the_old_primary_answers(pair: Pair) -> None:
    values = fail_over(pair)
    code, found = pair.lost()
    assert (code, found.get("is_exact")) == (LOWER_BOUND, False), found
    assert found["lost_records"] == LOST * PARTITIONS and found["because"], "as was foretold"
    pair.produce(pair.east, [values[0]])
    pair.west.start()
    code, found = pair.lost()
    assert (code, found["is_exact"], found["lost_records"]) == (0, True, LOST * PARTITIONS)
    assert _held(found) == _expected(values, "log")
    _check_restored(pair, values)


def _restore(pair: Pair) -> None:
    at_west = ("--bootstrap-server", pair.west.address)
    to_east = ("--source-bootstrap-server", pair.east.address)
    causeway("link", "create", "back", *to_east, *at_west, timeout=TIMEOUT_S)
    restore = ("mirror", "truncate-and-restore", TOPIC, "--link", "back")
    causeway(*restore, *at_west, timeout=TIMEOUT_S)

    def is_restored() -> bool:
        shown = causeway("mirror", "describe", TOPIC, *at_west, timeout=TIMEOUT_S)
        return bool(shown["mirror_status"] == "ACTIVE")

    until(is_restored, TIMEOUT_S, lambda: "not restored", pause_s=COMMAND_PAUSE_S)


def _expected(values: list[str], *held_in: str) -> list[tuple[int, int, str, str, str]]:
    """(partition, offset, value, class, where) of every record; the first was sent to east again."""
    return [
        (partition, COPIED + index, value, "unique" if index else "resent", held_in[0])
        for partition in range(PARTITIONS)
        for index, value in enumerate(values)
    ]


def _held(found: Any) -> list[tuple[int, int, str, str, str]]:
    names = ("partition", "offset", "value", "class", "held_in")
    return [tuple(one[name] for name in names) for one in found["records"]]


def _check_restored(pair: Pair, values: list[str]) -> None:
    """The same, from the orphan store; then from nowhere, and it is not taken for nothing."""
    _restore(pair)
    code, found = pair.lost()
    assert (code, found["lost_records"]) == (0, LOST * PARTITIONS)
    assert {each[4].partition("/")[0] for each in _held(found)} == {
        f"{TOPIC}-{partition}" for partition in range(PARTITIONS)
    }
    assert [each[:4] for each in _held(found)] == [each[:4] for each in _expected(values, "")]
    code, found = pair.lost("--limit", "3")
    assert (len(found["records"]), found["lost_records"]) == (3, LOST * PARTITIONS)
    _check_replayed(pair)
    for left in reversed(range(PARTITIONS)):
        _check_discarded(pair, left)


def _check_replayed(pair: Pair) -> None:
    """One tail is replayed to the topic itself: its records were lost all the same, and are told from the others."""
    at_west = ("--bootstrap-server", pair.west.address)
    tails = causeway("orphans", "list", *at_west, timeout=TIMEOUT_S)["orphans"]
    (name,) = (one["name"] for one in tails if one["partition"] == 0)
    to_east = ("--to", pair.east.address, "--against", pair.east.address)
    replay = ("orphans", "replay", name, *to_east, *at_west)
    causeway(*replay, "--to-topic", TOPIC, timeout=TIMEOUT_S)
    create_topic(pair.east.address, "beside", PARTITIONS)
    (beside,) = causeway(*replay, "--to-topic", "beside", timeout=TIMEOUT_S)["replayed"]
    assert beside["appended"] == 0
    code, found = pair.lost()
    assert (code, found["lost_records"], found["replayed_records"]) == (0, LOST * 2, LOST - 1)
    assert [each[3] for each in _held(found)[:LOST]] == ["resent", *["replayed"] * (LOST - 1)]
    assert [one["unique_records"] for one in found["partitions"]] == [0, LOST - 1]


def _check_discarded(pair: Pair, left: int) -> None:
    """The tail of one more partition goes, and `left` of them are there."""
    at_west = ("--bootstrap-server", pair.west.address)
    partition = PARTITIONS - 1 - left
    tails = causeway("orphans", "list", *at_west, timeout=TIMEOUT_S)["orphans"]
    (name,) = (one["name"] for one in tails if one["partition"] == partition)
    causeway("orphans", "discard", name, "--yes", *at_west, timeout=TIMEOUT_S)
    code, found = pair.lost()
    assert (code, found["is_exact"]) == (LOWER_BOUND, False), json.dumps(found)
    assert found["lost_records"] == LOST * PARTITIONS, "as many as before, at least"
    assert len(found["records"]) == LOST * left
    said = found["partitions"][partition]
    assert (said["lost_records"], said["missing_offsets"]) == (0, LOST)
    assert name in said["because"] and "was discarded at 20" in said["because"]
    assert name.startswith(f"{TOPIC}-{partition}/{COPIED}-{COPIED + LOST}.e")


def test_what_was_never_failed_over_and_another_region_are_refused(pair: Pair) -> None:
    code, found = pair.lost()
    assert code == 1 and "no decision about orders" in found["error"]
    values = fail_over(pair, DELETED)
    code, found = pair.lost("--source-bootstrap-server", pair.east.address)
    assert code == 1 and "is region east" in found["error"]
    pair.west.start()
    _check_deleted(pair, values)
    _restore(pair)
    _check_deleted(pair, values)


def _check_deleted(pair: Pair, values: list[str]) -> None:
    """What west had deleted beyond the cut before anybody asked."""
    code, found = pair.lost()
    assert (code, found["is_exact"]) == (LOWER_BOUND, False), json.dumps(found)
    first, second = found["partitions"]
    gone = f"offsets [{COPIED}, {COPIED + DELETED}) are in no log"
    assert gone in first["because"] and first["missing_offsets"] == DELETED
    assert (second["because"], second["missing_offsets"]) == ("", 0)
    assert found["lost_records"] == LOST * PARTITIONS
    assert [one["value"] for one in found["records"]] == values[DELETED:] + values
