"""Causeway as a measured system: a local federation of two one-node regions, driven by its own command."""

import json
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil

from tests.bench import processes
from tests.bench.systems import DESTINATION, SOURCE, Region

CAUSEWAY = Path(sys.executable).parent / "causeway"
TIMEOUT_S = 600  # with any command
WORDS_SHOWN = 4
COMPLAINT_MAX = 900  # characters of either output: its end says why
# The files of a measure's topics are gone when it ends, from the page cache too, as the peer's are. By default they
# stay for a minute. Then memory is free in the middle of the next measure, the host takes it, and gives it back slowly.
SETTINGS = {"log.segment.delete.delay.ms": 100}


class Ours:
    """Two regions under `directory`; the link runs inside them, so it has no processes of its own."""

    name = "causeway"

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._regions: dict[str, dict[str, Any]] = {}

    def up(self) -> None:
        if not self._regions:
            for region in self._local_up():
                for node in region["nodes"]:
                    configure(node, SETTINGS)
            self.down()
        self._regions = {region["name"]: region for region in self._local_up()}

    def _local_up(self) -> list[dict[str, Any]]:
        names = [word for name in (SOURCE, DESTINATION) for word in ("--region", name)]
        return local_up(self._directory, *names)

    def region(self, name: str) -> Region:
        nodes = self._regions[name]["nodes"]
        return Region(self._regions[name]["bootstrap"], tuple(node["pid"] for node in nodes))

    def restart(self, name: str) -> float:
        """Runs the node's own command line, so that the start of `causeway local` isn't in the figure."""
        (node,) = self._regions[name]["nodes"]
        command, directory, environment = processes.same_again(node["pid"])
        _stop(node["pid"])
        log = Path(node["log"])
        began = time.perf_counter()
        process = processes.start(command, log, directory=directory, environment=environment)
        processes.first_answer(node["kafka"], lambda: process.poll() is None, log)
        seconds = time.perf_counter() - began
        processes.stop(process.pid)
        process.wait()
        self.up()  # under `causeway local` again
        return seconds

    def link(self, topic: str) -> None:
        mirror(topic, self.region(SOURCE).bootstrap, self.region(DESTINATION).bootstrap)

    def between(self) -> tuple[int, ...]:
        return ()

    def unlink(self, topic: str) -> None:
        unmirror(topic, self.region(DESTINATION).bootstrap)

    def down(self) -> None:
        causeway("local", "down", "--dir", str(self._directory))


def local_up(directory: Path, *words: str) -> list[dict[str, Any]]:
    """The regions of `causeway local up`."""
    said = causeway("local", "up", "--dir", str(directory), *words, "--json")
    regions: list[dict[str, Any]] = json.loads(said)["regions"]
    return regions


def settings_file(node: Mapping[str, Any]) -> Path:
    """Of a node of `local_up`; it is written once, and edits are kept."""
    return Path(node["data"]).with_suffix(".toml")


def configure(node: Mapping[str, Any], settings: Mapping[str, object]) -> None:
    """What a node has besides, from its next start on."""
    with settings_file(node).open("a") as file:
        file.writelines(f"{key} = {json.dumps(value)}\n" for key, value in settings.items())


def causeway(*words: str) -> str:
    """What the command prints; raises with its complaint when it fails.

    It ends although the benchmark is ended meanwhile: what `local up` starts is known to `local down` only then.
    """
    with subprocess.Popen(
        [CAUSEWAY, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            said, complaint = process.communicate(timeout=TIMEOUT_S)
        except BaseException:
            process.communicate(timeout=TIMEOUT_S)
            raise
    if process.returncode != 0:
        begun = " ".join(words[:WORDS_SHOWN])  # it may name thousands of topics
        ended = "; ".join(one.strip()[-COMPLAINT_MAX:] for one in (said, complaint) if one)
        raise RuntimeError(f"causeway {begun}: {ended}")
    return said


def mirror(topic: str, source: str, destination: str, *settings: str) -> None:
    """A link of its own for a topic; regions are named by their bootstrap addresses, settings are KEY=VALUE."""
    link, at = f"link-{topic}", ("--bootstrap-server", destination)
    given = [word for setting in settings for word in ("--config", setting)]
    causeway("link", "create", link, *at, "--source-bootstrap-server", source, *given)
    causeway("mirror", "create", topic, "--link", link, *at)


def unmirror(topic: str, destination: str) -> None:
    link, at = f"link-{topic}", ("--bootstrap-server", destination)
    causeway("mirror", "failover", topic, "--link", link, *at)
    causeway("link", "delete", link, *at)


def _stop(pid: int) -> None:
    processes.stop(pid)
    if psutil.pid_exists(pid):
        raise RuntimeError(f"node {pid} didn't stop")
