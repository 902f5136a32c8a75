"""Where the nodes of a test run: on loopback, or on hosts of their own whose links can be cut.

Such a host is a network namespace. Its only way out is a hub, a namespace that forwards, and that drops without a word
what one host sends to another where their link is cut. (A bridge instead would need nft or tc to drop anything; routing
rules need nothing but `ip`.)

    root --- hub --- host 1
                 \\-- host 2 ...
"""

import os
import random
import shutil
import subprocess
from collections.abc import Iterable
from typing import Protocol

from tests.bench import processes


class Hosts(Protocol):
    """One host a node. `here` is the address at which nodes reach the test itself."""

    @property
    def here(self) -> str: ...

    def address(self, node: int) -> str: ...

    def port(self) -> int:
        """A free one, wherever it is to be used."""

    def command(self, node: int, *words: str) -> list[str]:
        """The command that runs `words` on the node's host."""

    def close(self) -> None: ...


class Loopback:
    here = "127.0.0.1"

    def address(self, node: int) -> str:
        return "127.0.0.1"

    def port(self) -> int:
        return processes.free_port()

    def command(self, node: int, *words: str) -> list[str]:
        return [*words]

    def close(self) -> None:
        pass


class CannotIsolate(Exception):
    """No namespaces here; the message says why."""


class Namespaces:
    """Linux, root and `ip`. Everything made is removed by `close`; names begin with `cw`."""

    def __init__(self, nodes: Iterable[int]) -> None:
        if missing := why_not():
            raise CannotIsolate(missing)
        number = random.SystemRandom().randrange(1 << 16)
        self._name = f"cw{number:04x}"
        self._net = f"198.18.{number % 250}"  # a range for tests of networks (RFC 2544); hosts are .1 to .200
        self._made: list[str] = []
        self._ports = 9_100
        self._cuts: set[tuple[int, int]] = set()
        try:
            self._make_hub()
            for node in nodes:
                self._make_host(node)
        except CannotIsolate:
            self.close()
            raise

    @property
    def here(self) -> str:
        return f"{self._net}.253"

    def address(self, node: int) -> str:
        return f"{self._net}.{node}"

    def port(self) -> int:
        """Nobody else is there."""
        self._ports += 1
        return self._ports

    def command(self, node: int, *words: str) -> list[str]:
        return ["ip", "netns", "exec", self._host(node), *words]

    def close(self) -> None:
        """Links go with the namespaces that they lead to, sooner or later."""
        subprocess.run(["ip", "link", "del", self._name], check=False, capture_output=True)
        for name in reversed(self._made):
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)
        self._made.clear()

    # --- links ---

    def cut(self, sender: int, receiver: int) -> None:
        """From now on nothing that `sender` sends reaches `receiver`; nobody is told."""
        self._cuts.add((sender, receiver))
        self._rule("add", sender, receiver)

    def cut_both_ways(self, one: int, other: int) -> None:
        self.cut(one, other)
        self.cut(other, one)

    def mend(self) -> None:
        """All of them."""
        for sender, receiver in self._cuts:
            self._rule("del", sender, receiver)
        self._cuts.clear()

    def _rule(self, verb: str, sender: int, receiver: int) -> None:
        link = ("from", self.address(sender), "to", self.address(receiver))
        _ip("-n", self._hub, "rule", verb, *link, "type", "blackhole")

    # --- making ---

    @property
    def _hub(self) -> str:
        return f"{self._name}-hub"

    def _host(self, node: int) -> str:
        return f"{self._name}-{node}"

    def _make_hub(self) -> None:
        hub, gate = self._hub, f"{self._net}.254"
        _ip("netns", "add", hub)
        self._made.append(hub)
        _ip("-n", hub, "link", "set", "lo", "up")
        _ip("-n", hub, "addr", "add", f"{gate}/32", "dev", "lo")
        _run("ip", "netns", "exec", hub, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")
        _ip("link", "add", self._name, "type", "veth", "peer", "name", "root", "netns", hub)
        _ip("addr", "add", f"{self._net}.253/32", "dev", self._name)
        _ip("link", "set", self._name, "up")
        _ip("-n", hub, "link", "set", "root", "up")
        _ip("-n", hub, "route", "add", f"{self._net}.253", "dev", "root")
        _ip("route", "add", gate, "dev", self._name, "src", f"{self._net}.253")
        _ip("route", "add", f"{self._net}.0/24", "via", gate, "src", f"{self._net}.253")

    def _make_host(self, node: int) -> None:
        hub, host, gate = self._hub, self._host(node), f"{self._net}.254"
        _ip("netns", "add", host)
        self._made.append(host)
        _ip("-n", host, "link", "set", "lo", "up")
        peer = ("peer", "name", "eth0", "netns", host)
        _ip("-n", hub, "link", "add", f"n{node}", "type", "veth", *peer)
        _ip("-n", host, "addr", "add", f"{self.address(node)}/32", "dev", "eth0")
        _ip("-n", host, "link", "set", "eth0", "up")
        _ip("-n", hub, "link", "set", f"n{node}", "up")
        _ip("-n", hub, "route", "add", self.address(node), "dev", f"n{node}")
        _ip("-n", host, "route", "add", gate, "dev", "eth0")
        _ip("-n", host, "route", "add", "default", "via", gate)


def why_not() -> str | None:
    """What is missing for namespaces, as far as it can be told beforehand."""
    if shutil.which("ip") is None:
        return "no `ip` (iproute2) here"
    return None if os.geteuid() == 0 else "network namespaces need root"


def _ip(*words: str) -> None:
    _run("ip", *words)


def _run(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotIsolate(f"`{' '.join(words)}`: {done.stderr.strip()}")
