"""The demo's story, step by step."""

import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from federation.demo import accounts
from federation.demo.accounts import Acknowledged
from federation.demo.audit import audit
from federation.demo.closing import Closing, list_lost
from federation.demo.consumer import Reader, read_back
from federation.demo.flights import FLIGHTS, Flight, flights
from federation.demo.producer import Sender, now_ms
from federation.demo.regions import DemoError, LinkAdmin, create_topic, kill
from federation.demo.screen import Row, Screen
from federation.local import federation as local
from federation.local.layout import Federation, Region

TOPIC = "flights"
GROUP = "departures"
PARTITIONS = 6
BEFORE_THE_AUDIT = 300_000
PER_SECOND = (
    10_000  # afterwards, so that the kill comes in the middle of a stream and not of a burst
)
_PATIENCE_S = 30.0
_POLL_S = 0.005


@dataclass(frozen=True, slots=True)
class Cast:
    """The processes and clients of the demo."""

    directory: Path
    federation: Federation
    west: Region
    east: Region
    admin: LinkAdmin
    screen: Screen
    curtain: ExitStack  # what must stop when the story ends, however it ends

    def sender(
        self, region: Region, records: Iterator[Flight], per_second: int | None = None
    ) -> Sender:
        """A producer that is connected and waits for `start`."""
        sender = Sender(region.bootstrap, TOPIC, records, per_second=per_second)
        self.curtain.callback(sender.give_up)
        return sender

    def reader(self, region: Region) -> Reader:
        """A member of the group that has begun."""
        reader = Reader(region.bootstrap, TOPIC, GROUP)
        self.curtain.callback(reader.abandon)
        reader.start()
        return reader


@dataclass(frozen=True, slots=True)
class Failover:
    """What was seen while west was killed and east took over; instants as `now_ms`."""

    killed_at_ms: float
    writable_at_ms: float
    cut: dict[int, int]
    acknowledged_west: list[Acknowledged]
    acknowledged_east: list[Acknowledged]
    read_west: Reader
    read_east: Reader


def play(directory: Path, screen: Screen) -> Closing:
    """The whole story; leaves both regions as they are at its end."""
    started = time.monotonic()
    with screen.step("Two regions, west and east, as separate processes"):
        federation = local.up(directory, ("west", "east"))
        west, east = federation.regions
        screen.note(f"west {west.bootstrap}, east {east.bootstrap}")
    with ExitStack() as curtain:
        admin = curtain.enter_context(LinkAdmin(east))
        cast = Cast(directory, federation, west, east, admin, screen, curtain)
        stream = flights()
        sender, reader = _fill_and_link(cast, stream)
        with screen.step("A Spark audit of both regions' segments"):
            verdict = audit(directory, TOPIC)
            screen.note(f"verdict: [bold]{verdict['verdict']}[/bold], {verdict['said']}")
        failover = _fail_over(cast, sender, reader, stream)
        with screen.step("Accounts: every record of east read back"):
            return _settle(cast, failover, verdict, started)


def _fill_and_link(cast: Cast, stream: Iterator[Flight]) -> tuple[Sender, Reader]:
    what = f"{BEFORE_THE_AUDIT:,} flights into west, a group reading them, east linked behind"
    with cast.screen.step(what):
        create_topic(cast.west, TOPIC, PARTITIONS)
        sender = cast.sender(cast.west, itertools.islice(stream, BEFORE_THE_AUDIT))
        sender.start()
        reader = cast.reader(cast.west)
        cast.admin.link(cast.west, TOPIC)
        cast.screen.watch(
            lambda: _progress(cast, sender, reader), lambda: _even(cast, sender, reader)
        )
        sender.close()
        return sender, reader


def _progress(cast: Cast, sender: Sender, reader: Reader) -> list[Row]:
    mirror = cast.admin.mirror(TOPIC)
    lag = f"lag {mirror.lag_records:,} records, {mirror.lag_ms:,} ms"
    return [
        Row("acknowledged in west", len(sender.acknowledged), BEFORE_THE_AUDIT),
        Row("read by the group", len(reader.flights), BEFORE_THE_AUDIT),
        Row("mirrored in east", mirror.mirrored, BEFORE_THE_AUDIT, lag),
    ]


def _even(cast: Cast, sender: Sender, reader: Reader) -> bool:
    """Everything sent, read and mirrored."""
    if sender.failure:
        raise DemoError(f"west refused a record: {sender.failure}")
    done = len(sender.acknowledged) == len(reader.flights) == BEFORE_THE_AUDIT
    return done and cast.admin.mirror(TOPIC).mirrored == BEFORE_THE_AUDIT


def _fail_over(cast: Cast, filled: Sender, reader: Reader, stream: Iterator[Flight]) -> Failover:
    rest = FLIGHTS - BEFORE_THE_AUDIT
    with cast.screen.step(
        f"{rest:,} more at {PER_SECOND:,} a second; west is killed in the middle"
    ):
        sender = cast.sender(cast.west, stream, PER_SECOND)
        # Connected beforehand, as a prepared application is: a producer id may take librdkafka a second.
        sender_east = cast.sender(cast.east, _unacknowledged_and_rest(sender, stream))
        sender.start()
        _wait(lambda: len(sender.acknowledged) > 0, "the stream stands still")
        time.sleep(rest / 2 / PER_SECOND)  # by the clock: an acknowledgement would be a kind moment
        kill(cast.federation, "west")
        killed_at_ms = now_ms()
        cast.screen.note("kill -9")
    with cast.screen.step("Failover: east becomes writable, producer and group go on there"):
        cut = cast.admin.fail_over(TOPIC)
        writable_at_ms = now_ms()
        reader.abandon()
        reader_east = cast.reader(cast.east)
        sender.give_up()
        sender.join()
        sender_east.start()
        _wait(lambda: not sender_east.is_alive(), "east does not acknowledge")
        sender.close()
        reader.wait_until_quiet()
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
    """What a producer that gave up leaves to its successor; looked at when the successor begins."""
    yield from list(sender.unacknowledged.values())
    yield from stream


def _settle(cast: Cast, failover: Failover, verdict: dict[str, Any], started: float) -> Closing:
    stored = read_back(cast.east.bootstrap, TOPIC, PARTITIONS)
    in_east = {flight for offsets in stored.values() for flight in offsets.values()}
    read_east, killed_at = failover.read_east, failover.killed_at_ms
    _wait(
        lambda: in_east <= failover.read_west.flights | read_east.flights,
        "the group does not read to the end",
    )
    read_east.leave()
    loss = accounts.loss(failover.acknowledged_west, stored, killed_at_ms=killed_at)
    list_lost(cast.directory / "lost.csv", loss.records)
    reading = accounts.reading(
        left_at=failover.read_west.next,
        committed=failover.read_west.committed,
        went_on_at=read_east.first,
        cut=failover.cut,
    )
    first_acknowledged = min(one.at_ms for one in failover.acknowledged_east) - killed_at
    first_read = (read_east.first_read_at_ms or killed_at) - killed_at
    return Closing(
        flights=FLIGHTS,
        acknowledged_before=len(failover.acknowledged_west),
        acknowledged_after=len(failover.acknowledged_east),
        mirrored=sum(failover.cut.values()),
        lost=len(loss.records),
        lost_below_the_cut=accounts.lost_below_the_cut(loss.records, failover.cut),
        read_again=reading.read_again,
        skipped=reading.skipped,
        never_read=len(in_east - failover.read_west.flights - read_east.flights),
        stored_twice=accounts.stored_twice(stored),
        rpo_ms=loss.reaches_back_ms,
        rto_ms=max(first_acknowledged, first_read),
        writable_ms=failover.writable_at_ms - killed_at,
        first_acknowledged_ms=first_acknowledged,
        first_read_ms=first_read,
        audit=verdict,
        files={"lost": str(cast.directory / "lost.csv"), "directory": str(cast.directory)},
        seconds=time.monotonic() - started,
    )


def _wait(until: Callable[[], bool], otherwise: str) -> None:
    patience_ends = time.monotonic() + _PATIENCE_S
    while not until():
        if time.monotonic() > patience_ends:
            raise DemoError(f"{otherwise} (waited {_PATIENCE_S:.0f} s)")
        time.sleep(_POLL_S)
