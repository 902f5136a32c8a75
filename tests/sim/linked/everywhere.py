"""A transition with a crash at every step of it: one run without faults, from which a process forks off at each step.

A fork goes on from the same state with a crash, so the way to that step is not walked again. What it finds is found
again by the step's number alone: `python -m tests.sim --transition NAME --seed N --step K`.
"""

import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from tests.sim.linked.steps import Crash
from tests.sim.linked.transition_runs import TransitionRun
from tests.sim.nodes import Node


@dataclass
class Crashed:
    """What became of all crashes of one run."""

    steps: int = 0
    crashes: int = 0
    failures: list[tuple[Crash, str]] = field(default_factory=list)


def crash_everywhere(
    seed: int, transition: str, crashes_at: Callable[[int], Iterable[Crash]]
) -> Crashed:
    """`crashes_at` says which crashes are tried at a step, each in a process of its own."""
    run = TransitionRun(transition, seed=seed)
    found = Crashed()
    child: list[int] = []  # where a fork writes what it finds

    def fork(count: int, actor: Node) -> None:
        if child:
            return
        for crash in crashes_at(count):
            reader, writer = os.pipe()
            if os.fork() == 0:
                child.append(writer)
                run.steps.strike(crash, actor)
                return
            os.close(writer)
            found.crashes += 1
            if told := _read(reader):
                found.failures.append((crash, told))

    run.steps.on_count = fork
    _finish(run, child)
    found.steps = run.steps.count
    return found


def _finish(run: TransitionRun, child: list[int]) -> None:
    """The first process returns; the others end here."""
    told = ""
    try:
        run.execute()
    except BaseException as error:
        if not child:
            raise
        told = f"{type(error).__name__}: {error}"
    if child:
        os.write(child[0], told.encode()[:4_000])
        sys.stdout.flush()
        os._exit(0)


def _read(reader: int) -> str:
    """All that a fork has written; it has ended then."""
    with os.fdopen(reader, "rb") as told:
        data = told.read()
    os.wait()
    return data.decode()
