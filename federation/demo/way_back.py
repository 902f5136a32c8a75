"""The last acts of the demo: the first region returns and mirrors the one that took over, and what it had beyond the
cut goes back into the topic.

Its records beyond the cut are sealed before they are truncated. They are compared with what the application had lost.
"""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from federation.demo.costs import Acknowledged
from federation.demo.regions import DemoError, LinkAdmin
from federation.demo.screen import Screen
from federation.demo.tail import SealedTail, list_orphans, replay_unique, sealed_tails, text_of
from federation.local import federation as local
from federation.local.layout import Region

SHOWN = 3
SHOWN_BYTES = 60
_TIMEOUT_S = 30.0
_POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class WayBack:
    """The sealed `tails`; `kept`: of the records that were lost in the failover, those that are in them."""

    tails: tuple[SealedTail, ...]
    kept: int
    ms: float

    @property
    def sealed(self) -> int:
        return sum(len(tail.records) for tail in self.tails)


def come_back(
    directory: Path,
    west: Region,
    east: LinkAdmin,
    screen: Screen,
    topic: str,
    lost: Collection[Acknowledged],
    east_bootstrap: str,
) -> WayBack:
    """West starts, learns that it was taken over, and is restored. Raises DemoError, LocalError or Failure."""
    local.up(directory, (west.name,))
    began = time.monotonic()
    with LinkAdmin(west) as admin:
        _wait(lambda: admin.is_taken_over(topic), "west does not learn that east has taken over")
        screen.note(
            f"west learns that east has taken {topic} over: producers are refused there now"
        )
        admin.link_from(east_bootstrap, "east-to-west")
        admin.restore(topic, "east-to-west")
        _wait_equal(admin, east, topic)
    took_ms = 1_000 * (time.monotonic() - began)
    tails = tuple(sealed_tails(west.bootstrap, east_bootstrap, topic))
    list_orphans(directory / "orphans.jsonl", tails)
    places = {
        (tail.partition, orphan.record.offset) for tail in tails for orphan, _ in tail.records
    }
    kept = sum((one.partition, one.offset) in places for one in lost)
    back = WayBack(tails, kept, took_ms)
    show(screen, back, len(lost), directory)
    return back


def show(screen: Screen, back: WayBack, lost: int, directory: Path) -> None:
    """What is sealed, by tail, and the first record of some; all of them are in a file of the directory."""
    screen.note(
        f"{back.sealed:,} records in west were beyond the cut: sealed as orphan tails, then truncated"
    )
    for tail in back.tails:
        others = len(tail.records) - len(tail.unique)
        again = f", {others:,} that the producer has sent to east again" if others else ""
        screen.note(f"  {tail.tail.name}: {len(tail.unique):,} that east lacks there{again}")
    screen.note(f"{back.kept:,} of the {lost:,} lost records are among them, such as")
    for tail in back.tails[:SHOWN]:
        orphan, _ = tail.records[0]
        where = f"partition {tail.partition}, offset {orphan.record.offset}"
        screen.note(f"  {where}: {text_of(orphan)[:SHOWN_BYTES]}...")
    screen.note(
        f"each one is in {directory.name}/orphans.jsonl; causeway orphans list and show find them, too"
    )


def replay(
    back: WayBack, west: Region, east: LinkAdmin, screen: Screen, topic: str, east_bootstrap: str
) -> int:
    """What east lacks is appended to it, and mirrored by west -> records. Raises DemoError or Failure."""
    appended = replay_unique(west.bootstrap, east_bootstrap, topic, back.tails)
    with LinkAdmin(west) as admin:
        _wait_equal(admin, east, topic)
    screen.note(
        f"{appended:,} records appended in east, as causeway orphans replay does it; west mirrors them, too"
    )
    return appended


def _wait_equal(west: LinkAdmin, east: LinkAdmin, topic: str) -> None:
    held = east.ends(topic)
    _wait(lambda: west.ends(topic) == held, "west does not catch up")


def _wait(until: Callable[[], bool], otherwise: str) -> None:
    timeout_ends = time.monotonic() + _TIMEOUT_S
    while not until():
        if time.monotonic() > timeout_ends:
            raise DemoError(f"{otherwise} (waited {_TIMEOUT_S:.0f} s)")
        time.sleep(_POLL_S)
