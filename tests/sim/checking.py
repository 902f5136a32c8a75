"""Where evidence is heard: each promise has a checker of its own in `checks/`, which sees evidence and nothing else."""

import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

from brokers.ids import Instant, Offset, TopicPartition
from federation.promises import PROMISES
from linker.records.mirror_state import MirrorState
from tests.sim import checks
from tests.sim.evidence import Batch, Chronicle, Region, log_start
from tests.sim.statements import Statements


def _checkers() -> dict[str, ModuleType]:
    """The modules of `checks/` by the promise that each is named for, in its order."""
    found = {name.partition("_")[0]: name for _, name, _ in pkgutil.iter_modules(checks.__path__)}
    return {
        promise: import_module(f"{checks.__name__}.{found[promise.lower()]}")
        for promise in PROMISES
        if promise.lower() in found
    }


CHECKS = _checkers()


@dataclass
class Evidence:
    """Everything that a checker may look at.

    `durable`: what was acknowledged must survive this run's crashes. `retains`: no log deletes by itself.
    `audited_at`: when the audit takes its cut; below 0, there is none.
    """

    statements: Statements
    chronicle: Chronicle
    regions: dict[str, Region]
    source: str
    destination: str
    durable: bool
    retains: bool = True
    audited_at: Instant = -1

    def holes_of(self, partition: TopicPartition) -> list[tuple[Offset, Offset]]:
        """What the mirror lacks, by the hole ledger as the operator was last told."""
        mirror = self.statements.mirror
        holes = mirror.holes if mirror is not None else ()
        return [
            (hole.base_offset, hole.next_offset)
            for hole in holes
            if hole.partition == partition and not hole.is_cut
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
        return self.trimmed_below(region, partition)

    def trimmed_below(self, region: str, partition: TopicPartition) -> Offset:
        """What somebody may have deleted with DeleteRecords, in that region or at its source."""
        trims = self.statements.trims
        below = trims.get((self.source, partition), 0)
        return max(below, trims.get((region, partition), 0))

    @property
    def follows_source(self) -> bool:
        """Whether the mirror says that it still follows: what both hold must then be equal now."""
        mirror = self.statements.mirror
        return mirror is not None and mirror.record.state is MirrorState.ACTIVE


class Broken(Exception):
    """A promise was not kept."""

    def __init__(self, promise: str, finding: str) -> None:
        super().__init__(f"{promise} is broken: {PROMISES[promise]}\n  {finding}")
        self.promise = promise
        self.finding = finding


def check_write(evidence: Evidence, region: str, partition: TopicPartition, batch: Batch) -> None:
    """A batch reached a log, this instant."""
    for promise, check in CHECKS.items():
        if hasattr(check, "on_written"):
            _raise_first(promise, check.on_written(evidence, region, partition, batch))


def check_restart(evidence: Evidence, region: str) -> None:
    """A process has died and its disk is as it will find it."""
    for promise, check in CHECKS.items():
        if hasattr(check, "on_restart"):
            _raise_first(promise, check.on_restart(evidence, region))


def check_end(evidence: Evidence) -> None:
    """Everything is quiet and will stay so."""
    if evidence.durable:
        for promise, told in evidence.statements.contradictions:
            raise Broken(promise, told)
    for promise, check in CHECKS.items():
        _raise_first(promise, check.at_end(evidence))


def _raise_first(promise: str, findings: Iterator[str]) -> None:
    for finding in findings:
        raise Broken(promise, finding)
