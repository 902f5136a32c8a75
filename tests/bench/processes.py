"""Processes of a measured system: started, answered for the first time, stopped, and what they cost."""

import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType

import psutil

from tests.bench import frames
from tests.bench.connection import Connection

START_S, STOP_S = 60, 30


class Meter:
    """CPU seconds of some processes and their children since it was made, and their peak resident memory since then."""

    def __init__(self, pids: Sequence[int]) -> None:
        self._pids = list(pids)
        self._began = {process.pid: _cpu_s(process) for process in family(pids)}
        for pid in self._began:
            Path(f"/proc/{pid}/clear_refs").write_text("5")  # resets VmHWM

    def add(self, pids: Sequence[int]) -> None:
        """Counts processes that were started since then, from their start."""
        self._pids += [pid for pid in pids if pid not in self._pids]

    def cpu_s(self) -> float:
        return sum(
            _cpu_s(process) - self._began.get(process.pid, 0) for process in family(self._pids)
        )

    def peak_mb(self) -> float:
        return sum(_status_kb(process.pid, "VmHWM") for process in family(self._pids)) / 1000


def busy_s() -> float:
    """Seconds for which the machine's processors have worked: interrupts as well, which are no process's."""
    spent = psutil.cpu_times()._asdict()
    # What guests take is in `user`, too.
    return sum(
        spent[name] for name in spent if name not in ("idle", "iowait", "guest", "guest_nice")
    )


def family(pids: Sequence[int]) -> list[psutil.Process]:
    parents = [psutil.Process(pid) for pid in pids]
    return parents + [child for parent in parents for child in parent.children(recursive=True)]


def resident_mb(pids: Sequence[int]) -> float:
    return sum(_status_kb(process.pid, "VmRSS") for process in family(pids)) / 1000


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _status_kb(pid: int, field: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field))


def start(
    command: Sequence[str],
    log: Path,
    *,
    directory: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Starts `command` in a session of its own, both outputs appended to `log`."""
    with log.open("ab") as sink:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink, cwd=directory, env=environment,
            start_new_session=True,
        )  # fmt: skip


def first_answer(address: str, alive: Callable[[], bool], log: Path) -> None:
    """Returns once the broker at `address` has answered an ApiVersions request."""
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and alive():
        with suppress(OSError), Connection(address, timeout_s=5) as connection:
            connection.ask(frames.api_versions())
            return
        time.sleep(0.005)
    raise TimeoutError(f"{address} doesn't answer: see {log}")


def end_in_order_on_sigterm() -> None:
    """A benchmark that `timeout` ends stops what it has started, as on Ctrl-C; further signals change nothing."""

    def leave(number: int, _: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, lambda *_: None)  # not SIG_IGN, which children would inherit
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, leave)


def stop(pid: int) -> None:
    """SIGTERM, and SIGKILL for what is still there after `STOP_S` seconds."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        process.send_signal(signal.SIGTERM)
        with suppress(ChildProcessError):
            if not gone(process, STOP_S):
                process.kill()
                gone(process, STOP_S)


def gone(process: psutil.Process, timeout_s: float) -> bool:
    with suppress(psutil.TimeoutExpired):
        process.wait(timeout_s)
        return True
    return False


def free_port() -> int:
    """A free port below those that Linux gives to outgoing connections, so that a restart finds it free again."""
    for port in random.sample(range(10_000, 30_000), 1000):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise OSError("no free port between 10000 and 30000")


def same_again(pid: int) -> tuple[list[str], str, dict[str, str]]:
    """The command line, working directory and environment that would start process `pid` once more."""
    command = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
    environment = Path(f"/proc/{pid}/environ").read_bytes().rstrip(b"\0").split(b"\0")
    pairs = (os.fsdecode(pair).partition("=") for pair in environment)
    return (
        [os.fsdecode(word) for word in command],
        os.readlink(f"/proc/{pid}/cwd"),
        {k: v for k, _, v in pairs},
    )
