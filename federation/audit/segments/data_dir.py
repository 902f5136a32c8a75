"""Whose data directory this is: Kafka's `meta.properties` (KIP-631, KIP-858).

A directory without that file (a backup of partition folders, say) is a node of its own, known by its path.
"""

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from federation.audit.segments.checkpoints import CLEAN_SHUTDOWN

META = "meta.properties"


class DataDir(NamedTuple):
    """`node_id` is -1, and the other ids are empty, where the directory does not say.

    `is_crashed`: it is a node's, and the node did not stop in good order, or runs.
    """

    path: str
    cluster_id: str = ""
    node_id: int = -1
    directory_id: str = ""
    is_crashed: bool = False

    @property
    def node(self) -> str:
        """What reports call the node whose directory this is."""
        return f"node {self.node_id}" if self.node_id >= 0 else self.path


def identify(path: str) -> DataDir:
    """Raises OSError when the file can't be read and ValueError when it is damaged."""
    try:
        with open(os.path.join(path, META), encoding="utf-8") as file:
            lines = [line.strip() for line in file]
    except FileNotFoundError:
        return DataDir(path)
    except ValueError as error:
        raise ValueError(f"{os.path.join(path, META)}: {error}") from error
    pairs = dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    node_id = pairs.get("node.id", "-1")
    if not node_id.lstrip("-").isdigit():
        raise ValueError(f"{os.path.join(path, META)}: node.id is {node_id!r}")
    is_clean = os.path.exists(os.path.join(path, CLEAN_SHUTDOWN))
    return DataDir(
        path, pairs.get("cluster.id", ""), int(node_id), pairs.get("directory.id", ""), not is_clean
    )


def of_region(name: str, paths: Sequence[str]) -> list[DataDir]:
    """The directories of one region in an order that does not depend on the order of `paths`.

    Raises OSError, and ValueError when they can't all be directories of one region.
    """
    found = sorted((identify(path) for path in paths), key=lambda one: (one.node_id, one.path))
    clusters = {one.cluster_id: one.path for one in found if one.cluster_id}
    if len(clusters) > 1:
        named = ", ".join(f"{path} of {cluster}" for cluster, path in sorted(clusters.items()))
        raise ValueError(f"{name} has directories of several clusters: {named}")
    for paths_of_one in _same(found):
        raise ValueError(f"{name}: {' and '.join(paths_of_one)} are one directory, or its copy")
    return found


def cluster_id(directories: Iterable[DataDir]) -> str:
    """The region's cluster id, or an empty text."""
    return max((one.cluster_id for one in directories), default="")


def _same(found: Sequence[DataDir]) -> Iterable[list[str]]:
    identities: tuple[Callable[[DataDir], str], ...] = (
        lambda one: os.path.realpath(one.path),
        lambda one: one.directory_id,
    )
    for identity in identities:
        groups = defaultdict(list)
        for one in found:
            groups[identity(one)].append(one.path)
        yield from (group for key, group in groups.items() if key and len(group) > 1)
