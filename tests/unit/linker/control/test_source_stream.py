"""The source's side of a stream: long work in slices, in the order in which it was asked for."""

from itertools import chain
from random import Random
from typing import Any

import pytest

from brokers.api import delete_topics
from brokers.effects import Changed
from brokers.ids import OffsetAndMetadata, TopicPartition
from brokers.metadata.image.image import ImageDelta
from brokers.region import ImageChanged
from brokers.wire.messages.topics import DeleteTopicsRequest, DeleteTopicState
from linker.control.source_destinations import SourceDestinations
from linker.control.source_fencing import SourceFencing
from linker.control.source_holds import SourceHolds
from linker.control.source_metadata import FRAME_OFFSETS_MAX, GroupPublisher, TopicPublisher
from linker.control.source_reversals import SourceReversals
from linker.control.source_stream import SourceStream
from linker.control.write_holds import WriteHolds
from linker.data.credit import SendBudget, StreamSender
from linker.events import CloseStream, Send
from linker.filters import EVERYTHING
from linker.frames import (
    TOPICS_MAX,
    AskBeacon,
    Beacon,
    Frame,
    GroupOffsets,
    Hello,
    RewatchTopics,
    Superseded,
    SupersededTopic,
    TopicState,
    WatchTopics,
    Welcome,
)
from linker.hold_frames import HeldTopic, HoldRetention
from linker.region_client import RegionClient
from linker.reversal_frames import (
    CheckReversals,
    ReversalsChecked,
    ReversedTopic,
    WithdrawnReversal,
    WithdrawReversals,
)
from tests.kernel.planted_faults import FaultyView
from tests.unit.brokers.api.whole import Whole


class Stream:
    """A stream to a region; `sent` are its frames, `slices` the steps that sent some."""

    def __init__(self, node: Whole, region: RegionClient | None = None) -> None:
        self.now = node.now
        self.region = region or RegionClient(node.broker.view, Random(1))
        fencing = SourceFencing(self.region, WriteHolds(), is_enabled=True)
        self.source = SourceStream(
            self.region,
            1,
            SendBudget(1 << 20),
            fencing,
            SourceReversals(self.region, lambda _: None),
            SourceHolds(self.region, 1 << 30, 1 << 40),
            SourceDestinations(self.region, fencing),
            lambda partition, now: 0,
            self.failed,
        )
        self.sent: list[Frame] = []
        self.failures: list[tuple[int, str]] = []
        self.slices = 0
        self.steps = 0  # of the region's timers
        self.effects: list[Any] = []
        self.hear(Hello("link", "id", "east"))
        assert [type(frame) for frame in self.sent] == [Welcome]
        self.sent.clear()

    def failed(self, stream: int, because: str, now: int) -> list[Any]:
        self.failures.append((stream, because))
        return []

    def hear(self, *frames: Frame) -> None:
        for frame in frames:
            self.take(self.source.on_frame(frame, self.now))
        while self.region.timers.deadline == self.now:
            (act,) = self.region.timers.due(self.now)
            self.steps += 1
            self.take(act(self.now))

    def take(self, effects: list[Any]) -> None:
        self.effects += effects
        found = [effect.frame for effect in effects if isinstance(effect, Send)]
        self.slices += bool(found)
        self.sent += found


def test_topics_are_sent_in_slices_and_a_beacon_waits_for_those_before_it() -> None:
    node = Whole()
    for name in range(250):
        node.create(f"t{name}")
    names = tuple(f"t{name}" for name in range(250))
    stream = Stream(node)
    stream.slices = 0
    stream.hear(WatchTopics(names), AskBeacon(7), WatchTopics((*names, "none")), AskBeacon(8))
    kinds = [type(frame) for frame in stream.sent]
    assert kinds == [*[TopicState] * 251, Beacon, Beacon]
    assert [frame.nonce for frame in stream.sent if isinstance(frame, Beacon)] == [7, 8]
    assert stream.slices >= 3


def test_what_would_be_refused_is_looked_for_in_slices_each_topic_once() -> None:
    """This region has no link of that name, so it refuses all; the beacon is asked for after it."""
    stream = Stream(Whole())
    steps = stream.steps
    each = [ReversedTopic(f"t{number}", bytes(16), bytes(16), 2, False, 5) for number in range(500)]
    stream.hear(CheckReversals(3, (*each, *each)), AskBeacon(7))
    checked, beacon = stream.sent
    assert isinstance(checked, ReversalsChecked) and isinstance(beacon, Beacon)
    assert checked.nonce == 3
    assert [one.topic for one in checked.refused] == [one.topic for one in each]
    assert {one.code for one in checked.refused} == {"REMOTE_LINK_NOT_FOUND_ERROR"}
    assert stream.steps - steps >= 5


def test_no_more_reversals_are_checked_at_once_than_a_link_has_topics() -> None:
    stream = Stream(Whole())
    topics = tuple(ReversedTopic(f"t{n}", bytes(16), bytes(16), 2, False, 5) for n in range(1_000))
    most = TOPICS_MAX // len(topics)
    for nonce in range(most + 5):
        stream.take(stream.source.on_frame(CheckReversals(nonce, topics), stream.now))
    stream.hear(CheckReversals(50, topics))
    answered = [frame.nonce for frame in stream.sent if isinstance(frame, ReversalsChecked)]
    assert answered == [*range(most)]
    stream.hear(CheckReversals(51, topics))
    assert isinstance(stream.sent[-1], ReversalsChecked) and stream.sent[-1].nonce == 51


def test_a_topic_that_was_left_out_in_between_is_sent_again() -> None:
    """That is how a destination asks for a topic's newest state; the list in between may not be looked through yet."""
    node = Whole()
    for name in range(250):
        node.create(f"t{name}")
    names = tuple(f"t{name}" for name in range(250))
    stream = Stream(node)
    stream.hear(WatchTopics(names))
    stream.sent.clear()
    stream.hear(WatchTopics(names[:-1]), WatchTopics(names))
    assert [frame.topic for frame in stream.sent if isinstance(frame, TopicState)] == ["t249"]


def test_a_stream_that_is_closed_drops_the_rest_of_its_work() -> None:
    node = Whole()
    for name in range(250):
        node.create(f"t{name}")
    stream = Stream(node)
    names = tuple(f"t{name}" for name in range(250))
    stream.hear(WatchTopics(names), Hello("link", "id", "east"))  # no second greeting is possible
    assert CloseStream(1) in stream.effects
    assert sum(isinstance(frame, TopicState) for frame in stream.sent) == 50
    assert stream.region.timers.deadline is None


def test_a_name_that_comes_often_is_looked_at_once() -> None:
    node = Whole()
    node.create("t")
    publisher = TopicPublisher(RegionClient(node.broker.view, Random(1)), StreamSender(1))
    assert sum(1 for _ in publisher.watch(("t",) * 300_000)) == 1


def test_a_topic_that_is_deleted_while_a_new_list_is_looked_through_is_told_of() -> None:
    """Filters admit what exists; it was watched by the list before."""
    node = Whole()
    for topic in ("a", "b"):
        node.create(topic)
    publisher = TopicPublisher(RegionClient(node.broker.view, Random(1)), StreamSender(1))
    assert len(list(publisher.watch((), EVERYTHING))) == 2
    looking = publisher.watch((), EVERYTHING)
    wanted = DeleteTopicState(name="b")
    node.ask(delete_topics, 6, DeleteTopicsRequest(topics=[wanted], timeout_ms=1_000))
    steps = chain(looking, publisher.changed(("b",)))
    told = [effect.frame for step in steps for effect in step.effects]
    assert [(state.topic, state.topic_id) for state in told] == [("b", b"")]


def test_a_topic_that_changes_before_a_new_list_comes_to_it_is_told_of() -> None:
    """The change is worked off before the list, which was taken in already."""
    node = Whole()
    node.create("a")
    publisher = TopicPublisher(RegionClient(node.broker.view, Random(1)), StreamSender(1))
    assert len(list(publisher.watch(("a",)))) == 1
    changed = publisher.changed(("a",))
    looking = publisher.watch(("a", "b"))
    wanted = DeleteTopicState(name="a")
    node.ask(delete_topics, 6, DeleteTopicsRequest(topics=[wanted], timeout_ms=1_000))
    told = [effect.frame for step in chain(changed, looking) for effect in step.effects]
    assert [(state.topic, state.topic_id) for state in told] == [("a", b""), ("b", b"")]


def topics_told(stream: Stream, *heard: Frame) -> list[str]:
    stream.sent.clear()
    stream.hear(*heard)
    return [frame.topic for frame in stream.sent if isinstance(frame, TopicState)]


def test_a_list_is_changed_without_being_sent_again() -> None:
    node = Whole()
    for name in ("a", "b", "c"):
        node.create(name)
    stream = Stream(node)
    assert topics_told(stream, WatchTopics(("a", "b"))) == ["a", "b"]
    assert topics_told(stream, RewatchTopics(("c",), ("a",))) == ["c"]
    assert topics_told(stream, RewatchTopics(("c",))) == ["c"]  # asked for once more
    node.ask(
        delete_topics, 6, DeleteTopicsRequest(topics=[DeleteTopicState(name=one) for one in "abc"])
    )
    assert changed(stream, "abc") == ["b", "c"]


def changed(stream: Stream, topics: str) -> list[str]:
    stream.sent.clear()
    delta = ImageDelta(topics_deleted=tuple(topics))
    stream.take(stream.source.on_region(ImageChanged(delta), stream.now))
    return [frame.topic for frame in stream.sent if isinstance(frame, TopicState)]


@pytest.mark.parametrize(
    ("last", "told"),
    [
        (WatchTopics(("a", "b")), ["a", "b"]),
        (WatchTopics(("b",)), ["b"]),
        (RewatchTopics(removed=("a",)), ["b"]),
        (RewatchTopics(("a",)), ["a", "b"]),
    ],
    ids=["both", "one", "removed", "again"],
)
def test_what_is_asked_for_while_lists_are_looked_through_is_told_once(
    last: Frame, told: list[str]
) -> None:
    """The work before it takes several slices."""
    node = Whole()
    names = tuple(f"t{name}" for name in range(250))
    for name in (*names, "a", "b"):
        node.create(name)
    stream = Stream(node)
    stream.hear(WatchTopics(("a", "b")))
    found = topics_told(stream, WatchTopics((*names, "b", "a")), RewatchTopics(("a", "b")), last)
    assert [one for one in found if one in ("a", "b")] == told


class Groups:
    """A region with groups, which commit while they are read."""

    def __init__(self) -> None:
        self.offsets = {
            f"g{number}": {TopicPartition("t", 0): OffsetAndMetadata(1)} for number in range(3)
        }

    def groups_with_offsets(self) -> tuple[str, ...]:
        return tuple(self.offsets)

    def group_offsets(self, group: str) -> dict[TopicPartition, OffsetAndMetadata]:
        return self.offsets.get(group, {})


def watched(groups: Groups) -> tuple[GroupPublisher, Any]:
    region = RegionClient(groups, Random(1))  # type: ignore[arg-type]
    sender = StreamSender(1)
    topics = TopicPublisher(RegionClient(Whole().broker.view, Random(1)), sender)
    assert len(list(topics.watch(("t",)))) == 1
    publisher = GroupPublisher(region, sender, topics)
    return publisher, publisher.watch(EVERYTHING)


def offsets_sent(job: Any) -> list[tuple[str, int]]:
    return [
        (effect.frame.group, committed.offset)
        for step in job
        for effect in step.effects
        for committed in effect.frame.offsets.values()
    ]


def test_a_commit_in_between_is_never_followed_by_the_offset_before_it() -> None:
    groups = Groups()
    publisher, job = watched(groups)
    assert offsets_sent([next(job)]) == [("g0", 1)]
    partition = TopicPartition("t", 0)
    for group in ("g0", "g2"):
        groups.offsets[group] = {partition: OffsetAndMetadata(5)}
        publisher.committed(group, groups.offsets[group], 0)
    del groups.offsets["g1"]
    assert offsets_sent(job) == [("g0", 5), ("g2", 5), ("g2", 5)]


def test_the_offsets_of_a_large_group_are_several_frames() -> None:
    groups = Groups()
    count = 2 * FRAME_OFFSETS_MAX + 1
    groups.offsets = {
        "g": {TopicPartition("t", one): OffsetAndMetadata(one) for one in range(count)}
    }
    _, job = watched(groups)
    frames = [effect.frame for step in job for effect in step.effects]
    assert all(isinstance(frame, GroupOffsets) and frame.group == "g" for frame in frames)
    assert [len(frame.offsets) for frame in frames] == [FRAME_OFFSETS_MAX, FRAME_OFFSETS_MAX, 1]


UUID_BYTES = b"0123456789abcdef"
OF_ALL: list[Frame] = [
    HoldRetention(1, 1, (HeldTopic("t", UUID_BYTES),)),
    Superseded((SupersededTopic("t", UUID_BYTES, 1),)),
    WithdrawReversals((WithdrawnReversal("t", UUID_BYTES, 1),)),
]


@pytest.mark.parametrize("frame", OF_ALL, ids=lambda one: type(one).__name__)
def test_what_raises_in_the_state_of_all_streams_is_not_contained(frame: Frame) -> None:
    """Half of a change may be done there, so the node ends."""
    node = Whole()
    node.create("t")
    view = FaultyView(node.broker.view)
    stream = Stream(node, RegionClient(view, Random(1)))
    view.raising = ("image",)
    with pytest.raises(KeyError, match="planted"):
        stream.hear(frame)


def test_a_stream_that_failed_takes_nothing_more_and_its_host_hears_of_it_later() -> None:
    node = Whole()
    node.create("t")
    view = FaultyView(node.broker.view)
    stream = Stream(node, RegionClient(view, Random(1)))
    view.raising = ("image",)
    effects = stream.source.on_frame(WatchTopics(("t",)), node.now)
    assert [type(effect) for effect in effects] == [Changed, CloseStream]
    assert stream.source.closed and stream.failures == []
    view.raising = ()
    stream.hear(AskBeacon(7))
    assert stream.failures == [(1, stream.source.because)]
    assert stream.sent == []
    assert stream.region.timers.deadline is None
