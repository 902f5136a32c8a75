"""Bugs of compaction, for the simulator to find: nodes whose cleaner is wrong in one point each."""

from dataclasses import replace
from typing import Any

from tests.kernel.wrong_cleanings import (
    CleansTheActiveSegment,
    DropsMarkersEarly,
    LosesSequences,
    MovesOffsets,
)
from tests.sim.nodes import Node
from tests.sim.regions.compaction import DAY_MS, Compaction, compacted
from tests.sim.regions.plants import Adjust, Plant
from tests.sim.regions.scenario import RegionScenario, Shape

EAGER = Compaction(
    deletes=False,
    delete_retention_ms=DAY_MS,
    min_lag_ms=0,
    dirty_ratio=0.01,
    backoff_ms=200,
    threads=1,
    io_bytes=20_000,
    load_factor=0.9,
    markers=0.3,
)


def eager(**changes: Any) -> Adjust:
    """What is sealed is cleaned as soon as it can be."""
    settled = {
        "shape": Shape(3, 3, combined=True),
        "replication": 3,
        "wipe_mean_ms": 0,
        "full_disk_mean_ms": 0,
        "ailing_disk_mean_ms": 0,
        "observers": 0,
        "duration_ms": 9_000,
    }

    def adjust(scenario: RegionScenario) -> RegionScenario:
        return compacted(replace(scenario, **(settled | changes)), EAGER)

    return adjust


class EarlyMarkers(Node):
    make_cleaning = DropsMarkersEarly


class LostSequences(Node):
    make_cleaning = LosesSequences


class MovedOffsets(Node):
    make_cleaning = MovesOffsets


class ActiveSegments(Node):
    make_storage = CleansTheActiveSegment


DROP_MARKERS_EARLY = Plant(eager(), range(2, 8), EarlyMarkers)
LOSE_SEQUENCES = Plant(eager(), range(5), LostSequences)
MOVE_OFFSETS = Plant(eager(), range(5), MovedOffsets)
CLEAN_THE_ACTIVE_SEGMENT = Plant(eager(), range(11, 16), ActiveSegments)
