"""Two regions as a user starts them: `causeway local`, `causeway link`, `causeway mirror`."""

import os
import signal
from pathlib import Path
from typing import Any

from tests.process.asking import COMMAND_PAUSE_S, until
from tests.process.commands import causeway, is_alive

TIMEOUT_S = 120
GROUPS = '{"groupFilters":[{"name":"*","patternType":"LITERAL","filterType":"INCLUDE"}]}'


class Regions:
    """West and east, and a link from west to east."""

    LINK = "west-east"

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._named: dict[str, Any] = {}

    def up(self) -> None:
        """Starts what is not running; addresses stay the same."""
        said = self.run("local", "up", *self._place, "--region", "west", "--region", "east")
        self._named = {region["name"]: region for region in said["regions"]}

    def down(self) -> None:
        self.run("local", "down", *self._place)

    def kill(self, region: str) -> None:
        """kill -9, and wait until it is dead."""
        pid = self._named[region]["nodes"][0]["pid"]
        os.kill(pid, signal.SIGKILL)
        until(lambda: not is_alive(pid), TIMEOUT_S, lambda: f"{region} is still there")

    def bootstrap(self, region: str) -> str:
        return str(self._named[region]["bootstrap"])

    def data(self, region: str) -> Path:
        return Path(self._named[region]["nodes"][0]["data"])

    def link(self, *topics: str, **configs: str) -> None:
        """East mirrors these topics of west, group offsets included. `configs` of the link have _ for dots."""
        more = (f"--config={name.replace('_', '.')}={value}" for name, value in configs.items())
        self.run(
            "link", "create", self.LINK, *self._east,
            "--source-bootstrap-server", self.bootstrap("west"),
            "--config", "consumer.offset.sync.enable=true",
            "--config", f"consumer.offset.group.filters={GROUPS}",
            *more,
        )  # fmt: skip
        for topic in topics:
            self.run("mirror", "create", topic, "--link", self.LINK, *self._east)

    def mirror(self, topic: str) -> Any:
        return self.run("mirror", "describe", topic, *self._east)

    def stop_mirroring(self, verb: str, topic: str) -> Any:
        """`promote` or `failover`."""
        return self.run("mirror", verb, topic, *self._east)

    def wait_caught_up(self, topic: str, ends: dict[int, int]) -> None:
        """Until east holds west's log ends."""
        held: dict[int, int] = {}

        def is_held() -> bool:
            lags = self.mirror(topic)["mirror_lags"]
            held.update({one["partition"]: one["local_log_end_offset"] for one in lags})
            return held == ends

        until(is_held, TIMEOUT_S, lambda: (held, ends), pause_s=COMMAND_PAUSE_S)

    @property
    def _place(self) -> tuple[str, str]:
        return "--dir", str(self._directory)

    @property
    def _east(self) -> tuple[str, str]:
        return "--bootstrap-server", self.bootstrap("east")

    def run(self, *arguments: str) -> Any:
        return causeway(*arguments, timeout=TIMEOUT_S)
