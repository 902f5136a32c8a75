"""The network between the regions: the link goes through a process, so that it can be cut as a cable is.

Nothing else would do: a link that is paused says so, and a region that stands still reads later what was sent to it.
"""

import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import IO, cast

from federation.demo.regions import DemoError
from federation.local.layout import Federation
from federation.local.settings import assigned_ports, free_ports

_RELAY = "federation.demo.relay"
_HOST = "127.0.0.1"


class Network:
    """A context manager: other regions reach the link listener of a region of one node through it.

    The region is prepared and not started yet: its settings name the process `relay` until the network is mended.
    """

    def __init__(self, directory: Path, federation: Federation, name: str) -> None:
        (node,) = [node for region, node in federation.nodes() if region.name == name]
        self._settings = node.settings
        self._without = node.settings.read_text(encoding="utf-8")
        port, target_port = free_ports(2, assigned_ports(directory))
        self._settings.write_text(
            f'{self._without}link.listener = "{_HOST}:{target_port}"\n'
            f'link.advertised.listener = "{_HOST}:{port}"\n',
            encoding="utf-8",
        )
        self._relay = subprocess.Popen(
            [sys.executable, "-P", "-m", _RELAY, str(port), str(target_port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            start_new_session=True,  # Ctrl-C is the demo's; the relay ends with its standard input
        )
        self._await("listens")

    def __enter__(self) -> "Network":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.mend()

    def cut(self) -> None:
        """What comes from now on does not pass, and nobody is told."""
        cast(IO[str], self._relay.stdin).write("cut\n")
        self._await("cut")

    def mend(self) -> None:
        """The connections through it end. From its next start on, the region is reached without it."""
        for end in (self._relay.stdin, self._relay.stdout):
            cast(IO[str], end).close()
        self._relay.wait()
        self._settings.write_text(self._without, encoding="utf-8")

    def _await(self, line: str) -> None:
        if cast(IO[str], self._relay.stdout).readline() != f"{line}\n":
            raise DemoError("the network between the regions ended")
