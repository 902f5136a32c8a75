"""Where evidence is heard: each promise has a checker of its own in `checks/`, which sees evidence and nothing else."""

from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

from brokers.ids import Offset, TopicPartition
from federation.promises import PROMISES
from linker.records.mirror_state import MirrorState
from tests.sim.checks import (
    p1_acknowledged_survives,
    p2_same_bytes,
    p3_nothing_uncommitted,
    p4_only_the_link_writes,
    p5_loss_is_known,
    p6_groups_in_bounds,
    p8_holes_are_recorded,
    p10_stored_once,
)
from tests.sim.evidence import Batch, Chronicle, Region, log_start
from tests.sim.testimony import Statements

CHECKS: dict[str, ModuleType] = {
    "P1": p1_acknowledged_survives,
    "P2": p2_same_bytes,
    "P3": p3_nothing_uncommitted,
    "P4": p4_only_the_link_writes,
    "P5": p5_loss_is_known,
    "P6": p6_groups_in_bounds,
    "P8": p8_holes_are_recorded,
    "P10": p10_stored_once,
}


@dataclass
class Evidence:
    """Everything that a checker may look at.

    `durable`: what was acknowledged must survive this run's crashes. `retains`: no log deletes by itself.
    """

    testimony: Statements
    chronicle: Chronicle
    regions: dict[str, Region]
    source: str
    destination: str
    durable: bool
    retains: bool = True

    def holes_of(self, partition: TopicPartition) -> list[tuple[Offset, Offset]]:
        """The hole ledger, as the operator was last told."""
        mirror = self.testimony.mirror
        holes = mirror.holes if mirror is not None else ()
        return [
            (hole.base_offset, hole.next_offset) for hole in holes if hole.partition == partition
        ]

    def in_a_hole(self, partition: TopicPartition, value: bytes) -> bool:
        """Whether the source has it where the mirror has a hole."""
        stored = self.regions[self.source].values(partition)
        return any(
            base <= offset < following
            for base, following in self.holes_of(partition)
            for offset, found in stored.items()
            if found == value
        )

    def deleted_below(self, region: str, partition: TopicPartition) -> Offset:
        """What someone may have deleted: a mirror follows its source in this. Retention is taken at its word."""
        if not self.retains:
            return log_start(self.regions[region].disk, partition)
        trims = self.testimony.trims
        below = trims.get((self.source, partition), 0)
        return max(below, trims.get((region, partition), 0))

    @property
    def follows_source(self) -> bool:
        """Whether the mirror says that it still follows: what both hold must then be equal now."""
        mirror = self.testimony.mirror
        return mirror is not None and mirror.record.state is MirrorState.ACTIVE


class Broken(Exception):
    """A promise was not kept."""

    def __init__(self, promise: str, finding: str) -> None:
        super().__init__(f"{promise} is broken: {PROMISES[promise]}\n  {finding}")
        self.promise = promise
        self.finding = finding


def hear_write(evidence: Evidence, region: str, partition: TopicPartition, batch: Batch) -> None:
    """A batch reached a log, this instant."""
    for promise, check in CHECKS.items():
        if hasattr(check, "on_written"):
            _raise_first(promise, check.on_written(evidence, region, partition, batch))


def hear_restart(evidence: Evidence, region: str) -> None:
    """A process has died and its disk is as it will find it."""
    for promise, check in CHECKS.items():
        if hasattr(check, "on_restart"):
            _raise_first(promise, check.on_restart(evidence, region))


def hear_end(evidence: Evidence) -> None:
    """Everything is quiet and will stay so."""
    if evidence.durable:
        for promise, told in evidence.testimony.contradictions:
            raise Broken(promise, told)
    for promise, check in CHECKS.items():
        _raise_first(promise, check.at_end(evidence))


def _raise_first(promise: str, findings: Iterator[str]) -> None:
    for finding in findings:
        raise Broken(promise, finding)
