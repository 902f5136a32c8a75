"""The directory of a local federation, and the file that describes it.

DIR/federation.json          this module's `Federation`
DIR/west/node-1.toml         the node's settings, written once: addresses stay the same, edits are kept
DIR/west/node-1.log          the node's output
DIR/west/node-1/             the node's data: Kafka's `topic-partition` folders
DIR/west/node-2.toml         and so on, in a region of several
"""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

_REGION_NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")


class LocalError(Exception):
    """A command on a local federation failed; `hint` says what to do next."""

    def __init__(self, because: str, hint: str) -> None:
        super().__init__(because)
        self.hint = hint


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalNode:
    """One process of a region. `pid` is that of its last start; None after it was stopped."""

    id: int
    pid: int | None
    kafka: str  # host:port
    data: str
    log: str
    metrics: str | None = None  # host:port of /metrics and /health, if the settings have it

    @property
    def settings(self) -> Path:
        """The node's TOML file, in the directory of its log."""
        return Path(self.log).with_suffix(".toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A region; `bootstrap` has its Kafka addresses (comma-separated), `admin` its first node's admin.listener."""

    name: str
    bootstrap: str
    admin: str
    nodes: tuple[LocalNode, ...]


@dataclass(frozen=True, slots=True)
class Federation:
    """All regions below one directory."""

    regions: tuple[Region, ...] = ()

    def region(self, name: str) -> Region | None:
        return next((region for region in self.regions if region.name == name), None)

    def nodes(self) -> Iterator[tuple[Region, LocalNode]]:
        for region in self.regions:
            for node in region.nodes:
                yield region, node

    def with_region(self, region: Region) -> "Federation":
        """A copy in which `region` replaces the one of the same name, or is added at the end."""
        if self.region(region.name) is None:
            return Federation((*self.regions, region))
        return Federation(
            tuple(region if each.name == region.name else each for each in self.regions)
        )

    def with_pid(self, name: str, node_id: int, pid: int | None) -> "Federation":
        """A copy with another pid of one node."""
        return Federation(
            tuple(
                replace(
                    region,
                    nodes=tuple(
                        replace(node, pid=pid) if node.id == node_id else node
                        for node in region.nodes
                    ),
                )
                if region.name == name
                else region
                for region in self.regions
            )
        )

    def as_json(self) -> dict[str, object]:
        return {"regions": [asdict(region) for region in self.regions]}


def check_region_names(names: tuple[str, ...]) -> None:
    """Raises LocalError for a name that cannot be a directory, or is given twice."""
    for name in names:
        if not _REGION_NAME.fullmatch(name):
            raise LocalError(
                f"{name!r} cannot name a region",
                "use lower-case letters, digits and hyphens, a letter first, 31 at most",
            )
        if names.count(name) > 1:
            raise LocalError(f"region {name} is named twice", "name each region once")


def load(directory: Path) -> Federation:
    """Reads what `save` wrote; an empty federation where there is no file. Raises LocalError for any other file."""
    path = directory / "federation.json"
    try:
        regions = json.loads(path.read_text())["regions"]
        return Federation(
            tuple(
                Region(**{**region, "nodes": tuple(LocalNode(**node) for node in region["nodes"])})
                for region in regions
            )
        )
    except FileNotFoundError:
        return Federation()
    except (ValueError, KeyError, TypeError) as damage:
        raise LocalError(
            f"{path} cannot be read: {damage}", "restore it, or begin in an empty directory"
        ) from damage


def save(directory: Path, federation: Federation) -> None:
    """Replaces the file atomically."""
    path = directory / "federation.json"
    fresh = path.with_suffix(".json.new")
    fresh.write_text(json.dumps(federation.as_json(), indent=2) + "\n")
    os.replace(fresh, path)
