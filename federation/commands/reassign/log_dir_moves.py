"""Moves of replicas to the log directories that a plan names: checks, beginning, and state of each move (KIP-113)."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import click

from federation.commands.answers import Failure
from federation.commands.reassign.log_dirs import BrokerLogDirs, MoveError, ReplicaLogDirInfo, begin
from federation.commands.reassign.plan import (
    ANY_DIRECTORY,
    Directories,
    TopicPartitionReplica,
    commas,
)
from federation.commands.region.description import BrokerDescription

POLL_SECONDS: Final = 0.2
_MISSING: Final = BrokerLogDirs(problem="it is not registered")


def current_directories(log_dirs: Mapping[int, BrokerLogDirs]) -> Directories:
    """The log directory of each replica, where its broker answered."""
    return {
        TopicPartitionReplica(name, broker): replica.current
        for broker, each in log_dirs.items()
        for name, replica in each.replicas.items()
        if replica.current
    }


# --- before the moves ---


def check_directories(wanted: Directories, log_dirs: Mapping[int, BrokerLogDirs]) -> None:
    """Raises Failure for a log directory that its broker does not have online."""
    for (_, broker), directory in wanted.items():
        each = log_dirs[broker]
        if each.problem:
            because = f"broker {broker} does not tell its log directories: {each.problem}"
            raise Failure(because, hint=f'write "{ANY_DIRECTORY}" for its replicas, or try again')
        if directory not in each.online:
            what = "is offline" if directory in each.offline else "is none of its log directories"
            known = ", ".join(each.online) or "none that it tells"
            raise Failure(f"broker {broker}: {directory} {what}", hint=f"it has {known}")


def begin_existing(
    brokers: Iterable[BrokerDescription], wanted: Directories, log_dirs: Mapping[int, BrokerLogDirs]
) -> tuple[list[TopicPartitionReplica], Directories]:
    """Begin the moves; returns the replicas that move now, and those to retry, which their brokers do not host yet.

    A broker remembers the log directory for a replica that it will host. Replicas that are in their log directory
    already are left out. Raises Failure where a broker refuses a move.
    """
    moving = {
        each.replica: each.target for each in directory_moves(wanted, log_dirs) if each.is_needed
    }
    problems = begin(brokers, moving)
    refused = {each: problem for each, problem in problems.items() if not problem.passes}
    if refused:
        raise Failure(
            f"no partition is reassigned: {problem_lines(refused)}",
            hint="moves between directories may have begun: verify shows them, cancel stops them",
        )
    begun = [each for each in moving if each not in problems]
    return begun, {each: moving[each] for each in problems}


def problem_lines(problems: Mapping[TopicPartitionReplica, MoveError]) -> str:
    return "".join(f"\n  {replica}: {problem.because}" for replica, problem in problems.items())


# --- moves of replicas that are still to be created ---


def begin_until(
    brokers: Sequence[BrokerDescription], wanted: Directories, timeout_s: float, *, prints: bool
) -> dict[TopicPartitionReplica, MoveError]:
    """Retry until all replicas move, or for `timeout_s` seconds; returns the replicas that do not move, and why."""
    refused: dict[TopicPartitionReplica, MoveError] = {}
    problems: dict[TopicPartitionReplica, MoveError] = {}
    deadline = time.monotonic() + timeout_s
    if wanted and prints:
        click.echo(f"Waiting {timeout_s:g} s at most for new replicas: {commas([*wanted])}")
    while wanted:
        problems = begin(brokers, wanted)
        if prints:
            show_begun([each for each in wanted if each not in problems])
        refused |= {each: problem for each, problem in problems.items() if not problem.passes}
        wanted = {each: wanted[each] for each in problems if each not in refused}
        if not wanted or time.monotonic() >= deadline:
            break
        time.sleep(POLL_SECONDS)
    return refused | problems


def show_begun(replicas: Sequence[TopicPartitionReplica]) -> None:
    if replicas:
        click.echo(f"Successfully started log directory moves for: {commas(replicas)}")


# --- progress ---


@dataclass(frozen=True, slots=True)
class LogDirMoveState:
    """One replica of a plan that names its log directory; `problem` is why its broker did not answer, else empty."""

    replica: TopicPartitionReplica
    target: str
    log_dirs: ReplicaLogDirInfo
    problem: str

    @property
    def is_complete(self) -> bool:
        return self.log_dirs == ReplicaLogDirInfo(self.target)

    @property
    def is_needed(self) -> bool:
        return not self.is_complete and self.log_dirs.future != self.target

    @property
    def state(self) -> str:
        if self.problem:
            return "unknown"
        if self.log_dirs.future == self.target:
            return "in progress"
        return (
            "complete" if self.is_complete else "elsewhere" if self.log_dirs.current else "missing"
        )

    @property
    def sentence(self) -> str:
        replica, broker = self.replica, self.replica.broker
        return {
            "unknown": f"Broker {broker} does not tell where replica {replica} lies: {self.problem}.",
            "in progress": f"Reassignment of replica {replica} is still in progress.",
            "complete": f"Reassignment of replica {replica} completed successfully.",
            "missing": f"Replica {replica} is in none of the online log directories of broker {broker}.",
            "elsewhere": f"Replica {replica} {self._where} rather than {self.target}.",
        }[self.state]

    @property
    def _where(self) -> str:
        if self.log_dirs.future:
            return f"is being moved to {self.log_dirs.future}"
        return f"lies in {self.log_dirs.current} and is not being moved"

    def as_dict(self) -> dict[str, Any]:
        name, broker = self.replica
        return {
            "topic": name.topic,
            "partition": name.partition,
            "broker": broker,
            "state": self.state,
            "directory": self.log_dirs.current or None,
            "target": self.target,
        }


def directory_moves(
    wanted: Directories, log_dirs: Mapping[int, BrokerLogDirs]
) -> list[LogDirMoveState]:
    return [
        LogDirMoveState(
            replica,
            directory,
            each.replicas.get(replica.partition, ReplicaLogDirInfo()),
            each.problem,
        )
        for replica, directory in wanted.items()
        for each in [log_dirs.get(replica.broker, _MISSING)]
    ]
