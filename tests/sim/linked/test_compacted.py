"""Linked regions of compacted topics: each replica cleans its own log, and what two of them have is the same."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import pytest

from tests.sim.linked.restores import RestoreRun
from tests.sim.linked.reversals import ReversalRun
from tests.sim.linked.rounds import RoundsRun
from tests.sim.linked.runs import LinkedRun
from tests.sim.linked.scenario import compacting_everywhere
from tests.sim.seeds import check_all

RUNS: dict[str, Callable[..., Any]] = {
    "--linked": LinkedRun,
    "--restore": RestoreRun,
    "--restore-latest": partial(RestoreRun, start="latest"),
    "--reverse": ReversalRun,
    "--rounds": RoundsRun,
}


def check(kind: str, seeds: Iterable[int]) -> None:
    run = lambda seed: RUNS[kind](seed, adjust=compacting_everywhere(seed)).execute()  # noqa: E731
    check_all(seeds, run, f"{kind} --compacted ")


ONCE_FAILED = (
    ("--linked", 4),
    ("--restore", 18),
    ("--restore", 40),
    ("--restore-latest", 2),
    ("--restore-latest", 37),
    ("--restore-latest", 97),
    ("--restore-latest", 0),
    ("--rounds", 0),
    ("--rounds", 1),
    ("--rounds", 59),
)


@pytest.mark.parametrize(("kind", "seed"), ONCE_FAILED)
def test_a_seed_that_once_failed_keeps_every_promise(kind: str, seed: int) -> None:
    """What they found.

    --linked 4: what recovery had found that a log lacks was forgotten when its recovery point rose.
    --restore 18: a follower that had not heard of the restore served a reader the log that it still had.
    --restore 40: a reader's long poll was answered from the log that had taken the place of the one it came to.
    --restore-latest 2: a log that was copied anew begins where its source's does, which the simulator objected to.
    --rounds 0: a follower kept a key whose deletion marker its leader had removed: the audit called it a loss.
    --restore-latest 37: a reader had read a marker below where its log begins anew, and the later record of its key is
    above: the simulator objected.
    --restore-latest 97: a reader hears where a log begins anew before an operator hears of the restore; the same.
    --rounds 1: batches that a cleaning had changed, and that were copied, did not raise the clean point of the copy.
    --rounds 59: a restore ended before a follower in sync had truncated its tail, with which it led at the next
    failover.
    --restore-latest 0: copies lacked the leader epoch in which they began, of which nothing was left: a fault for the
    audit.
    """
    check(kind, [seed])


@pytest.mark.parametrize(("kind", "count"), [("--linked", 2), ("--restore", 1), ("--reverse", 1)])
def test_linked_regions_of_compacted_topics_keep_every_promise(kind: str, count: int) -> None:
    check(kind, range(count))


@pytest.mark.soak
@pytest.mark.parametrize("first", range(10_000, 10_400, 100))
@pytest.mark.parametrize("kind", RUNS)
def test_hundreds_of_linked_regions_of_compacted_topics(kind: str, first: int) -> None:
    check(kind, range(first, first + 100))
