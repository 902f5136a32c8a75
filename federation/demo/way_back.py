"""The last act of the demo: the first region returns, and mirrors the one that took over.

Its records beyond the cut are sealed before they are truncated. They are compared with what the application had lost.
"""

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from federation.commands.orphans.reading import OrphanRecord, records_of
from federation.commands.orphans.stores import list_tails
from federation.demo.costs import Acknowledged
from federation.demo.regions import DemoError, LinkAdmin
from federation.demo.screen import Screen
from federation.local import federation as local
from federation.local.layout import Region

SHOWN = 3
_TIMEOUT_S = 30.0
_POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class WayBack:
    """`sealed`: records beyond the cut; `kept`: of those that were lost in the failover, the ones that are sealed."""

    sealed: int
    kept: int
    ms: float


def come_back(
    directory: Path,
    west: Region,
    east: LinkAdmin,
    screen: Screen,
    topic: str,
    lost: Iterable[Acknowledged],
    east_bootstrap: str,
) -> WayBack:
    """Raises DemoError."""
    local.up(directory, (west.name,))
    began = time.monotonic()
    with LinkAdmin(west) as admin:
        _wait(lambda: admin.is_taken_over(topic), "west does not learn that east has taken over")
        screen.note(f"west's {topic} is read-only: it was taken over by east")
        admin.link_from(east_bootstrap, "east-to-west")
        admin.restore(topic, "east-to-west")
        held = east.ends(topic)
        _wait(lambda: admin.ends(topic) == held, "west does not catch up")
    took_ms = 1_000 * (time.monotonic() - began)
    sealed = [
        (tail.orphan.partition, orphan)
        for tail in list_tails(west.bootstrap, topic).tails
        for orphan in records_of(tail)
    ]
    _write(directory / "orphans.jsonl", sealed)
    places = {(partition, orphan.record.offset) for partition, orphan in sealed}
    which = ", such as" if sealed else ": east has all that west had"
    screen.note(f"{len(sealed):,} records were sealed{which}")
    for partition, orphan in sealed[:SHOWN]:
        shown = bytes(orphan.record.value or b"")[:60].decode("utf-8", "replace")
        screen.note(f"  {topic}-{partition}@{orphan.record.offset}: {shown!r}")
    kept = sum((one.partition, one.offset) in places for one in lost)
    return WayBack(len(sealed), kept, took_ms)


def _write(path: Path, sealed: Iterable[tuple[int, OrphanRecord]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for partition, orphan in sealed:
            value = bytes(orphan.record.value or b"").decode("utf-8", "replace")
            fields = {"partition": partition, "offset": orphan.record.offset, "value": value}
            file.write(json.dumps(fields) + "\n")


def _wait(until: Callable[[], bool], otherwise: str) -> None:
    timeout_ends = time.monotonic() + _TIMEOUT_S
    while not until():
        if time.monotonic() > timeout_ends:
            raise DemoError(f"{otherwise} (waited {_TIMEOUT_S:.0f} s)")
        time.sleep(_POLL_S)
