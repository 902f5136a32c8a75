"""A pid alone is not a node."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from federation.local import processes

SETTINGS = Path("/west/node-1.toml")

# A process that says when it is there, then waits for whatever ends it.
WAITING = "import signal; print(flush=True); signal.pause()"
STUBBORN = "import signal; signal.signal(15, signal.SIG_IGN); print(flush=True); signal.pause()"


def _child(program: str, settings: Path) -> "subprocess.Popen[bytes]":
    child = subprocess.Popen(
        [sys.executable, "-c", program, "--config", str(settings)], stdout=subprocess.PIPE
    )
    assert child.stdout and child.stdout.readline() == b"\n"
    return child


def test_a_node_that_was_never_started_does_not_run() -> None:
    assert not processes.runs(None, SETTINGS)


def test_a_reused_pid_is_not_taken_for_the_node() -> None:
    assert not processes.runs(os.getpid(), SETTINGS)


def test_a_process_started_with_other_settings_is_another_node() -> None:
    with _child(WAITING, SETTINGS) as child:
        assert processes.runs(child.pid, SETTINGS)
        assert not processes.runs(child.pid, Path("/east/node-1.toml"))
        child.kill()


def test_a_dead_process_that_nobody_waited_for_does_not_run() -> None:
    with _child(WAITING, SETTINGS) as child:
        child.kill()
        assert (
            child.stdout and child.stdout.read() == b""
        )  # its end of the pipe is closed: it is dead
        assert not processes.runs(child.pid, SETTINGS)


def test_a_node_that_hears_sigterm_is_not_killed() -> None:
    with _child(WAITING, SETTINGS) as child:
        assert processes.stop([(child.pid, SETTINGS)], timeout_s=30) == []
        assert child.wait() == -15


def test_a_node_that_does_not_is_killed_after_the_timeout() -> None:
    with _child(STUBBORN, SETTINGS) as child:
        assert processes.stop([(child.pid, SETTINGS)], timeout_s=0.1) == [child.pid]
        assert child.wait() == -9


def test_stopping_spares_whoever_has_the_pid_now() -> None:
    with _child(WAITING, Path("/somebody/else.toml")) as child:
        assert processes.stop([(child.pid, SETTINGS)], timeout_s=0.1) == []
        assert child.poll() is None
        child.kill()


@pytest.mark.parametrize("name", ["with space.toml", "ünïcode.toml", "quote'.toml"])
def test_settings_with_unusual_names_are_recognised(name: str) -> None:
    with _child(WAITING, Path("/west") / name) as child:
        assert processes.runs(child.pid, Path("/west") / name)
        child.kill()
