"""Two regions of three nodes change places again and again, with a stock producer that follows and nodes that die."""

import random
import signal
import threading
from collections import Counter, deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError, Message, Producer

from tests.process.commands import causeway
from tests.process.ledger import create_topic, read_all
from tests.process.members import Members
from tests.process.test_link import ends
from tests.process.test_linked_regions import (
    LINK,
    NODES,
    PARTITIONS,
    PATIENCE_S,
    TOPIC,
    LinkedRegions,
    segments,
)

SWAPS = 4
IN_FLIGHT_MAX = 500


class Follower:
    """Writes numbers to the region that takes them: what one refuses as read-only goes to the other one."""

    def __init__(self, bootstraps: tuple[str, str]) -> None:
        self.acknowledged: dict[int, tuple[int, int]] = {}
        self.failed: list[str] = []
        self._refused: deque[int] = deque()
        self._count = 0
        self._at = 0
        self._stop = threading.Event()
        self._producers = [
            Producer(
                {
                    "bootstrap.servers": bootstrap,
                    "enable.idempotence": True,
                    "linger.ms": 1,
                    # Else librdkafka may send records again in other batches, which no broker can know for repetitions.
                    "batch.num.messages": 1,
                    "message.timeout.ms": 60_000,
                    "reconnect.backoff.max.ms": 100,
                    "retry.backoff.ms": 50,
                }
            )
            for bootstrap in bootstraps
        ]
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def _write(self) -> None:
        while not self._stop.is_set() or self._refused:
            if sum(map(len, self._producers)) < IN_FLIGHT_MAX:
                self._send(self._refused.popleft() if self._refused else self._next())
            for producer in self._producers:
                producer.poll(0.001)

    def _next(self) -> int:
        self._count += 1
        return self._count

    def _send(self, number: int) -> None:
        place = self._at

        def delivered(error: KafkaError | None, message: Message) -> None:
            if error is None:
                partition, offset = message.partition(), message.offset()
                self.acknowledged[number] = (partition, offset)
            elif error.code() == KafkaError.POLICY_VIOLATION:
                self._refused.append(number)
                self._at = 1 - place
            else:
                self.failed.append(str(error))

        self._producers[place].produce(
            TOPIC, value=b"%d" % number, partition=number % PARTITIONS, on_delivery=delivered
        )

    def wait_for(self, more: int) -> None:
        """Until so many more are acknowledged."""
        wanted = len(self.acknowledged) + more
        pause = threading.Event()
        for _ in range(PATIENCE_S * 100):
            if len(self.acknowledged) >= wanted:
                return
            pause.wait(0.01)
        raise AssertionError(f"{len(self.acknowledged)} of {wanted}, failed: {self.failed[:3]}")

    def close(self) -> None:
        self._stop.set()
        self._thread.join()
        while any(producer.flush(PATIENCE_S) for producer in self._producers):
            pass
        assert not self._refused


@pytest.fixture
def regions(tmp_path: Path) -> Iterator[LinkedRegions]:
    both = LinkedRegions(tmp_path)
    both.up()
    create_topic(both.west.bootstrap, TOPIC, PARTITIONS, replicas=NODES, min_insync_replicas="2")
    both.west.wait_in_sync(TOPIC, PARTITIONS)
    for here, there in ((both.east, both.west), (both.west, both.east)):
        at(here, "link", "create", LINK, "--remote-bootstrap-server", there.bootstrap)
    at(both.east, "mirror", "create", TOPIC, "--link", LINK)
    both.east.wait_in_sync(TOPIC, PARTITIONS)
    yield both
    both.down()


def at(region: Members, *arguments: str) -> Any:
    return causeway(*arguments, "--bootstrap-server", region.bootstrap, timeout=2 * PATIENCE_S)


def status(region: Members) -> str:
    return str(at(region, "mirror", "describe", TOPIC)["mirror_status"])


def check_lineage(regions: LinkedRegions) -> None:
    """Each region wrote after each reversal, and both hold all of it."""
    servers = [
        argument
        for region in (regions.west, regions.east)
        for argument in ("--bootstrap-server", region.bootstrap)
    ]
    told = causeway("lineage", TOPIC, *servers, "--partition", "0", timeout=PATIENCE_S)
    west, east = (each["cluster_id"] for each in told["regions"])
    (root,) = told["partitions"]
    writers = [each["writer"] for each in root["ranges"]]
    assert writers == [east if number % 2 else west for number in range(SWAPS + 1)]
    assert set(root["regions"]) == {west, east}


def test_the_producer_follows_four_reversals_and_no_record_is_lost_or_doubled(
    regions: LinkedRegions, rng: random.Random
) -> None:
    follower = Follower((regions.west.bootstrap, regions.east.bootstrap))
    topic, mirror = regions.west, regions.east
    for swap in range(SWAPS):
        follower.wait_for(100)
        # Not of the region that is written to: a producer that does not know whether a batch is stored, and is refused
        # then, can only send it again.
        victim = mirror if swap % 2 else None
        if victim is not None:
            victim.end(victim.leader(TOPIC, rng.randrange(PARTITIONS)), signal.SIGKILL)
        (asked,) = at(mirror, "mirror", "reverse-and-start", TOPIC)["topics"]
        assert asked["mirror_status"] == "STOPPED", asked
        former = topic
        regions.wait_until(lambda former=former: status(former) == "ACTIVE")  # type: ignore[misc]
        follower.wait_for(100)
        if victim is not None:
            victim.up()
            victim.wait_in_sync(TOPIC, PARTITIONS)
        topic, mirror = mirror, topic
    follower.close()
    check_lineage(regions)
    found = read_all(topic.bootstrap, TOPIC, PARTITIONS)
    assert not follower.failed
    for number, where in follower.acknowledged.items():
        assert found.get(where) == number, (number, where)
    wanted = ends(found)
    regions.wait_until(
        lambda: (
            {
                one["partition"]: one["local_log_end_offset"]
                for one in at(mirror, "mirror", "describe", TOPIC)["mirror_lags"]
            }
            == wanted
        )
    )
    assert [number for number, count in Counter(found.values()).items() if count > 1] == []
    for region in (topic, mirror):
        region.wait_in_sync(TOPIC, PARTITIONS)
    regions.down()
    for partition in range(PARTITIONS):
        first, *others = segments(regions.west, partition) + segments(regions.east, partition)
        assert all(other == first for other in others)
    regions.up()
