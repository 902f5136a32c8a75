"""A tail's records for people and for scripts."""

import base64
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rich.table import Table

from brokers.ids import Offset
from federation.commands.answers import Failure
from federation.commands.link.times import instant
from federation.commands.orphans.classes import OrphanClass
from federation.commands.orphans.reading import OrphanRecord, files_of
from federation.commands.orphans.stores import Tail

SHOWN_CHARACTERS = 60


def read_by(tail: Tail, offset: Offset) -> list[str]:
    """The groups of the old primary that had read this record."""
    readers = tail.orphan.readers
    return sorted(one.group for one in readers if one.committed_offset > offset)


def of_tail(tail: Tail, orphan: OrphanRecord, found: OrphanClass | None) -> dict[str, Any]:
    """A record of a sealed tail."""
    return as_json(orphan, found) | {"read_by": read_by(tail, orphan.record.offset)}


def as_json(orphan: OrphanRecord, found: OrphanClass | None) -> dict[str, Any]:
    """Bytes that are not UTF-8 are base64, under a name that says so."""
    record = orphan.record
    fields: dict[str, Any] = {
        "offset": record.offset,
        "timestamp_ms": record.timestamp,
        "leader_epoch": orphan.leader_epoch,
        "producer_id": orphan.producer_id,
        "sequence": orphan.sequence,
        **_field("key", record.key),
        **_field("value", record.value),
        "headers": [
            [name.decode("utf-8", "replace"), _text(value)] for name, value in record.headers
        ],
    }
    return fields if found is None else fields | {"class": found.value}


def _field(name: str, data: bytes | None) -> dict[str, str | None]:
    try:
        return {name: None if data is None else bytes(data).decode()}
    except UnicodeDecodeError:
        return {f"{name}_base64": base64.b64encode(data or b"").decode()}


def table(tail: Tail, found: Iterable[tuple[OrphanRecord, OrphanClass | None]]) -> Table:
    rows = Table("Offset", "Time", "LeaderEpoch", "Class", "ReadBy", "Key", "Value")
    for orphan, one in found:
        record = orphan.record
        rows.add_row(
            str(record.offset),
            instant(record.timestamp),
            str(orphan.leader_epoch),
            one.value if one is not None else "",
            ", ".join(read_by(tail, record.offset)),
            short(record.key),
            short(record.value),
        )
    return rows


def _text(data: bytes | None) -> str | None:
    return None if data is None else bytes(data).decode("utf-8", "replace")


def short(data: bytes | None) -> str:
    """A key or value for a table's cell."""
    text = "" if data is None else repr(_text(data))[1:-1]
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"


def write_segments(tail: Tail, directory: Path) -> list[Path]:
    """The tail's files, which Kafka's tools read. Raises Failure where one is there already."""
    folder = directory / tail.name.replace("/", "@")
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise Failure(f"{folder} is there already", hint="export to another directory") from None
    written = []
    for name, data in files_of(tail):
        written.append(folder / name)
        written[-1].write_bytes(data)
    return written


def lines(tail: Tail, found: Iterable[tuple[OrphanRecord, OrphanClass | None]]) -> Iterator[str]:
    """One JSON object a line."""
    for orphan, one in found:
        yield json.dumps(of_tail(tail, orphan, one))
