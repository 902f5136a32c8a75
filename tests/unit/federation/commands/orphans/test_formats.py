"""What people see of a tail's records."""

import io
import json

from rich.console import Console

from brokers.records.record import Record
from federation.commands.orphans import formats
from federation.commands.orphans.classes import OrphanClass
from federation.commands.orphans.reading import OrphanRecord
from federation.commands.orphans.stores import Tail, TailCopy
from linker.wire.v1 import admin_pb2 as pb

READERS = [
    pb.OrphanReader(group="reporting", committed_offset=6),
    pb.OrphanReader(group="billing", committed_offset=7),
]
TAIL = Tail("orders-0/5-8.e0", (TailCopy(1, "h:1", pb.Orphan(records=3, readers=READERS)),))


def record(offset: int) -> OrphanRecord:
    return OrphanRecord(Record(offset, 1_000, None, b"v", ()), 0, -1, -1, -1, False, False)


def test_each_record_names_the_groups_that_had_read_it() -> None:
    found = [(record(offset), OrphanClass.UNIQUE) for offset in (5, 6, 7)]
    rows = [json.loads(line) for line in formats.lines(TAIL, found)]
    assert [row["read_by"] for row in rows] == [["billing", "reporting"], ["billing"], []]
    assert {row["class"] for row in rows} == {"unique"}
    page = io.StringIO()
    Console(file=page, width=200).print(formats.table(TAIL, found))
    assert page.getvalue().count("billing") == 2
