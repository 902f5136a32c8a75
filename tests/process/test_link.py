"""A link between real regions that are killed in mid-stream: the same bytes in the end, and a failover that adds up."""

import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaException, Producer

from tests.process.ledger import Ledger, check, create_topic, read_all
from tests.process.regions import Regions

PARTITIONS = 2
KILLS = 4
TIMEOUT_S = 90


@pytest.fixture
def regions(tmp_path: Path) -> Iterator[Regions]:
    both = Regions(tmp_path)
    both.up()
    yield both
    both.down()


def segments(data: Path, topic: str, partition: int) -> dict[str, bytes]:
    folder = data / f"{topic}-{partition}"
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.log"))}


def ends(found: dict[tuple[int, int], int]) -> dict[int, int]:
    return {
        partition: max(offset for where, offset in found if where == partition) + 1
        for partition in range(PARTITIONS)
    }


def test_a_mirror_is_its_source_byte_for_byte_after_kills_on_both_sides(
    regions: Regions, rng: random.Random
) -> None:
    """Also where the link compresses them on their way."""
    create_topic(regions.bootstrap("west"), "orders", PARTITIONS, segment_bytes="1048576")
    regions.link("orders", link_compression_type="zstd")
    ledger = Ledger(regions.bootstrap("west"), "orders", PARTITIONS, width=100)
    ledger.start()
    for _ in range(KILLS):
        ledger.wait_for(len(ledger.acknowledged) + rng.randrange(100, 3000))
        regions.kill(rng.choice(("west", "east")))
        regions.up()
    ledger.wait_for(len(ledger.acknowledged) + 500)
    ledger.close()
    found = read_all(regions.bootstrap("west"), "orders", PARTITIONS)
    check(ledger, found)
    regions.wait_caught_up("orders", ends(found))
    for partition in range(PARTITIONS):
        west = segments(regions.data("west"), "orders", partition)
        assert segments(regions.data("east"), "orders", partition) == west


def test_a_failover_keeps_what_the_cut_says_and_the_group_goes_on(regions: Regions) -> None:
    create_topic(regions.bootstrap("west"), "orders", PARTITIONS)
    regions.link("orders")
    ledger = Ledger(regions.bootstrap("west"), "orders", PARTITIONS)
    ledger.start()
    read_before = consume(regions.bootstrap("west"), lambda seen: len(seen) >= 300)
    ledger.wait_for(len(ledger.acknowledged) + 1000)
    regions.kill("west")
    regions.stop_mirroring("failover", "orders")
    acknowledged = dict(ledger.acknowledged)
    east = regions.bootstrap("east")
    held = read_all(east, "orders", PARTITIONS)
    cut = {one["partition"]: one["offset"] for one in regions.mirror("orders")["cut"]["partitions"]}
    assert ends(held) == cut
    missing = {where for where in acknowledged.values() if where not in held}
    assert all(offset >= cut[partition] for partition, offset in missing)
    assert all(held[where] == number for number, where in acknowledged.items() if where in held)
    # What it had committed last may not have come across: then it reads that again.
    everything = set(held.values())
    read_after = consume(east, lambda seen: everything <= read_before | seen)
    assert everything <= read_before | read_after
    produce(east, b"now here")


def test_promote_makes_a_caught_up_mirror_writable_and_a_mirror_is_read_only_before(
    regions: Regions,
) -> None:
    create_topic(regions.bootstrap("west"), "orders", PARTITIONS)
    produce(regions.bootstrap("west"), b"first")
    regions.link("orders")
    with pytest.raises(KafkaException):
        produce(regions.bootstrap("east"), b"not yours")
    (promoted,) = regions.stop_mirroring("promote", "orders")["topics"]
    assert promoted["mirror_status"] == "STOPPED"
    produce(regions.bootstrap("east"), b"second")


def produce(bootstrap: str, value: bytes) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "message.timeout.ms": TIMEOUT_S * 1_000})
    errors: list[object] = []
    producer.produce(
        "orders", value=value, partition=0, on_delivery=lambda error, _: errors.append(error)
    )
    assert producer.flush(TIMEOUT_S) == 0
    if errors[0] is not None:
        raise KafkaException(errors[0])


def consume(bootstrap: str, is_enough: Callable[[set[int]], bool]) -> set[int]:
    """The group's next numbers, committed, until they are enough; those that came, if that takes too long."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "billing",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe(["orders"])
    seen: set[int] = set()
    deadline = time.monotonic() + TIMEOUT_S
    while not is_enough(seen) and time.monotonic() < deadline:
        found = [each for each in consumer.consume(1000, 1) if each.error() is None]
        if found:
            seen |= {int(message.value()) for message in found}
            consumer.commit(asynchronous=False)
    consumer.close()
    return seen
