"""A broker of the source and the destination's link coordinator do not reach each other; each reaches all others.

The source dials. That broker becomes the leader of everything: what the coordinator does not mirror itself arrives all
the same, and what it mirrors says so.
"""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from signal import SIGKILL
from typing import Any
from uuid import UUID

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from brokers.metadata.image.image import BrokerImage, Image
from linker.control.wanted_streams import UNREACHED_MS
from linker.coordinator_election import coordinator_of
from tests.process.asking import until
from tests.process.hosts import CannotIsolate, Namespaces
from tests.process.wide_area import LINK, NODES, TIMEOUT_S, FarRegion, WideArea

TOPIC, PARTITIONS, RECORDS = "orders", 6, 10
FIRST, FAR = 1, 3  # who leads everything at the source before, and after
MARGIN_S = 5  # an answer of `mirror describe` takes a second


@pytest.fixture
def hosts() -> Iterator[Namespaces]:
    try:
        found = Namespaces(range(1, 2 * NODES + 1))
    except CannotIsolate as reason:
        pytest.skip(str(reason))
    yield found
    found.close()


@pytest.fixture
def area(tmp_path: Path, hosts: Namespaces) -> Iterator[WideArea]:
    with ExitStack() as stack:
        made = WideArea(tmp_path, hosts, is_near=True)
        stack.callback(made.close)
        made.up()
        yield made


def coordinator(region: FarRegion) -> int:
    """By the metadata alone, as every broker finds it."""
    image = Image(region.name)
    image.brokers.update(
        {each: BrokerImage(each, 1, UUID(int=each), (), fenced=False) for each in region.nodes}
    )
    found = coordinator_of(image)
    assert found is not None
    return found.id


def write(region: FarRegion) -> None:
    """To each partition; until all is acknowledged."""
    producer = Producer({"bootstrap.servers": region.bootstrap, "acks": "all"})
    errors: list[object] = []
    for index in range(PARTITIONS * RECORDS):
        producer.produce(
            TOPIC,
            str(index).encode(),
            partition=index % PARTITIONS,
            on_delivery=lambda error, _: errors.append(error),
        )
    assert producer.flush(TIMEOUT_S) == 0
    assert errors == [None] * (PARTITIONS * RECORDS)


def mirrored(area: WideArea) -> None:
    """All of it is led by one broker of the source, and the mirror has it."""
    west, east = area.regions
    wanted = NewTopic(TOPIC, PARTITIONS, replica_assignment=[[FIRST, FAR]] * PARTITIONS)
    admin = AdminClient({"bootstrap.servers": west.bootstrap})
    admin.create_topics([wanted])[TOPIC].result(20)
    west.wait_whole([TOPIC])
    area.link("source")
    east.at("mirror", "create", TOPIC, "--link", LINK)
    east.wait_mirrors([TOPIC])
    east.wait_whole([TOPIC])
    write(west)
    east.wait_caught_up(TOPIC, dict.fromkeys(range(PARTITIONS), RECORDS))


def lags(region: FarRegion) -> dict[int, Any]:
    found = region.at("mirror", "describe", TOPIC)["mirror_lags"]
    return {one["partition"]: one for one in found}


def led_by(region: FarRegion, broker_id: int) -> set[int]:
    placed = region.placed([TOPIC])
    return {index for (_, index), one in placed.items() if one.leader == broker_id}


def test_what_moves_to_a_broker_that_does_not_reach_the_coordinator_arrives(
    area: WideArea, hosts: Namespaces
) -> None:
    west, east = area.regions
    far_from = coordinator(east)
    hosts.cut(far_from, FAR)  # in one way: what is sent there is never answered
    mirrored(area)
    unreachable = led_by(east, far_from)
    others = set(range(PARTITIONS)) - unreachable
    assert unreachable and others
    west.nodes[FIRST].end(SIGKILL)
    west.wait(lambda: len(led_by(west, FAR)) == PARTITIONS)
    elected_at = time.monotonic()
    write(west)
    until(
        lambda: all(lags(east)[each]["local_log_end_offset"] == 2 * RECORDS for each in others),
        UNREACHED_MS / 1000 + MARGIN_S,
        lambda: lags(east),
    )
    print(f"mirrored {time.monotonic() - elected_at:.1f} s after the election")
    first, second = lags(east), lags(east)
    for each in unreachable:
        told = f"SOURCE_UNAVAILABLE: broker {FAR} of the source has no stream to broker {far_from}"
        assert first[each]["partition_state"] == told
        assert 0 <= first[each]["lag_ms"] < second[each]["lag_ms"]
    hosts.mend()
    east.wait_caught_up(TOPIC, dict.fromkeys(range(PARTITIONS), 2 * RECORDS))
