"""A source that dials: which streams it opens and closes, and which of them is the first."""

from random import Random
from typing import Any

from brokers.ids import BrokerId
from brokers.metadata.image.image import Image
from linker.control.source_link import SourceLink
from linker.control.wanted_streams import LINGER_MS, UNREACHED_MS
from linker.errors import LinkError
from linker.events import CloseStream, Dial, FrameArrived, StreamDialed, StreamLost
from linker.frames import Brokers, Frame, Hello, SourceBroker, WantedStreams
from linker.protocol_versions import WANTS_STREAMS_FROM
from linker.records.link_state import LinkRecord, LinkState
from linker.region_client import Effects, RegionClient

NEWEST, OLDER = WANTS_STREAMS_FROM, WANTS_STREAMS_FROM - 1


class View:
    """The source, as one of its brokers sees it."""

    broker_id, cluster_id, image = 1, "west", Image("west")


class Served:
    """The source's side of an open stream."""

    def __init__(self, version: int) -> None:
        self.version, self.closed = version, False

    def on_frame(self, frame: Frame, now: int) -> Effects:
        return []

    def lost(self) -> None:
        self.closed = True


class Stage:
    """A link from `west`, whose brokers of the other end are answered for by hand."""

    def __init__(
        self, fetchers: int = 1, version: int = NEWEST, servers: str = "east:9092"
    ) -> None:
        self.now, self.version, self._last = 1_000, version, 0
        self.region = RegionClient(View(), Random(1))  # type: ignore[arg-type]
        configs = {
            "link.mode": "SOURCE",
            "bootstrap.servers": servers,
            "num.cluster.link.fetchers": str(fetchers),
        }
        record = LinkRecord("west-east", "id", "east", configs, 0)
        make: Any = lambda stream: Served(self.version)  # noqa: E731
        self.link = SourceLink(self.region, record, 1, self._new_stream, make, {})
        self.servers: tuple[str, ...] = ()  # in the order in which they were asked last
        self.dialing: dict[str, int] = {}  # streams by address; empty: through bootstrap.servers
        self.open: dict[int, BrokerId] = {}
        self.take(self.link.begin(self.now))

    def _new_stream(self) -> int:
        self._last -= 1
        return self._last

    def take(self, effects: Effects) -> None:
        for effect in effects:
            if isinstance(effect, Dial):
                self.servers = effect.bootstrap_servers
                self.dialing[effect.endpoint + "#" * (effect.endpoint in self.dialing)] = (
                    effect.stream
                )
            if isinstance(effect, CloseStream):
                self.open.pop(effect.stream, None)

    def answer(self, endpoint: str, broker_id: BrokerId, wanted: WantedStreams | None) -> None:
        """A broker of the destination welcomes a stream."""
        stream = self.dialing.pop(endpoint)
        self.open[stream] = broker_id
        self.take(self.link.on_event(StreamDialed(stream), self.now))
        self.hear(stream, Hello("west-east", "id", "east", broker_id=broker_id))
        self.hear(stream, Brokers(5, tuple(SourceBroker(one, f"e{one}:1") for one in (11, 12, 13))))
        if wanted is not None:
            self.hear(stream, wanted)

    def hear(self, stream: int, frame: Frame) -> None:
        self.take(self.link.on_event(FrameArrived(stream, frame), self.now))

    def says(self, broker_id: BrokerId, wanted: WantedStreams) -> None:
        self.hear(next(one for one, broker in self.open.items() if broker == broker_id), wanted)

    def lose(self, broker_id: BrokerId) -> None:
        stream = next(one for one, broker in self.open.items() if broker == broker_id)
        del self.open[stream]
        lost = StreamLost(stream, LinkError.TIMEOUT_ERROR, "it is gone")
        self.take(self.link.on_event(lost, self.now))

    def pass_time(self, milliseconds: int) -> None:
        """Each timer runs when it is due."""
        until, timers = self.now + milliseconds, self.region.timers
        while timers.deadline is not None and timers.deadline <= until:
            self.now = max(self.now, timers.deadline)
            for act in timers.due(self.now):
                self.take(act(self.now))
        self.now = until

    def refuse(self, endpoint: str) -> None:
        """Nobody answers there."""
        stream = self.dialing.pop(endpoint)
        lost = StreamLost(stream, LinkError.TIMEOUT_ERROR, "no answer")
        self.take(self.link.on_event(lost, self.now))


def test_streams_go_to_the_brokers_that_share_something_and_to_no_other() -> None:
    stage = Stage(fetchers=2)
    stage.answer("", 11, WantedStreams((12,), (11,)))
    assert sorted(stage.dialing) == ["e12:1", "e12:1#"]


def test_a_destination_of_an_older_release_gets_streams_to_all_of_its_brokers() -> None:
    stage = Stage(version=OLDER)
    stage.answer("", 11, None)
    assert sorted(stage.dialing) == ["e12:1", "e13:1"]


def test_the_first_stream_is_closed_once_another_is_open_and_nobody_wants_it() -> None:
    stage = Stage()
    stage.answer("", 11, WantedStreams((), (12,)))
    stage.pass_time(LINGER_MS)
    assert list(stage.open.values()) == [11], "there is no other one yet"
    stage.answer("e12:1", 12, WantedStreams((), (12,)))
    stage.pass_time(2 * LINGER_MS)
    assert (list(stage.open.values()), stage.dialing) == ([12], {})
    assert stage.link.state is LinkState.ACTIVE


def test_another_stream_takes_the_place_of_the_first_one_that_is_lost() -> None:
    stage = Stage()
    stage.answer("", 11, WantedStreams((12,), (11,)))
    stage.answer("e12:1", 12, WantedStreams((12,), (11,)))
    stage.lose(11)
    stage.pass_time(2_000)
    assert list(stage.dialing) == ["e11:1"], "it is wanted, so it is opened again, where it was"
    assert stage.link.because == "", "the link stands"
    stage.lose(12)
    stage.pass_time(2_000)
    assert stage.link.because == "it is gone"
    assert len(stage.dialing) == 2


def test_all_streams_that_nobody_wants_any_more_are_closed_but_one() -> None:
    stage = Stage()
    stage.answer("", 11, WantedStreams((12, 13), (11,)))
    for broker in (12, 13):
        stage.answer(f"e{broker}:1", broker, WantedStreams((broker,), (11,)))
    for broker in (11, 12, 13):
        stage.says(broker, WantedStreams((), ()))
    assert len(stage.open) == 3
    stage.pass_time(2 * LINGER_MS)
    assert list(stage.open.values()) == [11]


def test_a_link_that_is_paused_closes_all_its_streams() -> None:
    stage = Stage()
    stage.answer("", 11, WantedStreams((12,), (11,)))
    stage.answer("e12:1", 12, WantedStreams((12,), (11,)))
    stage.take(stage.link.close(stage.now))
    stage.pass_time(10 * LINGER_MS)
    assert (stage.open, stage.dialing) == ({}, {})


def test_a_coordinator_that_is_not_reached_is_replaced_by_what_each_broker_says_itself() -> None:
    stage = Stage()
    stage.answer("", 12, WantedStreams((), (11,)))
    stage.refuse("e11:1")
    stage.pass_time(UNREACHED_MS)
    assert sorted(stage.dialing) == ["e11:1", "e13:1"]
    stage.answer("e13:1", 13, WantedStreams((13,), (11,)))
    stage.refuse("e11:1")
    stage.pass_time(10 * UNREACHED_MS)
    assert sorted(stage.open.values()) == [12, 13], "for as long as it is so"


def test_once_the_coordinator_is_reached_what_nobody_wants_is_closed_again() -> None:
    stage = Stage()
    stage.answer("", 12, WantedStreams((), (11,)))
    stage.refuse("e11:1")
    stage.pass_time(UNREACHED_MS)
    stage.answer("e13:1", 13, WantedStreams((13,), (11,)))
    stage.answer("e11:1", 11, WantedStreams((13,), (11,)))
    assert sorted(stage.open.values()) == [11, 12, 13]
    stage.pass_time(LINGER_MS)
    assert sorted(stage.open.values()) == [11, 13]


def test_a_coordinator_that_was_lost_is_waited_for_before_others_are_dialed() -> None:
    stage = Stage()
    stage.answer("", 12, WantedStreams((12,), (11,)))
    stage.answer("e11:1", 11, WantedStreams((12,), (11,)))
    stage.pass_time(10 * UNREACHED_MS)
    stage.lose(11)
    stage.pass_time(UNREACHED_MS - 1)
    assert sorted(stage.dialing) == ["e11:1"]
    stage.pass_time(1)
    assert sorted(stage.dialing) == ["e11:1", "e13:1"]


def test_bootstrap_servers_are_tried_each_first_in_turn() -> None:
    """One that answers to nobody takes all of an attempt's time."""
    stage = Stage(servers="east:9092,west:9092")
    for first in ("east:9092", "west:9092", "east:9092"):
        assert stage.servers[0] == first
        stage.refuse("")
        stage.pass_time(2_000)
