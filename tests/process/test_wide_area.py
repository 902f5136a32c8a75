"""Two regions of three nodes, 80 ms apart, under load from stock clients that never stop, while everything is bounced.

Producers write to west, readers follow the mirrors in east. Nodes of both sides are stopped, killed and frozen, whole
regions die, the wide area falls silent in both ways and in one. In the end the six replicas hold the same
bytes, and every reader has had every record. A run took 3 to 4 minutes on 2 quiet cores, 9 to 19 on busy ones.
"""

import random
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.bench.peer import jars
from tests.compat.events import places
from tests.compat.java.test_verifiable import tool
from tests.process.delay_proxy import BACK, THERE
from tests.process.followers import JavaFollower, number_of
from tests.process.hosts import CannotIsolate, Namespaces
from tests.process.ledger import create_topic, read_all
from tests.process.storm import check_kept, check_seen
from tests.process.storm_clients import (
    AioReader,
    AioWriter,
    ConfluentReader,
    ConfluentWriter,
    Place,
)
from tests.process.test_big_region import pause
from tests.process.wide_area import (
    LINK,
    MAKE,
    NODES,
    REPLICAS,
    FarRegion,
    WideArea,
    check_audit,
    check_equal_everywhere,
)

PARTITIONS, RECORDS = 3, 20
LIBRDKAFKA, AIOKAFKA, JAVA = TOPICS = ("by-librdkafka", "by-aiokafka", "by-java")
ONE_WAY_MS, BYTES_PER_SECOND = 40, 1 << 20
# A stream on which nothing is heard is given up while the cut lasts.
SILENCE_MS, CUT_S, FROZEN_S = 3_000, 8, 5

pytestmark = [pytest.mark.soak, pytest.mark.timeout(1_800)]


@pytest.fixture
def area(tmp_path: Path) -> Iterator[WideArea]:
    try:
        hosts = Namespaces(range(1, 2 * NODES + 1))
        jars.fetch()
    except (CannotIsolate, jars.Unavailable) as reason:
        pytest.skip(str(reason))
    with ExitStack() as stack:
        stack.callback(hosts.close)
        made = WideArea(tmp_path, hosts, delay_ms=ONE_WAY_MS, bytes_per_second=BYTES_PER_SECOND)
        stack.callback(made.close)
        made.up()
        yield made


class Bounces:
    """`begin`, then whatever happens to `area`, then `judge`."""

    def __init__(self, area: WideArea, directory: Path) -> None:
        self.area = area
        self._directory = directory
        west, east = area.west.bootstrap, area.east.bootstrap
        self.writers = [
            ConfluentWriter(west, LIBRDKAFKA, PARTITIONS),
            AioWriter(west, AIOKAFKA, PARTITIONS),
        ]
        self.java = JavaFollower((west, east), JAVA, PARTITIONS, directory)
        self.readers = [
            ConfluentReader(east, TOPICS, PARTITIONS),
            AioReader(east, TOPICS, PARTITIONS),
        ]

    def begin(self, initiation: str) -> None:
        west, east = self.area.regions
        for topic in TOPICS:
            create_topic(
                west.bootstrap, topic, PARTITIONS, replicas=REPLICAS, min_insync_replicas="2"
            )
        self.area.link(initiation, f"replica.socket.timeout.ms={SILENCE_MS}")
        for topic in TOPICS:
            east.at("mirror", "create", topic, "--link", LINK)
        east.wait_mirrors(TOPICS)
        east.wait_whole(TOPICS)
        for each in (*self.writers, self.java, *self.readers):
            each.start()
        reading = ("--group-id", "verifiers", "--reset-policy", "earliest", "--verbose")
        at = ("--bootstrap-server", east.bootstrap, "--topic", JAVA)
        self.consumer = tool(self._directory, "VerifiableConsumer", *at, *reading)
        self.go_on()

    def go_on(self) -> None:
        for writer in self.writers:
            writer.wait_for_more(RECORDS)
        self.java.wait_for(RECORDS * PARTITIONS)

    def wait_whole(self) -> None:
        for region in self.area.regions:
            region.up()
            region.wait_whole(TOPICS)

    def judge(self) -> None:
        self.go_on()
        for writer in (*self.writers, self.java):
            writer.close()
        self.wait_whole()
        final = self._everything()
        for writer in self.writers:
            check_kept(writer, final)
        self._check_java(final)
        for reader in self.readers:
            check_seen(reader, final)
        self.area.down()
        check_equal_everywhere(self.area, TOPICS, PARTITIONS)
        check_audit(self.area, TOPICS, self._directory / "audit")

    def _everything(self) -> dict[Place, bytes]:
        """What west has, once east has it, too."""
        found: dict[Place, bytes] = {}
        for topic in TOPICS:
            held = read_all(self.area.west.bootstrap, topic, PARTITIONS, bytes)
            counts = Counter(partition for partition, _ in held)
            ends = {index: counts[index] for index in range(PARTITIONS)}
            self.area.east.wait_caught_up(topic, ends)
            found |= {(topic, *place): value for place, value in held.items()}
        return found

    def _check_java(self, final: dict[Place, bytes]) -> None:
        """All that was acknowledged is there once, and the consumer of the mirror has had it."""
        stored = {place[1:]: value for place, value in final.items() if place[0] == JAVA}
        assert len(set(stored.values())) == len(stored)
        for number, where in self.java.acknowledged.items():
            assert number_of(stored[where]) == number
        self.consumer.wait_for("record_data", len(stored))
        self.readers[0].wait_until(lambda: len(self._read()) == len(stored), lambda: "Java's")
        self.consumer.end()
        assert self._read() == {(value.decode(), place) for place, value in stored.items()}

    def _read(self) -> set[tuple[str, tuple[int, int]]]:
        read = places(self.consumer.events("record_data"))
        return {(value, place) for value, found in read.items() for place in found}


def bounce_nodes(bounces: Bounces, region: FarRegion, rng: random.Random) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        for node in region.nodes.values():
            node.end(number)
            bounces.go_on()
            bounces.wait_whole()
    frozen = region.leader(rng.choice(TOPICS), rng.randrange(PARTITIONS))
    frozen.signal(signal.SIGSTOP)
    pause(FROZEN_S)
    frozen.signal(signal.SIGCONT)
    bounces.wait_whole()


def bounce_region(bounces: Bounces, region: FarRegion) -> None:
    for node in region.nodes.values():
        node.signal(signal.SIGKILL)
    region.kill()
    bounces.wait_whole()
    bounces.go_on()


@pytest.mark.parametrize("initiation", MAKE)
def test_everything_is_bounced(
    initiation: str, area: WideArea, tmp_path: Path, rng: random.Random
) -> None:
    bounces = Bounces(area, tmp_path)
    bounces.begin(initiation)
    for region in area.regions:
        bounce_nodes(bounces, region, rng)
    for ways in ((THERE, BACK), (THERE,), (BACK,)):
        area.cut(*ways)
        pause(CUT_S)
        area.mend()
        bounces.go_on()
    for region in area.regions:
        bounce_region(bounces, region)
    bounces.judge()
