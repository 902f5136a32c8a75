"""What one stream of another region, and all of them, may have a source follow."""

from random import Random

import pytest

from brokers.ids import TopicPartition
from linker.errors import MirrorError
from linker.events import CloseStream
from linker.filters import Filter
from linker.frames import (
    Agreed,
    Declined,
    Refused,
    RewatchTopics,
    Subscribe,
    TopicState,
    Unsubscribe,
    WatchGroups,
    WatchTopics,
)
from linker.node_limits import NodeLimits
from linker.peer_limits import WatchLimits
from linker.region_client import RegionClient
from linker.watch_quotas import FILTER_BYTES, TOPIC_BYTES
from tests.unit.brokers.api.whole import Whole
from tests.unit.linker.control.test_source_stream import Stream


def region(node: Whole, watch: WatchLimits) -> RegionClient:
    return RegionClient(node.broker.view, Random(1), NodeLimits(watch=watch))


def subscribe(node: Whole, number: int, partition: int) -> Subscribe:
    topic = node.broker.view.image.topics_by_name["t"]
    return Subscribe(number, TopicPartition("t", partition), topic.id.bytes, 0, ())


def test_partitions_beyond_the_limits_are_declined_until_others_are_left() -> None:
    node = Whole()
    node.create("t", 4)
    shared = region(node, WatchLimits(subscriptions=3, subscriptions_per_stream=2))
    first, second = Stream(node, shared), Stream(node, shared)
    first.hear(*(subscribe(node, number + 1, number) for number in range(3)))
    assert [type(frame) for frame in first.sent] == [Agreed, Agreed, Declined]
    assert first.sent[-1] == Declined(
        3,
        MirrorError.NOT_SET,
        "2 partitions are followed on this stream already (link.max.subscriptions.per.stream)",
    )
    second.hear(subscribe(node, 1, 0), subscribe(node, 2, 1))
    assert second.sent[-1] == Declined(
        2, MirrorError.NOT_SET, "3 partitions are followed here already (link.max.subscriptions)"
    )
    first.hear(subscribe(node, 4, 1))  # takes the place of another one
    assert isinstance(first.sent[-1], Agreed)
    first.hear(Unsubscribe(4))
    second.hear(subscribe(node, 3, 1))
    assert isinstance(second.sent[-1], Agreed)


def test_the_subscriptions_of_a_stream_that_ends_count_no_longer() -> None:
    node = Whole()
    node.create("t", 4)
    shared = region(node, WatchLimits(subscriptions=1))
    first, second = Stream(node, shared), Stream(node, shared)
    first.hear(subscribe(node, 1, 0))
    first.source.lost()
    second.hear(subscribe(node, 1, 0))
    assert isinstance(second.sent[-1], Agreed)
    assert shared.watching.subscriptions == 1


ROOM = 10 * (TOPIC_BYTES + 2)


@pytest.mark.parametrize(
    "frame",
    [
        WatchTopics(tuple(f"t{one}" for one in range(11))),
        WatchTopics((), (Filter("g" * ROOM),)),
        RewatchTopics(tuple(f"t{one}" for one in range(11)), ()),
        RewatchTopics((), tuple(f"t{one}" for one in range(11))),
        WatchGroups(tuple(Filter("group") for _ in range(ROOM // FILTER_BYTES))),
    ],
)
def test_a_stream_that_names_too_much_is_refused(
    frame: WatchTopics | RewatchTopics | WatchGroups,
) -> None:
    node = Whole()
    stream = Stream(node, region(node, WatchLimits(name_bytes_per_stream=ROOM)))
    stream.hear(frame)
    (refused,) = stream.sent
    assert isinstance(refused, Refused)
    assert refused.because.startswith(f"more than {ROOM} bytes of names and filters on this stream")
    assert CloseStream(1) in stream.effects


def test_names_of_all_streams_have_a_limit_which_one_that_ends_leaves_to_others() -> None:
    node = Whole()
    shared = region(node, WatchLimits(name_bytes=ROOM))
    first, second, third = (Stream(node, shared) for _ in range(3))
    names = tuple(f"t{one}" for one in range(6))
    first.hear(WatchTopics(names))
    second.hear(WatchTopics(names))
    assert isinstance(second.sent[-1], Refused)
    assert "are watched here (link.watched.max.bytes)" in second.sent[-1].because
    assert not first.source.closed
    first.source.lost()
    third.hear(WatchTopics(names))
    assert all(isinstance(frame, TopicState) for frame in third.sent) and len(third.sent) == 6


def test_what_is_left_out_again_does_not_add_up() -> None:
    """A link makes mirrors and removes them for as long as it lives."""
    node = Whole()
    shared = region(node, WatchLimits(name_bytes_per_stream=ROOM))
    stream = Stream(node, shared)
    for turn in range(20):
        stream.hear(WatchTopics((f"a{turn}", "b")))
        stream.hear(RewatchTopics((f"c{turn}",), (f"a{turn}",)))
        stream.hear(WatchGroups((Filter(f"group{turn}"),)))
    assert not stream.source.closed
    stream.hear(WatchTopics(tuple(f"t{one}" for one in range(11))))
    assert stream.source.closed
