"""A compacted topic in a region of several nodes: replicas clean their own logs, and are copied, moved and elected."""

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from tests.process.asking import until
from tests.process.nodes import BrokerProcess
from tests.process.test_compaction import CLEANER, checkpoint, produced, read, updates
from tests.process.test_directories import Trio

TIMEOUT_S = 60
TOPIC = "table"
PARTITION = f"{TOPIC}-0"


@pytest.fixture
def trio(tmp_path: Path) -> Iterator[Trio]:
    trio = Trio(tmp_path, CLEANER | {"replica.lag.time.max.ms": 3_000})
    trio.start()
    yield trio
    for node in trio.nodes.values():
        if node.is_running():
            node.kill()


def create(trio: Trio, **configs: str) -> None:
    settings = {
        "cleanup.policy": "compact",
        "internal.segment.bytes": "40000",
        "min.insync.replicas": "1",
        **configs,
    }
    wanted = NewTopic(TOPIC, 1, replica_assignment=[[3, 1]], config=settings)
    admin = AdminClient({"bootstrap.servers": trio.bootstrap})
    admin.create_topics([wanted])[TOPIC].result(20)


def latest(node: BrokerProcess) -> dict[bytes | None, bytes | None]:
    found = {key: value for _, key, value in read(node, TOPIC)}
    return {key: value for key, value in found.items() if value is not None}


def cleaned(trio: Trio, node_id: int, least: int) -> None:
    node = trio.nodes[node_id]
    until(lambda: checkpoint(node, PARTITION) >= least, TIMEOUT_S, node.log)


def leads(trio: Trio, node_id: int, through: int) -> None:
    def is_so() -> bool:
        admin = AdminClient({"bootstrap.servers": trio.nodes[through].address})
        place = admin.list_topics(TOPIC, timeout=5).topics[TOPIC].partitions[0]
        return bool(place.leader == node_id)

    until(is_so, TIMEOUT_S, trio.nodes[through].log)


def joined(trio: Trio, node_id: int, through: int) -> None:
    def is_so() -> bool:
        admin = AdminClient({"bootstrap.servers": trio.nodes[through].address})
        return node_id in admin.list_topics(TOPIC, timeout=5).topics[TOPIC].partitions[0].isrs

    until(is_so, TIMEOUT_S, trio.nodes[through].log)


def move(trio: Trio, replicas: list[int]) -> None:
    plan = {"version": 1, "partitions": [{"topic": TOPIC, "partition": 0, "replicas": replicas}]}
    path = trio.a.parent / "plan.json"
    path.write_text(json.dumps(plan))
    command = ("region", "reassign", "{}", "--reassignment-json-file", str(path))
    execute(trio, *command[:2], "execute", *command[3:])
    until(lambda: execute(trio, *command[:2], "verify", *command[3:]) == 0, TIMEOUT_S, str)


def execute(trio: Trio, *command: str) -> int:
    arguments = ("--bootstrap-server", trio.nodes[1].address)
    return subprocess.run(
        [sys.executable, "-m", "federation", *command, *arguments], check=False, capture_output=True
    ).returncode


def test_replicas_of_a_cleaned_log_are_copied_and_elected(trio: Trio, rng: random.Random) -> None:
    create(trio)
    written = updates(rng, 1_500)
    produced(trio.nodes[3], TOPIC, written)
    cleaned(trio, 3, 1_000)
    cleaned(trio, 1, 1_000)
    expected = {key: value for key, value in dict(written).items() if value is not None}
    assert latest(trio.nodes[3]) == expected

    # The follower leads, and writes; the former leader follows what was compacted meanwhile.
    trio.nodes[3].kill()
    leads(trio, 1, 1)
    more = updates(rng, 1_500)
    produced(trio.nodes[1], TOPIC, more)
    expected = {key: value for key, value in dict(written + more).items() if value is not None}
    cleaned(trio, 1, 2_500)
    trio.nodes[3].start()
    joined(trio, 3, 1)

    # A new replica begins with a cleaned log, and is the only one in the end.
    move(trio, [2, 3])
    joined(trio, 2, 1)
    move(trio, [2])
    leads(trio, 2, 1)
    assert latest(trio.nodes[2]) == expected
    produced(trio.nodes[2], TOPIC, [(b"key-0", b"new")])
    assert latest(trio.nodes[2]) == {**expected, b"key-0": b"new"}
    trio.nodes[2].kill()
    trio.nodes[2].start()
    leads(trio, 2, 1)
    assert latest(trio.nodes[2]) == {**expected, b"key-0": b"new"}
    assert all("Traceback" not in node.log() for node in trio.nodes.values())
