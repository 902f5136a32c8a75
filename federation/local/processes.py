"""Starts node processes detached, recognises them by pid and command line, and stops them."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

_POLL_S = 0.02


def start(settings: Path, log: Path) -> "subprocess.Popen[bytes]":
    """Starts a node in a session of its own: it outlives this command, and Ctrl-C does not end it."""
    # -P: modules in the current directory must not be imported.
    command = [sys.executable, "-P", "-m", "federation", "node", "run", "--config", str(settings)]
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


def runs(pid: int | None, settings: Path) -> bool:
    """Whether this pid is still the node that was started with these settings.

    Pids are reused, so the command line is compared too. A zombie has no command line: it doesn't run.
    """
    return pid is not None and str(settings) in _command_line(pid)


def _command_line(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        if Path("/proc/self").exists():
            return []
    # Without /proc (macOS). The settings' path is the last argument, so it may contain spaces.
    shown = subprocess.run(
        ["ps", "-ww", "-o", "command=", "-p", str(pid)], capture_output=True, check=False
    )
    return shown.stdout.decode(errors="replace").strip().split(" --config ")


def stop(processes: Iterable[tuple[int, Path]], *, timeout_s: float) -> list[int]:
    """Ends these (pid, settings) with SIGTERM, after `timeout_s` seconds with SIGKILL. Returns those pids."""
    waiting = [(pid, settings) for pid, settings in processes if runs(pid, settings)]
    _signal(waiting, signal.SIGTERM)
    remaining = _wait_until_gone(waiting, timeout_s)
    _signal(remaining, signal.SIGKILL)
    _wait_until_gone(remaining, timeout_s)
    return [pid for pid, _ in remaining]


def _signal(processes: Iterable[tuple[int, Path]], number: signal.Signals) -> None:
    for pid, _ in processes:
        with contextlib.suppress(ProcessLookupError):  # it has ended
            os.kill(pid, number)


def _wait_until_gone(processes: list[tuple[int, Path]], timeout_s: float) -> list[tuple[int, Path]]:
    """The processes that still run after `timeout_s` seconds."""
    until = time.monotonic() + timeout_s
    while processes and time.monotonic() < until:
        time.sleep(_POLL_S)
        processes = [(pid, settings) for pid, settings in processes if runs(pid, settings)]
    return processes
