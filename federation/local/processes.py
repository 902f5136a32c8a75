"""Node processes: started detached, recognised later by more than their pid, stopped with patience."""

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
    """A node in a session of its own: it outlives this command and does not hear its Ctrl-C."""
    # -P: whatever lies in the directory where one happens to be must not be imported.
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

    Pids are reused, so the process is asked what it was started with. A zombie has no command line: it doesn't run.
    """
    return pid is not None and str(settings) in _command_line(pid)


def _command_line(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        if Path("/proc/self").exists():
            return []
    # Without /proc (macOS). The settings' path comes last, so it is whole even if it holds spaces.
    told = subprocess.run(
        ["ps", "-ww", "-o", "command=", "-p", str(pid)], capture_output=True, check=False
    )
    return told.stdout.decode(errors="replace").strip().split(" --config ")


def stop(processes: Iterable[tuple[int, Path]], *, patience_s: float) -> list[int]:
    """End (pid, settings) by SIGTERM, and by SIGKILL what has not gone after `patience_s`. Returns the killed."""
    waiting = [(pid, settings) for pid, settings in processes if runs(pid, settings)]
    _signal(waiting, signal.SIGTERM)
    stubborn = _wait_until_gone(waiting, patience_s)
    _signal(stubborn, signal.SIGKILL)
    _wait_until_gone(stubborn, patience_s)
    return [pid for pid, _ in stubborn]


def _signal(processes: Iterable[tuple[int, Path]], number: signal.Signals) -> None:
    for pid, _ in processes:
        with contextlib.suppress(ProcessLookupError):  # it went by itself
            os.kill(pid, number)


def _wait_until_gone(
    processes: list[tuple[int, Path]], patience_s: float
) -> list[tuple[int, Path]]:
    """Those that still run after the patience is over."""
    until = time.monotonic() + patience_s
    while processes and time.monotonic() < until:
        time.sleep(_POLL_S)
        processes = [(pid, settings) for pid, settings in processes if runs(pid, settings)]
    return processes
