"""Two regions of three nodes each that hold the same log, and one replica of it changed."""

import itertools
import random
from collections.abc import Sequence
from pathlib import Path

from federation.audit.cut.bounds import AuditedRegion
from federation.audit.options import Options
from federation.audit.result import AuditResult
from tests.spark import facts, generate
from tests.spark.cases import audit
from tests.spark.plants import PLANTS, Pair, Stored

AT_THE_ENDS = {
    "missing_head",
    "missing_tail",
    "extra_tail",
}  # where a replica begins and ends is judged by other rules
ONE_SIDED = sorted(
    name for name in PLANTS if not name.endswith("_on_both") and name not in AT_THE_ENDS
)
KEY = ("t", 0)


class Region:
    """Three nodes with a directory each; `isr` are the node ids that the region says are in sync."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.folders = [folder / f"{name}{node}" for node in range(3)]
        for node, path in enumerate(self.folders):
            path.mkdir(parents=True)
            (path / "meta.properties").write_text(
                f"version=1\nnode.id={node}\ncluster.id={name}\ndirectory.id={name}{node}\n"
            )

    def write(self, node: int, log: Sequence[Stored], bases: set[int] = frozenset()) -> None:  # type: ignore[assignment]
        segments = generate.cut_in_segments(list(log), bases)
        generate.write_partition(str(self.folders[node]), *KEY, segments)

    def audited(
        self, isr: list[int], order: Sequence[int] = (0, 1, 2), **partition: list[int]
    ) -> AuditedRegion:
        paths = [str(self.folders[node]) for node in order]
        return facts.region(self.name, *paths, isr={KEY: isr}, partition=partition)


class Regions:
    """The same log on six nodes."""

    def __init__(self, folder: Path, log: Sequence[Stored]) -> None:
        self.west, self.east = Region(folder, "west"), Region(folder, "east")
        for side, node in itertools.product((self.west, self.east), range(3)):
            side.write(node, log)

    def audit(
        self, west: Sequence[int] = (0, 1, 2), east: Sequence[int] = (0, 1, 2), **changed: object
    ) -> AuditResult:
        sides = {
            "source": self.west.audited([0, 1, 2], west),
            "mirror": self.east.audited([0, 1, 2], east),
        }
        return audit(Options(**{**sides, "engine": "local", "master": "local[1]", **changed}))  # type: ignore[arg-type]


def stored(seed: random.Random, codec: str = "none") -> list[Stored]:
    return generate.stored(generate.batches(seed, 30, codec))


def rows(result: AuditResult) -> list[tuple[str, str, str, int, int]]:
    return [
        (one.kind.value, one.side.value, one.replica, one.from_offset, one.to_offset)
        for one in result.findings
    ]


def damaged(log: list[Stored], name: str, seed: random.Random) -> tuple[list[Stored], int, int]:
    """The log after a plant, and the offsets that it touched; plants that change both sides change `log` too."""
    pair = Pair(list(log), list(log), original=[made for made, _ in log])
    PLANTS[name](pair, seed)
    changed, log[:] = (
        (pair.source, pair.mirror) if pair.mirror == log else (pair.mirror, pair.source)
    )
    (expected,) = pair.expected
    return changed, expected[2], expected[3]
