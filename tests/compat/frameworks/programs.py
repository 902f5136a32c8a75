"""A Java process of a framework: started, killed and started again with the same settings."""

import os
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.bench import processes
from tests.bench.peer import jars
from tests.bench.peer.mirror import properties

POM = Path(__file__).with_name("pom.xml")
FRAMEWORKS = jars.CACHE.with_name(f"{jars.CACHE.name}-frameworks")
TIMEOUT_S = 120
STOP_S = 60


class Program:
    """A main class that reads a file of settings; `settings` count at the next start."""

    def __init__(self, directory: Path, name: str, main: str, settings: Mapping[str, str]) -> None:
        self.settings = dict(settings)
        self._main = main
        self._config, self._log = directory / f"{name}.properties", directory / f"{name}.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = jars.java(
            self._main, str(properties(self._config, self.settings)), more=[FRAMEWORKS]
        )
        # The compiler that starts at once is enough for a short run, and leaves the other core to the nodes.
        command[1:1] = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
        command.remove("-XX:+UseG1GC")
        self._process = processes.start(command, self._log)

    def signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        os.kill(self._process.pid, number)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self.wait()

    def stop(self) -> None:
        """A clean stop."""
        self.signal(signal.SIGTERM)
        self.wait()

    def end(self) -> None:
        """However it is: for the end of a test."""
        if self._process is not None and self._process.poll() is None:
            self.kill()

    def wait(self) -> int:
        """Until it has ended; its exit code."""
        assert self._process is not None
        return self._process.wait(STOP_S)

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def log(self) -> str:
        return self._log.read_text()

    def tail(self) -> str:
        return self.log()[-4_000:]
