"""Bytes that crossed the TCP connections between two groups of processes, as the kernel counts them.

`ss` of iproute2 tells them for each connection. One that is closed before the end counts until it was last seen.
"""

import re
import subprocess
from collections.abc import Collection, Mapping

Ends = tuple[str, str]  # local address, remote address
_OWNER = re.compile(r"pid=(\d+)")
_BYTES = re.compile(r"\bbytes_(?:sent|received):(\d+)")


class Traffic:
    """Both directions, since it was made."""

    def __init__(self, here: Collection[int], there: Collection[int]) -> None:
        self._here, self._there = frozenset(here), frozenset(there)
        self._began = self._now()

    def size(self) -> int:
        return sum(max(0, size - self._began.get(ends, 0)) for ends, size in self._now().items())

    def _now(self) -> Mapping[Ends, int]:
        said = subprocess.run(
            ["ss", "-tinpHO", "state", "established"], capture_output=True, text=True, check=True
        )
        return crossing(said.stdout, self._here, self._there)


def crossing(said: str, here: Collection[int], there: Collection[int]) -> dict[Ends, int]:
    """Bytes sent and received by each connection of a process `here` with one `there`, in what `ss` said."""
    sizes: dict[Ends, int] = {}
    far: set[Ends] = set()
    for line in said.splitlines():
        words, owners = line.split(), {int(pid) for pid in _OWNER.findall(line)}
        if len(words) < 4 or not owners:
            continue
        local, remote = words[2:4]
        if owners & set(here):
            sizes[local, remote] = sum(map(int, _BYTES.findall(line)))
        if owners & set(there):
            far.add((remote, local))
    return {ends: size for ends, size in sizes.items() if ends in far}
