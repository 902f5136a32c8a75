"""Programs that say what happens to them in lines of JSON, as Kafka's verifiable tools do."""

import json
import signal
import subprocess
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

TIMEOUT_S = 60


class Program:
    """Runs from the beginning on; what it says goes to `name`.out in a directory."""

    def __init__(self, directory: Path, name: str, command: list[str]) -> None:
        self.said = directory / f"{name}.out"
        self._complaints = directory / f"{name}.err"
        with self.said.open("wb") as out, self._complaints.open("wb") as complaints:
            self.process = subprocess.Popen(command, stdout=out, stderr=complaints)

    def events(self, name: str) -> list[dict[str, Any]]:
        """So far; a line that is being written is left out."""
        whole = self.said.read_text().rpartition("\n")[0].splitlines()
        return [event for event in map(json.loads, whole) if event["name"] == name]

    def wait_for(self, name: str, count: int) -> None:
        deadline = time.monotonic() + TIMEOUT_S
        while (found := len(self.events(name))) < count:
            assert time.monotonic() < deadline, f"{found} of {count} {name}; {self.complaints}"
            time.sleep(0.05)

    @property
    def complaints(self) -> str:
        return self._complaints.read_text()[-2_000:]

    def end(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(TIMEOUT_S)


def places(events: list[dict[str, Any]]) -> dict[str, set[tuple[int, int]]]:
    """Where each value is. A group that changes hands may read the same place again."""
    found: dict[str, set[tuple[int, int]]] = defaultdict(set)
    for event in events:
        found[event["value"]].add((event["partition"], event["offset"]))
    return found
