"""A real broker process in a directory of its own, for tests that kill it, starve it or talk nonsense to it."""

import json
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

TIMEOUT_S = 30


class BrokerProcess:
    """`python -m brokers` on a port that stays the same over restarts."""

    COMMAND = ("brokers",)

    def __init__(self, directory: Path, settings: Mapping[str, object] | None = None) -> None:
        self._directory = directory
        self.settings = dict(settings or {})  # read at each start
        self._process: subprocess.Popen[str] | None = None
        self.environment: Mapping[str, str] | None = None  # the same; None: that of the tests
        self.address = "127.0.0.1:0"
        self.told: dict[str, str] = {}  # its ready line

    @property
    def data(self) -> Path:
        return self._directory / "data"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def bootstrap(self) -> tuple[str, int]:
        host, port = self.address.rsplit(":", 1)
        return host, int(port)

    def start(self) -> None:
        """Returns when the node answers."""
        settings = {
            "node.id": 1,
            "log.dirs": str(self.data),
            "listeners": f"PLAINTEXT://{self.address}",
            "group.initial.rebalance.delay.ms": 0,
        } | self.settings
        config = self._directory / "node.toml"
        config.write_text(
            "".join(f"{json.dumps(key)} = {json.dumps(value)}\n" for key, value in settings.items())
        )
        with (self._directory / "log").open("a") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", *self.COMMAND, "--config", str(config)],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=self.environment,
            )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, f"the node did not start: {self.log()[-2000:]}"
        self.told = json.loads(line)
        self.address = self.told["kafka"]

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait(TIMEOUT_S)

    def stop(self) -> int:
        """A clean stop; the exit code."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(TIMEOUT_S)

    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def log(self) -> str:
        return (self._directory / "log").read_text()


class NodeProcess(BrokerProcess):
    """`causeway node run`: a broker with its links."""

    COMMAND = ("federation", "node", "run")
