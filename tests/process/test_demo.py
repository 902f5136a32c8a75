"""`causeway demo`: the whole product once through, and nothing left behind however it ends."""

import csv
import json
import os
import signal
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from federation.demo.flights import FLIGHTS
from federation.demo.network import Network
from federation.demo.steps import BEYOND_THE_CUT
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


def _is_relay(process: psutil.Process) -> bool:
    return "federation.demo.relay" in process.cmdline()


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
    _check_tail(told)
    assert _left_running(directory) == []


def _check_tail(told: dict[str, Any]) -> None:
    """While the network was cut, west acknowledged records that only it had: each is listed, sealed and replayed."""
    assert told["lost"] >= BEYOND_THE_CUT and told["rpo_ms"] > 0
    with Path(told["files"]["lost"]).open(newline="") as file:
        lost = {
            (int(row["partition"]), int(row["offset"]), int(row["flight"]))
            for row in csv.DictReader(file)
        }
    orphans = [json.loads(line) for line in Path(told["files"]["orphans"]).read_text().splitlines()]
    unique = {
        (one["partition"], one["offset"], json.loads(one["value"])["number"])
        for one in orphans
        if one["class"] == "unique"
    }
    # Of what was not acknowledged, records without a key may have been sent to another partition again.
    assert unique >= lost
    assert len(lost) == told["lost"] == told["lost_and_sealed"]
    assert len(unique) == told["replayed"] and len(orphans) == told["sealed"]


def test_a_network_that_is_cut_passes_nothing_on_until_it_is_mended(tmp_path: Path) -> None:
    prepared = local.prepare(tmp_path, ("west",))
    (node,) = prepared.regions[0].nodes
    assert node.pid is None
    before = node.settings.read_text()
    with Network(tmp_path, prepared, "west") as network:
        link = tomllib.loads(node.settings.read_text())["link"]
        with (
            socket.create_server(_address(link["listener"])) as server,
            socket.create_connection(_address(link["advertised"]["listener"])) as east,
        ):
            west, _ = server.accept()
            with west:
                east.sendall(b"there")
                assert west.recv(99) == b"there"
                west.sendall(b"and back")
                assert east.recv(99) == b"and back"
                network.cut()
                east.sendall(b"lost")
                network.mend()
                assert _rest(west) == _rest(east) == b""
    assert node.settings.read_text() == before


def _rest(connection: socket.socket) -> bytes:
    """What comes until it ends, in whatever way."""
    try:
        return connection.recv(99)
    except ConnectionResetError:
        return b""


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    return host, int(port)


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
        relays = [one for one in psutil.Process(demo.pid).children() if _is_relay(one)]
        assert len(relays) == 1
        os.kill(demo.pid, number)
        demo.wait(TIMEOUT_S)
    assert demo.returncode != 0
    assert _left_running(directory) == []
    assert not any(relay.is_running() for relay in relays)


def test_a_directory_with_other_things_in_it_is_left_alone(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    done = subprocess.run([*DEMO, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "not empty" in json.loads(done.stdout)["error"]
    assert list(tmp_path.iterdir()) == [precious]
