"""Which streams a source that dials has: what brokers of the destination ask for, and what the source makes of it."""

from collections.abc import Iterator
from random import Random
from uuid import UUID

from brokers.ids import BrokerId
from brokers.metadata.image.image import LINK_LISTENER, BrokerImage, Endpoint, Image
from linker.control.source_brokers import Fetcher
from linker.control.stream_requests import LeaderPair, StreamRequests
from linker.control.wanted_streams import LINGER_MS, UNREACHED_MS, WantedByDestination
from linker.data.destination_stream import DestinationStream
from linker.events import Send
from linker.frames import WantedStreams
from linker.protocol_versions import WANTS_STREAMS_FROM
from linker.region_client import Effects, RegionClient

BROKERS, SOURCES = (11, 12, 13), (1, 2, 3)


def registered(broker_id: BrokerId) -> BrokerImage:
    endpoint = Endpoint(LINK_LISTENER, f"east-{broker_id}", 9)
    return BrokerImage(broker_id, 1, UUID(int=broker_id), (endpoint,), fenced=False)


class View:
    """The destination, as one of its brokers sees it."""

    def __init__(self, broker_id: BrokerId) -> None:
        self.broker_id, self.cluster_id, self.image = broker_id, "east", Image("east")
        self.image.brokers.update({one: registered(one) for one in BROKERS})


class Sources:
    """The source's brokers, of which one has a stream to this one."""

    def __init__(self, source: BrokerId, version: int) -> None:
        self.source, self.alive = source, SOURCES
        self.stream = DestinationStream()
        self.stream.sender.stream = 7
        self.stream.open(version)
        self.data_of: set[BrokerId] = set()

    @property
    def told(self) -> Iterator[DestinationStream]:
        yield self.stream

    def broker_of(self, stream: DestinationStream) -> BrokerId:
        assert stream is self.stream
        return self.source

    def needs(self, source: BrokerId) -> bool:
        return source in self.data_of


class Broker:
    """A broker of the destination, with a stream of a broker of the source."""

    def __init__(
        self, broker_id: BrokerId, source: BrokerId, version: int = WANTS_STREAMS_FROM
    ) -> None:
        self.region = RegionClient(View(broker_id), Random(1))  # type: ignore[arg-type]
        self.region.elect()
        self.sources = Sources(source, version)
        self.requests = StreamRequests(self.region, self.sources)

    def due(self) -> list[WantedStreams]:
        """What is said when the gathering is over."""
        deadline = self.region.timers.deadline
        acts = self.region.timers.due(deadline) if deadline is not None else []
        return frames([effect for act in acts for effect in act(1_000)])


def frames(effects: Effects) -> list[WantedStreams]:
    return [one.frame for one in effects if isinstance(one, Send)]


def coordinator() -> BrokerId:
    found = Broker(11, 1).region.coordinator
    assert found is not None
    return found.id


COORDINATOR = coordinator()
OTHERS = tuple(one for one in BROKERS if one != COORDINATOR)


def test_the_coordinator_asks_for_all_that_share_partitions_and_spreads_those_that_share_none() -> (
    None
):
    mirror, idle = OTHERS
    asked = {}
    for source in SOURCES:
        broker = Broker(COORDINATOR, source)
        broker.requests.share("orders", (LeaderPair(2, mirror), LeaderPair(3, COORDINATOR)))
        (asked[source],) = broker.due()
    assert asked[2] == WantedStreams((mirror,), (COORDINATOR,))
    assert asked[3] == WantedStreams((COORDINATOR,), ())
    assert asked[1] == WantedStreams((), tuple(sorted((COORDINATOR, idle))))


def test_another_broker_asks_for_the_coordinator_and_for_what_it_gets_itself() -> None:
    here = OTHERS[0]
    broker = Broker(here, 2)
    broker.requests.share("orders", (LeaderPair(2, OTHERS[1]),))
    assert broker.due() == [WantedStreams((), (COORDINATOR,))]
    broker.sources.data_of.add(2)
    assert frames(broker.requests.tell()) == [WantedStreams((here,), (COORDINATOR,))]
    assert broker.requests.tell() == []


def test_what_no_topic_shares_any_more_is_not_asked_for() -> None:
    broker = Broker(COORDINATOR, 1)
    mirror = OTHERS[0]
    for topic in ("orders", "payments"):
        broker.requests.share(topic, (LeaderPair(1, mirror),))
    assert [one.broker_ids for one in broker.due()] == [(mirror,)]
    broker.requests.share("orders", ())
    assert broker.due() == []
    broker.requests.share("payments", (LeaderPair(3, mirror),))
    assert [one.broker_ids for one in broker.due()] == [()]


def test_a_broker_that_leads_nothing_has_another_stream_once_its_source_is_gone() -> None:
    broker = Broker(COORDINATOR, 2)
    broker.requests.share("orders", [LeaderPair(1, one) for one in OTHERS])
    assert broker.due() == [WantedStreams((), (COORDINATOR,))]
    broker.sources.alive = (2, 3)
    (asked,) = frames(broker.requests.tell())
    assert OTHERS[0] in asked.metadata_ids


def test_a_source_of_an_older_release_is_told_nothing() -> None:
    broker = Broker(COORDINATOR, 1, WANTS_STREAMS_FROM - 1)
    broker.requests.share("orders", (LeaderPair(1, OTHERS[0]),))
    assert broker.due() == []


def test_the_source_has_what_any_broker_asks_for() -> None:
    wanted = WantedByDestination()
    wanted.says(11, WantedStreams((12,), (11,)))
    wanted.says(12, WantedStreams((12,), (13,)))
    assert set(wanted.fetchers(BROKERS, 2)) == {(12, 0), (12, 1), (11, 0), (13, 0)}
    wanted.says(12, WantedStreams((), (11,)))
    wanted.says(11, WantedStreams((), (11,)))
    assert set(wanted.fetchers(BROKERS, 2)) == {(11, 0)}


def test_what_a_broker_asked_for_ends_with_it() -> None:
    wanted = WantedByDestination()
    wanted.says(11, WantedStreams((12,), ()))
    assert set(wanted.fetchers((12, 13), 1)) == set()
    assert set(wanted.fetchers((11, 12), 1)) == {(12, 0)}


def test_while_a_broker_of_the_destination_is_of_an_older_release_all_have_streams() -> None:
    wanted = WantedByDestination()
    wanted.says(11, WantedStreams((12,), ()))
    wanted.says(12, None)
    everywhere = {(broker, number) for broker in BROKERS for number in range(2)}
    assert set(wanted.fetchers(BROKERS, 2)) == everywhere
    wanted.will_say(12)
    assert set(wanted.fetchers(BROKERS, 2)) == {(12, 0), (12, 1)}
    wanted.will_say(11)  # it has said it already, on an earlier stream
    assert set(wanted.fetchers(BROKERS, 2)) == {(12, 0), (12, 1)}


def test_a_stream_outlives_its_use_for_a_while() -> None:
    wanted = WantedByDestination()
    there, first, later = [Fetcher(11, 0), Fetcher(12, 0)], Fetcher(11, 0), 1_000 + LINGER_MS
    assert (wanted.outlived(there, [first], 1_000), wanted.due) == ([], later)
    assert (wanted.outlived(there, there, later - 1), wanted.due) == ([], None)
    assert (wanted.outlived(there, [first], later), wanted.due) == ([], later + LINGER_MS)
    assert wanted.outlived(there, [first], later + LINGER_MS) == [Fetcher(12, 0)]
    assert wanted.due is None


def test_a_source_that_does_not_reach_the_coordinator_has_a_stream_to_everybody() -> None:
    """11 is the coordinator; what 13 needs nobody else can say."""
    wanted, lost_at = WantedByDestination(), 1_000 + UNREACHED_MS
    wanted.says(12, WantedStreams((12,), (11,)))
    wanted.look(BROKERS, (12,), 1_000)
    assert (set(wanted.fetchers(BROKERS, 2)), wanted.due) == ({(12, 0), (12, 1), (11, 0)}, lost_at)
    wanted.look(BROKERS, (12,), lost_at - 1)
    assert (13, 0) not in wanted.fetchers(BROKERS, 2)
    wanted.look(BROKERS, (12,), lost_at)
    assert set(wanted.fetchers(BROKERS, 2)) == {(12, 0), (12, 1), (11, 0), (13, 0)}
    wanted.look(BROKERS, (12, 13), lost_at + 1)
    assert (13, 0) in wanted.fetchers(BROKERS, 2), "11 is not there yet"
    wanted.look(BROKERS, (11, 12, 13), lost_at + 2)
    assert set(wanted.fetchers(BROKERS, 2)) == {(12, 0), (12, 1), (11, 0)}


def test_a_coordinator_that_is_away_for_a_while_or_is_dead_needs_nobody_in_its_place() -> None:
    wanted = WantedByDestination()
    wanted.says(12, WantedStreams((), (11,)))
    wanted.look(BROKERS, (12,), 1_000)
    wanted.look(BROKERS, (11, 12), UNREACHED_MS)
    wanted.look(BROKERS, (12,), UNREACHED_MS + 500)
    wanted.look(BROKERS, (12,), UNREACHED_MS + 1_000)
    assert set(wanted.fetchers(BROKERS, 1)) == {(11, 0)}
    wanted.look((12, 13), (12,), 10 * UNREACHED_MS)
    assert set(wanted.fetchers((12, 13), 1)) == set()


def test_a_broker_that_is_out_of_reach_and_does_not_coordinate_needs_nobody_in_its_place() -> None:
    wanted = WantedByDestination()
    wanted.says(11, WantedStreams((12,), (11,)))
    wanted.look(BROKERS, (11,), 1_000)
    wanted.look(BROKERS, (11,), 1_000 + UNREACHED_MS)
    assert set(wanted.fetchers(BROKERS, 1)) == {(11, 0), (12, 0)}
    assert wanted.due is None


def test_what_a_former_coordinator_asked_for_is_over_where_it_is_out_of_reach() -> None:
    wanted = WantedByDestination()
    wanted.says(11, WantedStreams((13,), (11,)))
    wanted.look(BROKERS, (11, 12), 1_000)
    wanted.says(12, WantedStreams((), (12,)))
    wanted.look(BROKERS, (12,), 2_000)
    assert (13, 0) in wanted.fetchers(BROKERS, 1), "it may come back, and say it again"
    wanted.look(BROKERS, (12,), 2_000 + UNREACHED_MS)
    assert set(wanted.fetchers(BROKERS, 1)) == {(12, 0)}


def test_where_nobody_is_reached_all_that_was_said_stays_true() -> None:
    wanted = WantedByDestination()
    wanted.says(11, WantedStreams((12,), (11,)))
    for now in (1_000, 1_000 + UNREACHED_MS):
        wanted.look(BROKERS, (), now)
    assert set(wanted.fetchers(BROKERS, 1)) == {(11, 0), (12, 0)}
