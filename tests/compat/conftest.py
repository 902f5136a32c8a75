"""The region under test: one node with default settings, started once, in a directory of its own."""

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.bench import processes
from tests.bench.peer import jars
from tests.bench.peer.kafka import Kafka
from tests.bench.systems import SOURCE

CAUSEWAY = Path(sys.executable).parent / "causeway"
HERE = Path(__file__).resolve().parent
AGAINST = os.environ.get("COMPAT_AGAINST", "causeway")


@dataclass(frozen=True, slots=True)
class Region:
    """Where clients connect (`host:port`), where the partitions' folders are, and whether it is ours."""

    bootstrap: str
    data: Path
    ours: bool


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.compat)


@pytest.fixture(scope="session")
def region(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Region]:
    directory = tmp_path_factory.mktemp("region")
    starts = {"causeway": _ours, "brokers": _broker, "kafka": _kafka}
    yield from starts[AGAINST](directory)


def _ours(directory: Path) -> Iterator[Region]:
    place = ("--dir", str(directory))
    said = _causeway("local", "up", *place, "--region", "compat", "--json")
    (one,) = json.loads(said)["regions"]
    yield Region(one["bootstrap"], Path(one["nodes"][0]["data"]), ours=True)
    _causeway("local", "down", *place)


def _broker(directory: Path) -> Iterator[Region]:
    """A node without links, as `python -m brokers` runs it."""
    settings, log = directory / "node.toml", directory / "node.log"
    address = f"127.0.0.1:{processes.free_port()}"
    settings.write_text(
        f'node.id = 1\nlog.dirs = "{directory}/data"\nlisteners = "PLAINTEXT://{address}"\n'
        "group.initial.rebalance.delay.ms = 0\n"
    )
    command = [sys.executable, "-m", "brokers", "--config", str(settings)]
    process = processes.start(command, log)
    processes.first_answer(address, lambda: process.poll() is None, log)
    yield Region(address, directory / "data", ours=True)
    processes.stop(process.pid)


def _causeway(*words: str) -> str:
    done = subprocess.run([CAUSEWAY, *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.fail(f"causeway {' '.join(words)}: {done.stderr or done.stdout}")
    return done.stdout


def _kafka(directory: Path) -> Iterator[Region]:
    jars.fetch()
    kafka = Kafka(directory)
    kafka.up((SOURCE,))
    yield Region(kafka.region(SOURCE).bootstrap, directory / SOURCE, ours=False)
    kafka.down()


_serial = itertools.count(1)


@pytest.fixture
def name() -> Callable[[str], str]:
    """Names that no other test uses, for topics and groups."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    return lambda what: f"{what}-{worker}-{next(_serial)}"


@pytest.fixture
def ours(region: Region) -> None:
    """For tests of what only we do."""
    if not region.ours:
        pytest.skip("a rule of ours, not of Apache Kafka's")
