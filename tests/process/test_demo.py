"""`causeway demo`: the whole product once through, and nothing left behind however it ends."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from federation.demo.flights import FLIGHTS
from federation.local import federation as local

pytestmark = pytest.mark.process

DEMO = (sys.executable, "-m", "federation", "demo", "--json", "--dir")
TIMEOUT_S = 60


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    """Where a demo may live; whatever goes wrong, it does not outlive its test."""
    yield tmp_path / "demo"
    if (tmp_path / "demo" / "federation.json").exists():
        local.down(tmp_path / "demo")


def _left_running(directory: Path) -> list[list[str]]:
    """Command lines of whatever was started with this directory."""
    lines = [process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])]
    return [line for line in lines if any(str(directory) in word for word in line)]


@pytest.mark.spark
def test_the_demo_ends_with_its_accounts_in_order_and_nothing_running(directory: Path) -> None:
    done = subprocess.run(
        [*DEMO, str(directory)], capture_output=True, text=True, check=False, timeout=240
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)
    assert told["flights"] == FLIGHTS
    assert told["audit"]["verdict"] == "kept"
    assert told["mirrored"] + told["lost"] >= told["acknowledged_before"]
    assert told["lost_below_the_cut"] == told["skipped"] == told["never_read"] == 0
    assert told["acknowledged_before"] + told["acknowledged_after"] == FLIGHTS
    assert 0 < told["rto_ms"] < 60_000
    assert Path(told["audit"]["html"]).is_file()
    lost = Path(told["files"]["lost"]).read_text().splitlines()
    assert len(lost) == 1 + told["lost"]
    orphans = Path(told["files"]["orphans"]).read_text().splitlines()
    assert len(orphans) == told["sealed"] >= told["lost_and_sealed"] == told["lost"]
    assert _left_running(directory) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_demo_leaves_nothing_running(
    directory: Path, number: signal.Signals
) -> None:
    # Where the tests run in the background of a shell, SIGINT is ignored, and a child would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen([*DEMO, str(directory)], stdout=subprocess.PIPE) as demo:
        timeout_ends = time.monotonic() + TIMEOUT_S
        while not (directory / "east" / "node-1" / "flights-0").exists():
            assert demo.poll() is None
            assert time.monotonic() < timeout_ends
            time.sleep(0.05)
        os.kill(demo.pid, number)
        demo.wait(TIMEOUT_S)
    assert demo.returncode != 0
    assert _left_running(directory) == []


def test_a_directory_with_other_things_in_it_is_left_alone(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    done = subprocess.run([*DEMO, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "not empty" in json.loads(done.stdout)["error"]
    assert list(tmp_path.iterdir()) == [precious]
