"""Settings of a link that are altered while it copies: each has its effect without a restart, on what is open or on
streams that are opened anew."""

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from brokers.records.batch import iter_headers
from brokers.records.builder import NewRecord, build_batch
from linker.commands import (
    AlterLinkConfigs,
    CreateMirror,
    ListRetentionHolds,
)
from linker.config import parse
from linker.control.source_brokers import must_redial
from linker.errors import LinkRefusal, MirrorError
from linker.frames import Chunk, Hello, Subscribe
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.world import Host, World, caught_up, linked

KIB = 1 << 10
LINK = "west-east"
GROUPS = '{"groupFilters":[{"name":"*","patternType":"LITERAL","filterType":"INCLUDE"}]}'
PRIORITY = {"topicPriorities": [{"name": "orders", "patternType": "LITERAL", "weight": 7}]}


class Watched(World):
    """Knows what was sent on which stream of the destination, and when it dialed."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[tuple[int, Any]] = []  # by the destination's stream
        self.dials: list[int] = []

    def send(self, host: Host, stream: int, frame: Any) -> None:
        if host is self.destination:
            self.sent.append((stream, frame))
        elif isinstance(frame, Chunk):
            self.sent.append((-stream, frame))
        super().send(host, stream, frame)

    def dial(self, host: Host, stream: int, address: str) -> None:
        self.dials.append(self.now)
        super().dial(host, stream, address)

    def newest(self, kind: type) -> Any:
        return [frame for _, frame in self.sent if isinstance(frame, kind)][-1]


def copying(partitions: int = 4, *, names_brokers: bool = False, **configs: str) -> Watched:
    """A source that names its brokers gets a stream beside the first one where that is wanted."""
    world = Watched()
    world.source.settings = {"link.listener": "west:9093"} if names_brokers else {}
    world.start()
    clients.create_topic(world.source, "orders", partitions)
    linked(world, **configs)
    clients.send(world.source, "orders", 0, b"first")
    world.run_until(lambda: caught_up(world))
    world.sent.clear()
    world.dials.clear()
    return world


def alter(world: World, name: str, value: str) -> None:
    answer = world.destination.ask(AlterLinkConfigs(name=LINK, sets={name: value}))
    assert not isinstance(answer, LinkRefusal), answer


def has_so_many_streams(world: Watched) -> bool:
    return len({stream for stream, frame in world.sent if isinstance(frame, Subscribe)}) == 3


def has_small_chunks(world: Watched) -> bool:
    sizes = [len(frame.data) for _, frame in world.sent if isinstance(frame, Chunk)]
    return world.newest(Hello).chunk_bytes == 64 * KIB and 0 < max(sizes) <= 64 * KIB


# What is in force only on new streams: name, value, and its effect.
OF_STREAMS: list[tuple[str, str, Callable[[Watched], bool]]] = [
    ("num.cluster.link.fetchers", "3", has_so_many_streams),
    ("replica.fetch.max.bytes", str(64 * KIB), has_small_chunks),
    ("link.compression.type", "zstd", lambda world: world.newest(Hello).pace.is_compressed),
    ("mirror.priority", json.dumps(PRIORITY), lambda world: world.newest(Subscribe).weight == 7),
]


@pytest.mark.parametrize(
    ("name", "value", "has_effect"), OF_STREAMS, ids=[one[0] for one in OF_STREAMS]
)
def test_what_concerns_streams_opens_them_anew_and_copying_goes_on(
    name: str, value: str, has_effect: Callable[[Watched], bool]
) -> None:
    world = copying(names_brokers=True)
    given = {"bootstrap.servers": "west:9092"}
    assert must_redial(parse(given), parse({**given, name: value}))
    alter(world, name, value)
    world.run(1_000)
    assert world.dials
    for _ in range(8):
        for partition in range(4):
            clients.send(world.source, "orders", partition, bytes(30 * KIB))
    world.run_until(lambda: caught_up(world))
    assert has_effect(world)
    assert all(
        world.source.log("orders", index) == world.destination.log("orders", index)
        for index in range(4)
    )
    dials = len(world.dials)
    alter(world, name, value)  # the same again
    world.run(1_000)
    assert len(world.dials) == dials


def test_new_mirrors_begin_where_the_link_says_now() -> None:
    world = copying()
    for topic in ("bills", "stock"):
        clients.create_topic(world.source, topic)
        clients.send(world.source, topic, 0, b"before")
        made = world.destination.ask(CreateMirror(link=LINK, mirror_topic=topic))
        assert not isinstance(made, LinkRefusal), made
        world.run(1_000)
        clients.send(world.source, topic, 0, b"after")
        world.run_until(lambda topic=topic: caught_up(world, topic))  # type: ignore[misc]
        alter(world, "mirror.start.offset.spec", "latest")
    assert world.destination.offsets("bills", 0) == [0, 1]
    assert world.destination.offsets("stock", 0) == [1]


def rewrite_the_tail(host: Host) -> None:
    """Behind the first batch there is another one than before, in the same leader epoch."""
    name = "orders-0/00000000000000000000.log"
    log = bytes(host.files.read(name, 0, host.files.size(name)))
    host.files.truncate(name, next(iter_headers(log))[1].length)
    records = [NewRecord(None, b"another"), NewRecord(None, b"history")]
    batch = build_batch(records, timestamp=host.now, base_offset=1, leader_epoch=0)
    host.files.append(name, [batch])


@pytest.mark.parametrize("limit_ms", [3_000, 100_000])
def test_a_source_at_fault_is_tried_again_for_as_long_as_the_link_says_now(limit_ms: int) -> None:
    world = copying()
    alter(world, "cluster.link.retry.timeout.ms", str(limit_ms))
    clients.send(world.source, "orders", 0, b"second")
    world.run_until(lambda: caught_up(world))
    world.source.stop()
    rewrite_the_tail(world.source)
    world.source.start()
    began = world.now
    world.run_until(lambda: world.destination.mirror("orders").shown is MirrorState.FAILED, 400_000)
    assert world.destination.mirror("orders").record.error is MirrorError.UNEXPECTED_TRUNCATION
    assert limit_ms <= world.now - began < limit_ms + 10_000


@pytest.mark.parametrize("name", ["availability.check.ms", "replica.socket.timeout.ms"])
def test_a_silent_source_is_noticed_as_soon_as_the_link_says_now(name: str) -> None:
    """From the next check on, which may be one of before."""
    world = copying()
    alter(world, name, "2000")
    world.run(60_000)
    assert world.dials == []
    world.mute, began = True, world.now
    world.run_until(lambda: bool(world.dials))
    assert world.now - began <= 2 * 2_000 + 100


@pytest.mark.parametrize("threshold", [1, 3, 8])
def test_a_link_is_unavailable_after_as_many_failures_as_it_says_now(threshold: int) -> None:
    world = copying()
    alter(world, "availability.check.consecutive.failure.threshold", str(threshold))
    alter(world, "retry.backoff.ms", "1000")
    world.reachable = False
    world.cut()  # the first failure
    turned = world.destination.changes
    world.run_until(lambda: any(one.to == "UNAVAILABLE" for one in turned))
    assert len(world.dials) == threshold - 1


@pytest.mark.parametrize("first_ms", [40, 800, 8_000])
def test_the_first_pause_before_the_next_dial_is_what_the_link_says_now(first_ms: int) -> None:
    world = copying()
    alter(world, "retry.backoff.ms", str(first_ms))
    world.reachable, cut_at = False, world.now
    world.cut()
    world.run(20 * first_ms)
    pauses = [later - earlier for earlier, later in pairwise([cut_at, *world.dials])]
    assert first_ms // 2 <= pauses[0] <= first_ms
    longest = max(2_000, first_ms)
    following = min(2 * first_ms, longest)
    assert following // 2 <= pauses[1] - world.delay_ms <= following, "it doubles"
    assert max(pauses) <= longest + world.delay_ms


@pytest.mark.parametrize("timeout_ms", [500, 8_000])
def test_a_source_that_does_not_greet_is_left_after_what_the_link_says_now(timeout_ms: int) -> None:
    world = copying()
    alter(world, "request.timeout.ms", str(timeout_ms))
    world.mute = True
    world.cut()
    world.run_until(lambda: len(world.dials) == 1)
    dialed = world.now
    world.run_until(lambda: len(world.dials) == 2)
    assert timeout_ms <= world.now - dialed <= timeout_ms + 1_000


@pytest.mark.parametrize("longest_ms", [400, 3_000])
def test_pauses_of_a_partition_grow_as_far_as_the_link_says_now(longest_ms: int) -> None:
    world = copying(1)
    alter(world, "replica.fetch.backoff.ms", str(longest_ms))
    world.destination.files.break_at("orders-0")
    clients.send(world.source, "orders", 0, b"cannot be placed")
    times: list[int] = []
    for _ in range(600):
        before = len(world.sent)
        world.run(100)
        times += [world.now] * any(isinstance(one, Subscribe) for _, one in world.sent[before:])
    longest = max(later - earlier for earlier, later in pairwise(times[8:]))
    assert longest_ms // 2 <= longest <= longest_ms + 2_200


@pytest.mark.parametrize(("retry_ms", "is_copied"), [(2_000, True), (20_000, False)])
def test_a_group_that_was_in_use_is_tried_again_after_what_the_link_says_now(
    retry_ms: int, is_copied: bool
) -> None:
    world = copying(1, consumer_offset_sync_enable="true", consumer_offset_group_filters=GROUPS)
    alter(world, "consumer.offset.sync.ms", str(retry_ms))
    member = clients.join(world.destination, "billing")
    clients.commit(world.source, "billing", "orders", 0, 1)
    world.run(1_000)
    clients.leave(world.destination, "billing", member)
    world.run(3_000)
    copied = clients.committed(world.destination, "billing", "orders", 0)
    assert copied == (1 if is_copied else None)
    world.run(retry_ms)
    assert clients.committed(world.destination, "billing", "orders", 0) == 1


@pytest.mark.parametrize(("retry_ms", "is_in_step"), [(1_000, True), (30_000, False)])
def test_a_change_of_a_mirror_topic_that_failed_is_tried_again_after_what_the_link_says_now(
    retry_ms: int, is_in_step: bool
) -> None:
    """The disk of the destination is full when the source's topic is changed, and has room then."""
    world = copying(1)
    alter(world, "topic.config.sync.ms", str(retry_ms))
    east = world.destination
    east.files.full_after(0)
    clients.set_config(world.source, "orders", "retention.ms", "777000")
    world.run(500)
    assert east.mirror("orders").reason, "it says what is wrong"
    east.files.full_after(None)

    def setting() -> str | None:
        return east.view.image.config((2, "orders")).get("retention.ms")

    world.run(2_000)
    assert (setting() == "777000") == is_in_step
    world.run(retry_ms)
    assert setting() == "777000"


@pytest.mark.parametrize(
    ("name", "shown"), [("retention.hold.max.bytes", 0), ("retention.hold.max.ms", 1)]
)
def test_a_hold_has_the_bounds_that_the_link_says_now(name: str, shown: int) -> None:
    world = copying(1, retention_hold_enable="true")

    def bounds() -> tuple[int, int]:
        ((hold, _),) = world.source.ask(ListRetentionHolds()).holds
        return hold.max_bytes, hold.max_ms

    world.run(1_000)
    before = bounds()
    alter(world, name, "5000000")
    world.run(1_000)
    assert bounds() == tuple(
        5_000_000 if index == shown else old for index, old in enumerate(before)
    )


def test_the_local_protocol_is_the_one_that_there_is() -> None:
    world = copying(1)
    sets = {"local.security.protocol": "SASL_SSL"}
    refused = world.destination.ask(AlterLinkConfigs(name=LINK, sets=sets))
    assert isinstance(refused, LinkRefusal)
    assert refused.problems[0].startswith("local.security.protocol: SASL_SSL is not supported yet")
    alter(world, "local.security.protocol", "PLAINTEXT")
    clients.send(world.source, "orders", 0, b"goes on")
    world.run_until(lambda: caught_up(world))
    assert world.dials == [], "it is compared, and nothing depends on it"
