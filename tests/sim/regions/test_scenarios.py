"""Scenario that never comes about tests nothing: what is drawn is seen in the trace."""

from dataclasses import replace
from typing import Any

from tests.sim.regions.runs import RegionRun
from tests.sim.regions.scenario import RegionScenario, Shape

QUIET = {
    "shape": Shape(3, 3, combined=True),
    "crash_mean_ms": 0,
    "freeze_mean_ms": 0,
    "cut_mean_ms": 0,
    "block_mean_ms": 0,
    "full_disk_mean_ms": 0,
    "ailing_disk_mean_ms": 0,
    "wipe_mean_ms": 0,
    "latency_ms": 1,
    "sync_ms": 1,
    "duration_ms": 9_000,
    "partitions": 1,
    "replication": 3,
    "min_insync": 1,
    "producers": 1,
    "readers": 1,
    "groups": 0,
    "racks": 0,
    "observers": 0,
}


def trace(seed: int, **changes: Any) -> list[str]:
    """What happens in a run without other faults, without the times."""

    def adjust(scenario: RegionScenario) -> RegionScenario:
        return replace(scenario, **(QUIET | changes))

    lines: list[str] = []
    RegionRun(seed, lines.append, adjust=adjust).execute()
    return [" ".join(line.split()[1:]) for line in lines]


def has(lines: list[str], who: str, *words: str) -> bool:
    return any(line.startswith(who) and all(word in line for word in words) for line in lines)


def test_controllers_lose_their_vote_and_get_it_back_and_disks_are_lost() -> None:
    lines = trace(5, reseats=True, wipe_mean_ms=3_000, duration_ms=12_000, min_insync=2)
    assert has(lines, "elector take", "done") and has(lines, "elector let", "done")
    assert has(lines, "n", "gets another disk")


def test_records_are_deleted() -> None:
    assert has(trace(5, meddles=True, trims=True), "admin delete orders", "done")


def test_readers_are_sent_to_the_closest_replica() -> None:
    assert any(has(trace(seed, racks=2), "reader0 is sent to") for seed in range(3))


def test_observers_are_promoted_while_the_in_sync_set_misses_members() -> None:
    storm = {"crash_mean_ms": 5_000, "down_ms": 6_000, "clean_stops": 1.0}
    changes = {"observers": 1, "replication": 2, "min_insync": 2, "promotion": "under-min-isr"}
    runs = (trace(seed, **storm, **changes) for seed in range(2, 8))
    assert any(has(lines, "reader0 hears", "orders-0", "3)") for lines in runs)


def test_who_has_just_come_in_sync_may_have_to_lead() -> None:
    lines = trace(2, crash_mean_ms=4_000, down_ms=1_000, spite=1.0)
    assert has(lines, "storm ends a leader")


def test_disks_fail_where_there_are_several_brokers() -> None:
    lines = trace(5, full_disk_mean_ms=3_000, ailing_disk_mean_ms=3_000)
    assert has(lines, "n", "log directory data: offline", "the disk is full")
    assert has(lines, "n", "log directory data: offline", "the device reports errors")


def test_producers_follow_a_leader_that_stops_to_the_next_one() -> None:
    storm = {"crash_mean_ms": 2_000, "down_ms": 1_000, "clean_stops": 1.0}
    runs = (trace(seed, **storm, producers=4, partitions=4) for seed in range(8))
    assert any(has(lines, "producer", "is told that", "leads orders-", "next") for lines in runs)
