"""Workers of one Connect cluster in distributed mode, asked over their REST interface."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx

from tests.bench.processes import free_port
from tests.compat.frameworks.programs import TIMEOUT_S, Program
from tests.process.asking import until

STORES = ("config", "offset", "status")
SETTINGS = {
    "group.id": "workers",
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "value.converter": "org.apache.kafka.connect.storage.StringConverter",
    "plugin.discovery": "only_scan",
    "offset.flush.interval.ms": "500",
    "session.timeout.ms": "6000",
    "heartbeat.interval.ms": "500",
    "scheduled.rebalance.max.delay.ms": "500",  # a worker that is gone is not waited for, for five minutes
    "consumer.session.timeout.ms": "6000",
    "consumer.heartbeat.interval.ms": "500",
}


class Worker:
    """One worker; its topics get `replicas` replicas."""

    def __init__(self, directory: Path, name: str, bootstrap: str, replicas: int) -> None:
        address = f"127.0.0.1:{free_port()}"
        places = {"bootstrap.servers": bootstrap, "listeners": f"HTTP://{address}"}
        topics = {f"{store}.storage.topic": f"connect-{store}" for store in STORES}
        copies = {f"{store}.storage.replication.factor": str(replicas) for store in STORES}
        main = "org.apache.kafka.connect.cli.ConnectDistributed"
        self.id = address
        self.program = Program(directory, name, main, SETTINGS | places | topics | copies)
        self._rest = httpx.Client(base_url=f"http://{address}", timeout=TIMEOUT_S)

    def start(self) -> None:
        """Returns when it is a member of its cluster."""
        self.program.start()
        self.wait(lambda: self._get("/connectors").is_success)

    def wait(self, is_so: Any) -> None:
        """A worker that rebalances, or is not there yet, has not said that it is so."""

        def asked() -> bool:
            assert self.program.is_running, self.program.tail()
            try:
                return bool(is_so())
            except (httpx.HTTPError, KeyError):
                return False

        until(asked, TIMEOUT_S, self.program.tail)

    def create(self, name: str, **config: str) -> None:
        given = {key.replace("_", "."): value for key, value in config.items()}
        self.wait(lambda: self._rest.put(f"/connectors/{name}/config", json=given).is_success)

    def runs_on(self, name: str) -> list[str]:
        """The workers of the connector and of its tasks; KeyError where they don't all run."""
        status = self._get(f"/connectors/{name}/status").json()
        parts: Sequence[dict[str, Any]] = [status["connector"], *status["tasks"]]
        if len(parts) < 2 or any(each["state"] != "RUNNING" for each in parts):
            raise KeyError(name)
        return [each["worker_id"] for each in parts]

    def offsets(self, name: str) -> list[int]:
        """The stored positions of a connector that reads a file."""
        found = self._get(f"/connectors/{name}/offsets").json()["offsets"]
        return [each["offset"]["position"] for each in found]

    def end(self) -> None:
        self.program.end()
        self._rest.close()

    def _get(self, path: str) -> httpx.Response:
        return self._rest.get(path)
