"""What a measured region of several nodes offers: nodes that can be killed, stopped and started again."""

from dataclasses import dataclass
from typing import Protocol

from tests.bench.systems import Region

NODES = 3


@dataclass(frozen=True, slots=True)
class Member:
    """A node of a region: where clients connect (`host:port`), and its process."""

    id: int
    address: str
    pid: int


class Cluster(Protocol):
    """Three nodes, each broker and controller. Started by `up`; everything else needs that."""

    name: str

    def up(self) -> float:
        """Every node runs and answers, each knowing all the others; seconds from the first start to then."""

    def members(self) -> tuple[Member, ...]:
        """The nodes that run."""

    def forget(self, node: int) -> None:
        """The process of a node was ended by the measure itself."""

    def start(self, node: int) -> None:
        """Starts a node that was ended; returns when it answers."""

    def stop(self) -> None:
        """Every node stopped in an orderly way; their data stay."""

    def down(self) -> None:
        """Nothing left running."""


def bootstrap(cluster: Cluster) -> str:
    """The addresses of every node that runs."""
    return ",".join(member.address for member in cluster.members())


def as_region(cluster: Cluster) -> Region:
    """The whole of it, which is met at its first node."""
    members = cluster.members()
    return Region(members[0].address, tuple(member.pid for member in members), NODES)
