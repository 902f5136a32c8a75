"""A source process keeps what a mirror lacks that is away, over a restart, and gives it up once the mirror has it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from tests.process.asking import until
from tests.process.commands import causeway
from tests.process.ledger import create_topic
from tests.process.nodes import NodeProcess

TIMEOUT_S = 60
LINK = "west-east"
RETENTION_MS = 3_000
SETTINGS = {"log.retention.check.interval.ms": 500, "log.segment.bytes": 1 << 20}
VALUE = b"x" * 10_000


@pytest.fixture
def regions(tmp_path: Path) -> Iterator[tuple[NodeProcess, NodeProcess]]:
    nodes = []
    for name in ("west", "east"):
        (tmp_path / name).mkdir()
        nodes.append(NodeProcess(tmp_path / name, {"cluster.id": name, **SETTINGS}))
        nodes[-1].start()
    west, east = nodes
    yield west, east
    for node in nodes:
        assert node.stop() == 0
        assert "Traceback" not in node.log()


def produce(node: NodeProcess, topic: str, count: int) -> None:
    producer = Producer({"bootstrap.servers": node.address})
    for _ in range(count):
        producer.produce(topic, VALUE, partition=0)
        producer.poll(0)
    assert producer.flush(TIMEOUT_S) == 0


def watermarks(node: NodeProcess, topic: str) -> tuple[int, int]:
    """The first offset and the high watermark."""
    consumer = Consumer({"bootstrap.servers": node.address, "group.id": "looks"})
    try:
        found: tuple[int, int] = consumer.get_watermark_offsets(TopicPartition(topic, 0), TIMEOUT_S)
        return found
    finally:
        consumer.close()


def wait(is_so: Callable[[], bool]) -> None:
    until(is_so, TIMEOUT_S, lambda: "it is not so")


def ask(node: NodeProcess, *arguments: str) -> dict[str, object]:
    found: dict[str, object] = causeway(
        *arguments, "--bootstrap-server", node.address, timeout=TIMEOUT_S
    )
    return found


def replica(node: NodeProcess) -> tuple[int, int]:
    """How far the mirror of the held topic is known to be, and the bytes that are held; 0 before there is a hold."""
    holds = ask(node, "link", "holds", LINK)["holds"]
    assert isinstance(holds, list)
    if not holds:
        return 0, 0
    (one,) = holds[0]["replicas"]
    return one["mirror_offset"], one["held_bytes"]


def test_what_a_mirror_lacks_is_kept_while_it_is_away(
    regions: tuple[NodeProcess, NodeProcess],
) -> None:
    west, east = regions
    for topic in ("held", "free"):
        create_topic(west.address, topic, 1, retention_ms=str(RETENTION_MS))
    ask(
        east, "link", "create", LINK, "--source-bootstrap-server", west.address,
        "--config", "retention.hold.enable=true",
    )  # fmt: skip
    ask(east, "mirror", "create", "held", "--link", LINK)
    produce(west, "held", 10)
    wait(lambda: replica(west)[0] == 10)
    assert east.stop() == 0

    for topic in ("held", "free"):
        produce(west, topic, 300)
    west.kill()
    west.start()
    wait(lambda: watermarks(west, "free") == (300, 300))
    # The same retention has passed over both: what the mirror lacks is from offset 10 on.
    assert watermarks(west, "held")[0] <= 10
    wait(lambda: replica(west)[1] > 290 * len(VALUE))
    assert replica(west)[0] == -1, "the mirror was not heard since the restart"

    east.start()
    wait(lambda: watermarks(east, "held")[1] == 310)
    assert ask(east, "mirror", "holes", "held")["holes"] == []
    wait(lambda: watermarks(west, "held") == (310, 310))
    assert replica(west) == (310, 0)
