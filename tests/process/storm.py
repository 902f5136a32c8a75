"""A region under load while bad things happen to it, and the verdict afterwards.

The verdict rests on what clients were told and on what lies on the disks: everything acknowledged is where it was said
to be, nothing is there twice, each producer's order is kept, nobody read what is not there in the end, and the replicas
hold the same bytes.
"""

import signal
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.process.asking import Partition, times_to_change
from tests.process.big_region import BigRegion, Node
from tests.process.ledger import create_topic, read_all
from tests.process.storm_clients import (
    AioReader,
    AioWriter,
    ConfluentReader,
    ConfluentWriter,
    Place,
    Reader,
    Writer,
)

PARTITIONS, REPLICAS = 6, 3
TOPICS = ("by-librdkafka", "by-aiokafka")
TAKEOVER_S = 60


class Storm:
    """`begin`, then whatever a test does to `region`, then `judge`."""

    def __init__(self, region: BigRegion) -> None:
        self.region = region
        self.takeovers: list[float] = []  # seconds
        self.writers: list[Writer] = []
        self.readers: list[Reader] = []

    def begin(self) -> None:
        region = self.region
        region.up()
        for topic in TOPICS:
            create_topic(
                region.bootstrap, topic, PARTITIONS, replicas=REPLICAS, min_insync_replicas="2"
            )
        region.wait_whole(TOPICS)
        librdkafka, aio = TOPICS
        self.writers = [
            ConfluentWriter(region.bootstrap, librdkafka, PARTITIONS),
            AioWriter(region.bootstrap, aio, PARTITIONS),
        ]
        self.readers = [
            ConfluentReader(region.bootstrap, TOPICS, PARTITIONS),
            AioReader(region.bootstrap, TOPICS, PARTITIONS),
        ]
        for each in (*self.writers, *self.readers):
            each.start()
        self.go_on()

    def go_on(self, records: int = 20) -> None:
        """Until every partition has taken so many more."""
        for writer in self.writers:
            writer.wait_for_more(records)

    def wait_whole(self) -> None:
        self.region.wait_whole(TOPICS)

    # --- leaders ---

    def led_by(self, node: Node) -> dict[Partition, int]:
        known = self.region.placed(TOPICS, by=node)
        return {where: one.leader for where, one in known.items() if one.leader == node.id}

    def busiest(self) -> Node:
        """The broker that leads most."""
        known = self.region.placed(TOPICS)
        ((leader, _),) = Counter(each.leader for each in known.values()).most_common(1)
        return self.region.nodes[leader]

    def takeover(self, from_: Node, act: Callable[[], None]) -> None:
        """Does what ends a leader, and waits until others lead all that it led, as one of them tells.

        `act` should not wait: the clock runs from its beginning.
        """
        was = self.led_by(from_)
        assert was, f"node {from_.id} leads nothing"
        witness = next(
            each for each in self.region.brokers if each is not from_ and each.is_running
        )

        def observe() -> dict[Partition, int]:
            known = self.region.placed(TOPICS, by=witness)
            return {where: one.leader for where, one in known.items()}

        begun = time.monotonic()
        act()
        took = times_to_change(observe, was, since=begun, timeout_s=TAKEOVER_S)
        self.takeovers += took.values()

    def kill(self, leader: Node) -> None:
        self.takeover(leader, lambda: leader.signal(signal.SIGKILL))
        leader.wait_dead()

    # --- the verdict ---

    def judge(self) -> None:
        self.go_on()
        for writer in self.writers:
            writer.close()
        self.wait_whole()
        final = _everything(self.region.bootstrap)
        for writer in self.writers:
            check_kept(writer, final)
        for reader in self.readers:
            check_seen(reader, final)
        known = self.region.placed(TOPICS)
        self.region.down()
        for (topic, partition), one in known.items():
            folders = [
                self.region.nodes[replica].data / f"{topic}-{partition}" for replica in one.replicas
            ]
            check_equal(folders)

    def report(self) -> str:
        """What an operator wants to know of it."""
        took = sorted(self.takeovers)
        leaders = (
            f"new leader p50 {statistics.median(took):.2f} s, max {took[-1]:.2f} s of {len(took)}; "
            if took
            else ""
        )
        gaps = ", ".join(_of(each) for each in self.writers)
        return f"{leaders}longest silence of a partition: {gaps}"


def _of(writer: Writer) -> str:
    refused = f", {len(writer.refused)} refused, as {writer.refused[0]}" if writer.refused else ""
    return f"{writer.topic} {writer.longest_gap_s:.2f} s ({writer.written} records{refused})"


def _everything(bootstrap: str) -> dict[Place, bytes]:
    return {
        (topic, *place): b"%d" % number
        for topic in TOPICS
        for place, number in read_all(bootstrap, topic, PARTITIONS).items()
    }


def check_kept(writer: Writer, final: dict[Place, bytes]) -> None:
    """P1 and P10: all that was acknowledged is in its place, once, in order."""
    stored = sorted(
        (place[1:], int(value)) for place, value in final.items() if place[0] == writer.topic
    )
    where = {number: at for at, number in stored}
    lost = [
        (number, at)
        for number, at in writer.acknowledged.items()
        if number not in where or (at[1] >= 0 and where[number] != at)
    ]
    assert not lost, f"{writer.topic}: {len(lost)} acknowledged are not there, as {lost[:3]}"
    twice = [number for number, count in Counter(each for _, each in stored).items() if count > 1]
    assert not twice, f"{writer.topic}: stored twice: {twice[:5]}"
    for partition in range(PARTITIONS):
        numbers = [number for at, number in stored if at[0] == partition]
        assert numbers == sorted(numbers), f"{writer.topic}-{partition} is out of order"


def check_seen(reader: Reader, final: dict[Place, bytes]) -> None:
    """P3: whatever a reader was ever given is there in the end; and it comes to see all there is."""
    name = type(reader).__name__
    reader.wait_until(
        lambda: len(reader.seen) >= len(final),
        lambda: f"{name}: {len(reader.seen)} of {len(final)}",
    )
    reader.close()
    gone = [place for place, value in reader.seen.items() if final.get(place) != value]
    assert not gone, f"{name} saw {len(gone)} records that are not there, as {sorted(gone)[:3]}"


def check_equal(folders: Iterable[Path]) -> None:
    """P1's other half: every replica's segments are the same bytes."""
    held = {
        folder: b"".join(map(Path.read_bytes, sorted(folder.glob("*.log")))) for folder in folders
    }
    sizes = {str(folder): len(each) for folder, each in held.items()}
    assert len(set(held.values())) == 1, f"replicas differ: {sizes}"
    assert min(sizes.values()) > 0, f"nothing is there: {sizes}"
