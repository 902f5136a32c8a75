"""Where evidence is heard: each promise has a checker of its own in `checks/`, which sees evidence and nothing else."""

from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

from brokers.ids import TopicPartition
from federation.promises import PROMISES
from tests.sim.checks import (
    p1_acknowledged_survives,
    p10_stored_once,
)
from tests.sim.evidence import Batch, Chronicle, Region
from tests.sim.testimony import Testimony

CHECKS: dict[str, ModuleType] = {
    "P1": p1_acknowledged_survives,
    "P10": p10_stored_once,
}


@dataclass
class Evidence:
    """Everything that a checker may look at. `durable`: what was acknowledged must survive this run's crashes."""

    testimony: Testimony
    chronicle: Chronicle
    regions: dict[str, Region]
    source: str
    destination: str
    durable: bool


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
    for promise, check in CHECKS.items():
        _raise_first(promise, check.at_end(evidence))


def _raise_first(promise: str, findings: Iterator[str]) -> None:
    for finding in findings:
        raise Broken(promise, finding)
