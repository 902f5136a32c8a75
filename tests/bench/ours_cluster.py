"""Causeway as a region of three nodes, driven by its own command."""

import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.bench import processes
from tests.bench.clusters import NODES, Member
from tests.bench.knowing import all_know_all
from tests.bench.ours import SETTINGS, causeway, configure, local_up, settings_file
from tests.bench.systems import SOURCE


class OurCluster:
    """Nodes 1 to 3 of one region under `directory`."""

    name = "causeway"

    def __init__(self, directory: Path, region: str = SOURCE) -> None:
        self._directory = directory
        self._region = region
        self._nodes: dict[int, dict[str, Any]] = {}
        self._commands: dict[int, tuple[list[str], str, dict[str, str]]] = {}
        self._settings: dict[int, str] = {}
        self._running: dict[int, subprocess.Popen[bytes]] = {}

    def up(self) -> float:
        """By the nodes' own command lines, so that the start of `causeway local` isn't in the figure."""
        if not self._nodes:
            self._lay_out()
        began = time.perf_counter()
        for node in self._nodes:
            self._launch(node)
        for node in self._nodes:
            self._answered(node)
        all_know_all([str(node["kafka"]) for node in self._nodes.values()])
        return time.perf_counter() - began

    def configure(self, node: int, settings: Mapping[str, str]) -> None:
        """What a node has besides the settings that `causeway local` gave it, from its next start on."""
        settings_file(self._nodes[node]).write_text(self._settings[node])
        configure(self._nodes[node], settings)

    def members(self) -> tuple[Member, ...]:
        return tuple(
            Member(node, self._nodes[node]["kafka"], process.pid)
            for node, process in self._running.items()
        )

    def forget(self, node: int) -> None:
        self._running.pop(node).wait()

    def start(self, node: int) -> None:
        self._launch(node)
        self._answered(node)

    def stop(self) -> None:
        for process in self._running.values():
            process.terminate()
        for node in list(self._running):
            processes.stop(self._running[node].pid)
            self.forget(node)

    def down(self) -> None:
        self.stop()

    def _lay_out(self) -> None:
        (region,) = local_up(self._directory, "--region", self._region, "--nodes", str(NODES))
        self._nodes = {node["id"]: node for node in region["nodes"]}
        self._commands = {
            number: processes.same_again(node["pid"]) for number, node in self._nodes.items()
        }
        for node in self._nodes.values():
            configure(node, SETTINGS)
        self._settings = {
            number: settings_file(node).read_text() for number, node in self._nodes.items()
        }
        causeway("local", "down", "--dir", str(self._directory))

    def _launch(self, node: int) -> None:
        command, directory, environment = self._commands[node]
        self._running[node] = processes.start(
            command, self._log(node), directory=directory, environment=environment
        )

    def _answered(self, node: int) -> None:
        process = self._running[node]
        processes.first_answer(
            self._nodes[node]["kafka"], lambda: process.poll() is None, self._log(node)
        )

    def _log(self, node: int) -> Path:
        return Path(self._nodes[node]["log"])
