"""Settings of a link, each by what it changes: some of them while the link copies."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from brokers.errors import KafkaError
from brokers.ids import TopicPartition
from linker.commands import AlterLinkConfigs, ChangeMirrors, CreateLink, CreateMirror
from linker.errors import LinkRefusal
from linker.events import Dial
from linker.frames import Chunk, RewatchTopics, Subscribe, WatchTopics, Welcome
from linker.protocol_versions import REWATCHES_FROM, SPOKEN
from tests.playbooks.linker import clients
from tests.playbooks.linker.test_source_initiated import LINK, mirrored
from tests.playbooks.linker.world import Host, World, caught_up, linked

KIB = 1 << 10
DISK_MS = 2_200  # in which a log on a broken disk is open again, or not
REDIAL_MS = 100
MANY = 24  # mirrors


class Recorded(World):
    """Knows what was sent and dialed, and when."""

    def __init__(self, version: int = SPOKEN.newest) -> None:
        """`version` of the link protocol is what the source speaks."""
        super().__init__()
        self._version = version
        self.sent: list[tuple[int, Any]] = []
        self.most_under_way = 0
        self.dials = 0

    def send(self, host: Host, stream: int, frame: Any) -> None:
        self.sent.append((self.now, frame))
        if isinstance(frame, Welcome):
            frame = replace(frame, version=self._version)
        super().send(host, stream, frame)
        self.most_under_way = max(self.most_under_way, self.bytes_under_way)

    def dial(self, host: Host, stream: int, address: str) -> None:
        self.dials += 1
        super().dial(host, stream, address)

    def names_sent(self, since: int) -> int:
        """In lists of topics that are to be watched, and in their changes."""
        found = [frame for at, frame in self.sent if at >= since]
        lists = sum(len(one.topics) for one in found if isinstance(one, WatchTopics))
        changes = [one for one in found if isinstance(one, RewatchTopics)]
        return lists + sum(len(one.added) + len(one.removed) for one in changes)

    def times_of(self, kind: type, since: int = 0) -> list[int]:
        return [at for at, frame in self.sent if isinstance(frame, kind) and at >= since]


def copying(version: int = SPOKEN.newest, **configs: str) -> Recorded:
    world = Recorded(version)
    world.start()
    clients.create_topic(world.source, "orders", 2)
    linked(world, **configs)
    clients.send(world.source, "orders", 0, b"first")
    if "topic" not in configs:
        world.run_until(lambda: caught_up(world))
    return world


def test_what_an_older_source_does_not_do_is_said() -> None:
    world = Recorded(version=4).start()
    clients.create_topic(world.source, "orders")
    linked(world, link_compression_type="zstd")
    (said,) = [one for one in world.destination.changes if one.to.startswith("without")]
    assert said.to == "without link.compression.type"


def alter(world: World, **configs: str) -> None:
    sets = {name.replace("_", "."): value for name, value in configs.items()}
    answer = world.destination.ask(AlterLinkConfigs(name="west-east", sets=sets))
    assert not isinstance(answer, LinkRefusal), answer


def test_the_states_of_topics_are_asked_for_again_when_they_are_old() -> None:
    world = copying()
    began = world.now
    world.run(299_000)
    assert world.times_of(WatchTopics, began) == []
    alter(world, metadata_max_age_ms="5000")
    changed = world.now
    world.run(16_000)
    asked = world.times_of(WatchTopics, changed)
    assert sorted({at - changed for at in asked}) == [5_000, 10_000, 15_000]
    assert caught_up(world)


def copying_many(version: int) -> Recorded:
    """`MANY` mirrors more, made one after the other."""
    world = copying(version)
    for number in range(MANY):
        clients.create_topic(world.source, f"more-{number}")
        answer = world.destination.ask(CreateMirror(link=LINK, mirror_topic=f"more-{number}"))
        assert not isinstance(answer, LinkRefusal), answer
    world.run(1_000)
    return world


def test_an_older_source_gets_the_list_of_topics_once_where_many_change_together() -> None:
    world = copying_many(REWATCHES_FROM - 1)
    began = world.now
    world.destination.ask(ChangeMirrors(verb="failover", link=LINK))
    world.run(1_000)
    lists = [frame for at, frame in world.sent if isinstance(frame, WatchTopics) and at >= began]
    assert lists[-1] == WatchTopics(())
    assert len(lists) < MANY / 4
    assert world.times_of(RewatchTopics) == []


def test_a_mirror_more_does_not_cost_a_list_of_all() -> None:
    world = copying_many(REWATCHES_FROM)
    assert world.names_sent(since=0) < 5 * MANY
    began = world.now
    clients.create_topic(world.source, "last")
    world.destination.ask(CreateMirror(link=LINK, mirror_topic="last"))
    world.destination.ask(ChangeMirrors(verb="failover", link=LINK, topics=("more-1",)))
    world.run(1_000)
    assert 0 < world.names_sent(began) < 5
    clients.send(world.source, "last", 0, b"followed")
    world.run_until(lambda: caught_up(world, "last"))


@pytest.mark.parametrize("longest_ms", [400, 3_000])
def test_pauses_of_a_partition_grow_as_far_as_they_may(longest_ms: int) -> None:
    world = copying(replica_fetch_backoff_ms=str(longest_ms))
    world.destination.files.break_at("orders-0")
    clients.send(world.source, "orders", 0, b"cannot be placed")
    began = world.now
    world.run(60_000)
    times = world.times_of(Subscribe, began)[8:]
    pauses = [later - earlier for earlier, later in pairwise(times)]
    assert longest_ms // 2 <= max(pauses) <= longest_ms + DISK_MS


def test_no_more_bytes_are_under_way_than_a_response_may_have() -> None:
    """One chunk may be begun while any credit is left."""
    world = copying(replica_fetch_max_bytes=str(64 * KIB))
    most = {}
    for limit in (1 << 20, 4 << 20):
        alter(world, replica_fetch_response_max_bytes=str(limit))
        world.run(3_000)
        world.delay_ms, world.most_under_way = 2_000, 0
        for _ in range(100):
            clients.send(world.source, "orders", 0, bytes(60 * KIB))
        world.run_until(lambda: caught_up(world))
        world.delay_ms, most[limit] = 5, world.most_under_way
    assert 0.5 < most[1 << 20] / (1 << 20) < 1.1
    assert 0.5 < most[4 << 20] / (4 << 20) < 1.1


def test_few_bytes_wait_for_more_but_not_for_long() -> None:
    world = copying(replica_fetch_min_bytes="100000", replica_fetch_wait_max_ms="3000")
    began = world.now
    clients.send(world.source, "orders", 0, bytes(1_000))
    world.run_until(lambda: caught_up(world))
    assert 3_000 <= world.now - began < 3_200
    began = world.now
    for _ in range(3):
        clients.send(world.source, "orders", 0, bytes(40_000))
        world.run(100)
    world.run_until(lambda: caught_up(world))
    assert world.now - began < 500, "enough of them do not wait"
    assert [len(frame.data) > 100_000 for _, frame in world.sent if isinstance(frame, Chunk)][-1]


def test_a_few_bytes_that_wait_end_with_their_subscription() -> None:
    world = copying(replica_fetch_min_bytes="100000", replica_fetch_wait_max_ms="3000")
    clients.send(world.source, "orders", 0, b"waits")
    world.run(1_000)
    alter(world, replica_fetch_min_bytes="1")
    began = world.now
    world.run_until(lambda: caught_up(world))
    assert world.now - began < 1_000
    world.run(5_000)
    assert caught_up(world)


def test_topics_get_their_shares_of_what_the_link_may_copy() -> None:
    """Ten to one, while both have more to send than the link takes."""
    weights = '{"topicPriorities":[{"name":"ord","patternType":"PREFIXED","weight":10}]}'
    world = Recorded()
    world.start()
    for topic in ("orders", "logs"):
        clients.create_topic(world.source, topic)
        for _ in range(80):
            clients.send(world.source, topic, 0, bytes(60 * KIB))
    configs = {
        "replica_fetch_max_bytes": str(64 * KIB),
        "io_max_bytes_per_second": str(300 * KIB),
        "mirror_priority": weights,
    }
    linked(world, **configs)
    answer = world.destination.ask(CreateMirror(link="west-east", mirror_topic="logs"))
    assert not isinstance(answer, LinkRefusal), answer
    world.run(8_000)
    held = {topic: end_of(world, topic) for topic in ("orders", "logs")}
    assert held["orders"] < 80 and held["orders"] > 4 * held["logs"] > 0


@pytest.mark.parametrize(
    ("node", "link", "in_two_seconds"),
    [(150_000, None, (6, 14)), (150_000, "300000", (16, 24)), (150_000, "0", (40, 40))],
    ids=["the node's", "the link's own", "none of its own"],
)
def test_a_node_has_a_limit_for_links_without_their_own(
    node: int, link: str | None, in_two_seconds: tuple[int, int]
) -> None:
    world = Recorded()
    world.destination.settings["confluent.cluster.link.io.max.bytes.per.second"] = node
    world.start()
    clients.create_topic(world.source, "orders")
    for _ in range(40):
        clients.send(world.source, "orders", 0, bytes(60 * KIB))
    own = {} if link is None else {"io_max_bytes_per_second": link}
    linked(world, replica_fetch_max_bytes=str(64 * KIB), **own)
    world.run(2_000)
    low, high = in_two_seconds
    assert low <= end_of(world, "orders") <= high


def end_of(world: World, topic: str) -> int:
    state = world.destination.view.partition_state(TopicPartition(topic, 0))
    return state.log_end_offset if state is not None else 0


def test_a_live_tail_does_not_wait_for_a_catch_up() -> None:
    world = Recorded()
    world.start()
    topics = [f"old-{index}" for index in range(40)]
    for topic in (*topics, "orders"):
        clients.create_topic(world.source, topic)
    for topic in topics:
        for _ in range(8):
            clients.send(world.source, topic, 0, bytes(60 * KIB))
    configs = {
        "replica_fetch_max_bytes": str(64 * KIB),
        "io_max_bytes_per_second": str(600 * KIB),
    }
    linked(world, **configs)
    for topic in topics:
        world.destination.ask(CreateMirror(link="west-east", mirror_topic=topic))
    world.run(5_000)
    for number in range(5):
        began = world.now
        clients.send(world.source, "orders", 0, b"%d" % number)
        world.run_until(lambda: caught_up(world))
        assert world.now - began < 2_500, "a turn of each takes 4 s"
    assert any(end_of(world, topic) < 8 for topic in topics), "the others still catch up"


@pytest.mark.parametrize("silence_ms", [2_000, 20_000])
def test_a_stream_that_is_silent_is_dialed_anew(silence_ms: int) -> None:
    world = copying(replica_socket_timeout_ms=str(silence_ms))
    world.mute, dials, began = True, world.dials, world.now
    world.run_until(lambda: world.dials > dials)
    assert silence_ms <= world.now - began <= 2 * silence_ms + REDIAL_MS


def test_an_idle_link_whose_source_dials_keeps_its_streams() -> None:
    world = mirrored()
    world.run_until(lambda: caught_up(world))
    streams = world._streams
    world.run(400_000)
    assert world._streams == streams


def test_the_receive_buffer_is_that_of_each_dial() -> None:
    world = copying()
    dials: list[Dial] = []
    outward = world.destination._outward

    def record(effect: Any) -> bool:
        if isinstance(effect, Dial):
            dials.append(effect)
        return outward(effect)

    world.destination._process._outward = record
    alter(world, replica_socket_receive_buffer_bytes="65536")
    world.run(1_000)
    assert dials and {each.receive_buffer_bytes for each in dials} == {65_536}


def test_groups_get_the_prefix_where_the_link_says_so() -> None:
    world = copying(
        consumer_offset_sync_enable="true",
        cluster_link_prefix="w.",
        consumer_group_prefix_enable="true",
        topic="w.orders",
    )
    clients.commit(world.source, "billing", "orders", 0, 1)
    world.run(2_000)
    assert clients.committed(world.destination, "w.billing", "w.orders", 0) == 1
    assert clients.committed(world.destination, "billing", "w.orders", 0) is None
    filters = '{"groupFilters":[{"name":"other","patternType":"LITERAL","filterType":"INCLUDE"}]}'
    alter(world, consumer_offset_group_filters=filters)
    clients.send(world.source, "orders", 0, b"second")
    clients.commit(world.source, "billing", "orders", 0, 2)
    clients.commit(world.source, "other", "orders", 0, 2)
    world.run(2_000)
    assert clients.committed(world.destination, "w.other", "w.orders", 0) == 2
    assert clients.committed(world.destination, "w.billing", "w.orders", 0) == 1


@pytest.mark.parametrize("name", ["local.listener.name", "local.listener"])
def test_the_local_listener_is_one_of_the_region(name: str) -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    given = {"bootstrap.servers": "west:9092"}
    refused = world.destination.ask(CreateLink(name=LINK, configs={**given, name: "NONE"}))
    assert isinstance(refused, LinkRefusal) and refused.code == KafkaError.INVALID_CONFIG.name
    assert "PLAINTEXT" in refused.problems[0]
    made = world.destination.ask(CreateLink(name=LINK, configs={**given, name: "PLAINTEXT"}))
    assert not isinstance(made, LinkRefusal), made
