"""The README's tour, typed as it stands there."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer

pytestmark = [pytest.mark.process, pytest.mark.spark]

README = Path(__file__).parents[2] / "README.md"
BIN = Path(sys.executable).parent
RECORDS = 1_000


def _tour() -> list[str]:
    """The lines of the tour that are ours, without their remarks."""
    tour = README.read_text().partition("## A quick tour")[2].partition("## ")[0]
    return [
        line.partition("  #")[0] for line in re.findall(r"^\$ (causeway .*)$", tour, re.MULTILINE)
    ]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    subprocess.run([BIN / "causeway", "local", "down", "--dir", tmp_path / "try"], check=False)


def _type(line: str, place: Path, west: str) -> str:
    environment = os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}", "WEST": west}
    done = subprocess.run(
        line, shell=True, cwd=place, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    return done.stdout


def _bootstraps(place: Path) -> tuple[str, str]:
    regions = json.loads((place / "try" / "federation.json").read_text())["regions"]
    return regions[0]["bootstrap"], regions[1]["bootstrap"]


def _write(bootstrap: str) -> None:
    producer = Producer({"bootstrap.servers": bootstrap})
    for number in range(RECORDS):
        producer.produce("orders", str(number).encode())
    assert producer.flush(30) == 0


def _read(bootstrap: str) -> list[int]:
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "tour", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe(["orders"])
    values: list[int] = []
    while len(values) < RECORDS:
        values += [int(message.value() or b"-1") for message in consumer.consume(RECORDS, 30)]
    consumer.close()
    return values


def test_the_tour_does_what_it_says(place: Path) -> None:
    first, *rest = _tour()
    _type(first, place, "")
    west, east = _bootstraps(place)
    _write(west)
    said = [_type(line, place, west) for line in rest if "local down" not in line]
    assert any("ACTIVE" in text for text in said)
    assert any("kept" in text for text in said)
    assert (place / "try" / "audit" / "report.html").is_file()
    assert _read(east) == list(range(RECORDS))
    _type(rest[-1], place, west)


def test_the_tour_begins_with_up_and_ends_with_down() -> None:
    tour = _tour()
    assert tour[0].startswith("causeway local up")
    assert tour[-1].startswith("causeway local down")
