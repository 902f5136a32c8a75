"""The tail that a failover leaves: what is shown and listed of it."""

import io
import json
from pathlib import Path

from rich.console import Console

from brokers.records.record import Record
from federation.commands.orphans.classes import OrphanClass
from federation.commands.orphans.reading import OrphanRecord
from federation.commands.orphans.stores import Tail, TailCopy
from federation.demo.screen import Screen
from federation.demo.tail import SealedTail, list_orphans
from federation.demo.way_back import WayBack, show
from linker.wire.v1 import admin_pb2 as pb


def _orphan(offset: int) -> OrphanRecord:
    record = Record(
        offset=offset, timestamp=1_000, key=None, value=b"flight %d" % offset, headers=()
    )
    return OrphanRecord(record, 0, 7, 0, offset, is_control=False, is_transactional=False)


def _tail(partition: int, *classes: OrphanClass) -> SealedTail:
    described = pb.Orphan(name=f"flights-{partition}/5-9.e0", partition=partition)
    records = tuple((_orphan(5 + index), one) for index, one in enumerate(classes))
    return SealedTail(Tail(described.name, (TailCopy(1, "", described),)), records)


TAILS = (
    _tail(0, OrphanClass.UNIQUE, OrphanClass.UNIQUE, OrphanClass.RESENT),
    _tail(3, OrphanClass.UNIQUE),
)


def test_each_record_is_listed_with_what_east_has_of_it(tmp_path: Path) -> None:
    list_orphans(tmp_path / "orphans.jsonl", TAILS)
    lines = [json.loads(line) for line in (tmp_path / "orphans.jsonl").read_text().splitlines()]
    assert [(one["orphan"], one["partition"], one["offset"], one["class"]) for one in lines] == [
        ("flights-0/5-9.e0", 0, 5, "unique"),
        ("flights-0/5-9.e0", 0, 6, "unique"),
        ("flights-0/5-9.e0", 0, 7, "resent"),
        ("flights-3/5-9.e0", 3, 5, "unique"),
    ]
    assert [one["value"] for one in lines] == ["flight 5", "flight 6", "flight 7", "flight 5"]


def test_what_only_west_had_is_told_from_what_was_sent_again(tmp_path: Path) -> None:
    console = Console(width=140, record=True, file=io.StringIO())
    show(Screen(console), WayBack(TAILS, kept=3, ms=1.0), 3, tmp_path)
    said = [line.strip() for line in console.export_text().splitlines()]
    assert said[0].startswith("4 records in west were beyond the cut")
    assert said[1:3] == [
        "flights-0/5-9.e0: 2 that east lacks there, 1 that the producer has sent to east again",
        "flights-3/5-9.e0: 1 that east lacks there",
    ]
    assert said[3].startswith("3 of the 3 lost records are among them")
    assert said[4:6] == ["partition 0, offset 5: flight 5...", "partition 3, offset 5: flight 5..."]
    assert "orphans.jsonl" in said[6]
