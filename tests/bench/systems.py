"""What a measured system offers: two regions, and a link that copies a topic from the first to the second."""

from dataclasses import dataclass
from typing import Protocol

SOURCE, DESTINATION = "west", "east"


@dataclass(frozen=True, slots=True)
class Region:
    """A running region: where clients connect (`host:port`), and the processes that it is made of."""

    bootstrap: str
    pids: tuple[int, ...]
    replicas: int = 1  # of each partition


class Linked(Protocol):
    """Two regions of any number of nodes. Started by `up`; everything else needs that."""

    name: str

    def up(self) -> None:
        """Both regions running and answering."""

    def region(self, name: str) -> Region: ...

    def link(self, topic: str) -> None:
        """Begins to copy `topic` from west to east."""

    def between(self) -> tuple[int, ...]:
        """Ids of the processes that a link runs besides the regions, each started by `link`."""

    def unlink(self, topic: str) -> None:
        """Ends the copying of `topic`."""

    def down(self) -> None:
        """Nothing left running."""


class System(Linked, Protocol):
    """Regions of one node each."""

    def restart(self, name: str) -> float:
        """Stops the node of a region and starts it again; seconds from its start to its first answer."""
