"""The steps of the demo, in order."""

import itertools
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from federation.demo import costs as costs
from federation.demo.audit import audit
from federation.demo.consumer import Reader, read_back
from federation.demo.costs import Acknowledged
from federation.demo.flights import FLIGHTS, Flight, flights
from federation.demo.network import Network
from federation.demo.producer import Sender, now_ms
from federation.demo.regions import DemoError, LinkAdmin, create_topic, kill
from federation.demo.screen import Row, Screen
from federation.demo.summary import Summary, list_lost
from federation.demo.way_back import WayBack, come_back, replay
from federation.local import federation as local
from federation.local.layout import Federation, Region

TOPIC = "flights"
GROUP = "departures"
PARTITIONS = 6
BEFORE_THE_AUDIT = 300_000
PER_SECOND = 10_000  # of the later records: the kill comes while records flow evenly
BEYOND_THE_CUT = 1_000  # records that west acknowledges while nothing reaches east
_TIMEOUT_S = 30.0
_POLL_S = 0.005


@dataclass(frozen=True, slots=True)
class Demo:
    """The processes and clients of the demo."""

    directory: Path
    federation: Federation
    west: Region
    east: Region
    admin: LinkAdmin
    screen: Screen
    network: Network
    cleanup: ExitStack  # stops clients when the demo ends, also after an error

    def sender(
        self, region: Region, records: Iterator[Flight], per_second: int | None = None
    ) -> Sender:
        """A connected producer, which sends from `start` on."""
        sender = Sender(region.bootstrap, TOPIC, records, per_second=per_second)
        self.cleanup.callback(sender.stop)
        return sender

    def reader(self, region: Region) -> Reader:
        """A started member of the group."""
        reader = Reader(region.bootstrap, TOPIC, GROUP)
        self.cleanup.callback(reader.abandon)
        reader.start()
        return reader


@dataclass(frozen=True, slots=True)
class Failover:
    """The failover from west to east as the clients saw it; instants as `now_ms`."""

    killed_at_ms: float
    writable_at_ms: float
    cut: dict[int, int]
    acknowledged_west: list[Acknowledged]
    acknowledged_east: list[Acknowledged]
    read_west: Reader
    read_east: Reader


def run(directory: Path, screen: Screen) -> Summary:
    """Runs all steps; does not stop the regions. Raises DemoError, LocalError or Failure."""
    started = time.monotonic()
    with ExitStack() as cleanup:
        with screen.step("Two regions, west and east, as separate processes"):
            prepared = local.prepare(directory, ("west", "east"))
            network = cleanup.enter_context(Network(directory, prepared, "west"))
            federation = local.up(directory)
            west, east = federation.regions
            screen.note(f"west {west.bootstrap}, east {east.bootstrap}")
        admin = cleanup.enter_context(LinkAdmin(east))
        demo = Demo(directory, federation, west, east, admin, screen, network, cleanup)
        stream = flights()
        sender, reader = _fill_and_link(demo, stream)
        with screen.step("A Spark audit of both regions' segments"):
            verdict = audit(directory, TOPIC)
            screen.note(f"verdict: [bold]{verdict['verdict']}[/bold], {verdict['said']}")
        failover = _fail_over(demo, sender, reader, stream)
        with screen.step("Accounts: every record of east read back"):
            stored = read_back(east.bootstrap, TOPIC, PARTITIONS)
            loss = costs.loss(
                failover.acknowledged_west, stored, killed_at_ms=failover.killed_at_ms
            )
            list_lost(directory / "lost.csv", loss.records)
            screen.note(
                f"{len(loss.records):,} records are lost for now: each one is in {directory.name}/lost.csv"
            )
        with screen.step("The network is mended; west returns and becomes a mirror of east"):
            network.mend()
            back = come_back(directory, west, admin, screen, TOPIC, loss.records, east.bootstrap)
        with screen.step("Replay: what east lacks is appended to it, and the group reads it"):
            replayed = _replay(demo, failover, loss, back)
        return _summarize(demo, failover, verdict, stored, loss, back, replayed, started)


def _replay(demo: Demo, failover: Failover, loss: costs.Loss, back: WayBack) -> int:
    appended = replay(back, demo.west, demo.admin, demo.screen, TOPIC, demo.east.bootstrap)
    lost = {one.flight for one in loss.records}
    _wait(lambda: lost <= failover.read_east.flights, "the group does not read what was replayed")
    return appended


def _fill_and_link(demo: Demo, stream: Iterator[Flight]) -> tuple[Sender, Reader]:
    what = f"{BEFORE_THE_AUDIT:,} flights into west, a group reading them, east linked behind"
    with demo.screen.step(what):
        create_topic(demo.west, TOPIC, PARTITIONS)
        sender = demo.sender(demo.west, itertools.islice(stream, BEFORE_THE_AUDIT))
        sender.start()
        reader = demo.reader(demo.west)
        demo.admin.link(demo.west, TOPIC)
        demo.screen.watch(
            lambda: _progress(demo, sender, reader), lambda: _is_filled(demo, sender, reader)
        )
        sender.close()
        return sender, reader


def _progress(demo: Demo, sender: Sender, reader: Reader) -> list[Row]:
    mirror = demo.admin.mirror(TOPIC)
    lag = f"lag {mirror.lag_records:,} records, {mirror.lag_ms:,} ms"
    return [
        Row("acknowledged in west", len(sender.acknowledged), BEFORE_THE_AUDIT),
        Row("read by the group", len(reader.flights), BEFORE_THE_AUDIT),
        Row("mirrored in east", mirror.mirrored, BEFORE_THE_AUDIT, lag),
    ]


def _is_filled(demo: Demo, sender: Sender, reader: Reader) -> bool:
    """Whether all records are acknowledged, read and mirrored. Raises DemoError when west refused a record."""
    if sender.failure:
        raise DemoError(f"west refused a record: {sender.failure}")
    done = len(sender.acknowledged) == len(reader.flights) == BEFORE_THE_AUDIT
    return done and demo.admin.mirror(TOPIC).mirrored == BEFORE_THE_AUDIT


def _fail_over(demo: Demo, filled: Sender, reader: Reader, stream: Iterator[Flight]) -> Failover:
    rest = FLIGHTS - BEFORE_THE_AUDIT
    with demo.screen.step(
        f"{rest:,} more at {PER_SECOND:,} a second; in the middle the network is cut, and west killed"
    ):
        sender = demo.sender(demo.west, stream, PER_SECOND)
        # Connected in advance: librdkafka may need a second to get a producer id.
        sender_east = demo.sender(demo.east, _unacknowledged_and_rest(sender, stream))
        sender.start()
        _wait(lambda: len(sender.acknowledged) > 0, "the stream stands still")
        # Not after an acknowledgement: nothing would be in flight.
        time.sleep(rest / 2 / PER_SECOND)
        demo.network.cut()
        demo.screen.note("the network between the regions is cut: nothing reaches east any more")
        since, last = len(sender.acknowledged), sender.last_sent

        def beyond() -> int:
            """Records that were sent after the cut, and acknowledged."""
            return sum(one.flight > last for one in sender.acknowledged[since:])

        _wait(lambda: beyond() >= BEYOND_THE_CUT, "west stands still")
        kill(demo.federation, "west")
        killed_at_ms = now_ms()
        sender.stop()
        demo.screen.note(
            f"west acknowledges {beyond():,} that were sent since, and alone has them; then kill -9"
        )
    with demo.screen.step("Failover: east becomes writable, producer and group go on there"):
        cut = demo.admin.fail_over(TOPIC)
        writable_at_ms = now_ms()
        reader.abandon()
        reader_east = demo.reader(demo.east)
        sender.join()
        sender_east.start()
        _wait(lambda: not sender_east.is_alive(), "east does not acknowledge")
        sender.close()
        reader.wait_until_quiet()
        demo.screen.note(
            "what west had acknowledged is not sent again: what of it east lacks is lost for now"
        )
    return Failover(
        killed_at_ms=killed_at_ms,
        writable_at_ms=writable_at_ms,
        cut=cut,
        acknowledged_west=[*filled.acknowledged, *sender.acknowledged],
        acknowledged_east=sender_east.acknowledged,
        read_west=reader,
        read_east=reader_east,
    )


def _unacknowledged_and_rest(sender: Sender, stream: Iterator[Flight]) -> Iterator[Flight]:
    """The records for the next producer; read when it starts, after the first producer has stopped."""
    yield from list(sender.unacknowledged.values())
    yield from stream


def _summarize(
    demo: Demo,
    failover: Failover,
    verdict: dict[str, Any],
    stored: Mapping[int, Mapping[int, int]],
    loss: costs.Loss,
    back: WayBack,
    replayed: int,
    started: float,
) -> Summary:
    in_east = {flight for offsets in stored.values() for flight in offsets.values()}
    read_east, killed_at = failover.read_east, failover.killed_at_ms
    _wait(
        lambda: in_east <= failover.read_west.flights | read_east.flights,
        "the group does not read to the end",
    )
    read_east.leave()
    reading = costs.reading(
        old_end=failover.read_west.next,
        committed=failover.read_west.committed,
        new_start=read_east.first,
        cut=failover.cut,
    )
    first_acknowledged = min(one.at_ms for one in failover.acknowledged_east) - killed_at
    first_read = (read_east.first_read_at_ms or killed_at) - killed_at
    return Summary(
        flights=FLIGHTS,
        acknowledged_before=len(failover.acknowledged_west),
        acknowledged_after=len(failover.acknowledged_east),
        mirrored=sum(failover.cut.values()),
        lost=len(loss.records),
        lost_below_the_cut=costs.lost_below_the_cut(loss.records, failover.cut),
        read_again=reading.read_again,
        skipped=reading.skipped,
        never_read=len(in_east - failover.read_west.flights - read_east.flights),
        stored_twice=costs.stored_twice(stored),
        rpo_ms=loss.reaches_back_ms,
        rto_ms=max(first_acknowledged, first_read),
        writable_ms=failover.writable_at_ms - killed_at,
        first_acknowledged_ms=first_acknowledged,
        first_read_ms=first_read,
        sealed=back.sealed,
        lost_and_sealed=back.kept,
        replayed=replayed,
        way_back_ms=back.ms,
        audit=verdict,
        files={
            "lost": str(demo.directory / "lost.csv"),
            "orphans": str(demo.directory / "orphans.jsonl"),
            "directory": str(demo.directory),
        },
        seconds=time.monotonic() - started,
    )


def _wait(until: Callable[[], bool], otherwise: str) -> None:
    timeout_ends = time.monotonic() + _TIMEOUT_S
    while not until():
        if time.monotonic() > timeout_ends:
            raise DemoError(f"{otherwise} (waited {_TIMEOUT_S:.0f} s)")
        time.sleep(_POLL_S)
