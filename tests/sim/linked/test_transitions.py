"""A crash in the middle of every transition: it is completed, and nothing is lost.

The soak has a crash at every step; here are some of each transition, spread over its steps, kinds of ends and roles.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import cycle

import pytest

from tests.sim.linked.everywhere import Crashed, crash_everywhere
from tests.sim.linked.steps import ENDS, Crash, Manner, Victim
from tests.sim.linked.transition_runs import TransitionRun
from tests.sim.linked.transitions import TRANSITIONS

SAMPLES = 5  # of a transition
# Of regions of two brokers and of three, with links that the source dials; of three, dialed by the destination.
SEEDS = (3, 17, 25)
# Each once broke a promise. A mirror before the present one, of a reversal that was taken back, heard a late answer and
# made the present one writable. A hole was found once more while the pause for it was being written, and the mirror was
# paused again after it was accepted. A source that had its topic back, and whose record was not STOPPED yet, heard of
# the older cut of its mirror: both were read-only then. A link coordinator that stood still before it gave a mirror its
# writers did so to the next one. A follower sealed a tail, got more of it, and became the leader that cut it.
# A source was told that a reversal was cancelled while it wrote that down, and stayed read-only. A replica that came
# into sync between the decision that all had sealed their tails and its record was cut unsealed. The last two were
# faults of the check: a cleaned segment was put in place before a cut, and a log lacked what was not synced.
FOUND = (
    ("reverse-and-pause", 17, Crash(101, Victim.ACTOR, Manner.POWER)),
    ("reverse-taken-back", 17, Crash(50, Victim.ACTOR, Manner.POWER)),
    ("hole-accepted", 17, Crash(60, Victim.ACTOR, Manner.MIDWAY)),
    ("reverse-and-return", 3, Crash(324, Victim.ACTOR, Manner.STILL)),
    ("cut-back", 17, Crash(33, Victim.ACTOR, Manner.KILL)),
    ("cut-back-by-hand", 3, Crash(433, Victim.ACTOR, Manner.KILL)),
    ("restore-given-up", 3, Crash(296, Victim.ACTOR, Manner.KILL)),
    ("restore-given-up", 3, Crash(333, Victim.ACTOR, Manner.KILL)),
    ("reverse-cancelled", 17, Crash(78, Victim.ACTOR, Manner.POWER)),
    ("restore", 3, Crash(199, Victim.ACTOR, Manner.POWER)),
    ("restore", 3, Crash(219, Victim.ACTOR, Manner.POWER)),
    ("restore", 3, Crash(129, Victim.ACTOR, Manner.KILL)),
    ("restore", 3, Crash(138, Victim.ACTOR, Manner.KILL)),
    ("restore-compacted", 25, Crash(356, Victim.ACTOR, Manner.POWER)),
    ("hold-released", 25, Crash(529, Victim.ACTOR, Manner.MIDWAY)),
)
ROLES = [each for each in Victim if each is not Victim.ACTOR]


def check(seed: int, transition: str, crashes_at: Callable[[int], Iterable[Crash]]) -> Crashed:
    """Nothing of what was tried has failed."""
    found = crash_everywhere(seed, transition, crashes_at)
    again = f"python -m tests.sim --transition {transition} --seed {seed}"
    assert not found.failures, "\n".join(
        f"{told}\n  again: {again} {crash} --trace" for crash, told in found.failures
    )
    return found


def only(*crashes: Crash) -> Callable[[int], Iterable[Crash]]:
    return lambda step: [each for each in crashes if each.step == step]


def in_time(transition: str, seeds: Iterable[int]) -> tuple[int, int]:
    """-> the first seed in which what is to be cancelled is, without a crash, and how many steps that takes."""
    for seed in seeds:
        calm = TransitionRun(transition, seed=seed)
        count = calm.perform()
        if not calm.operator.is_ended:
            return seed, count
    raise AssertionError(f"{transition} comes too late in all of {seeds}")


@pytest.mark.parametrize("transition", TRANSITIONS)
def test_a_transition_survives_a_crash_in_its_middle(transition: str) -> None:
    """At steps that divide all of them evenly."""
    kinds = cycle((victim, manner) for victim in (Victim.ACTOR, *ROLES) for manner in ENDS)
    index = list(TRANSITIONS).index(transition)
    for _ in range(index * SAMPLES):
        next(kinds)
    seed, count = in_time(transition, SEEDS[index % len(SEEDS) :] + SEEDS)
    steps = [(2 * sample + 1) * count // (2 * SAMPLES) for sample in range(SAMPLES)]
    crashes = [Crash(step, *next(kinds)) for step in steps]
    assert check(seed, transition, only(*crashes)).crashes == SAMPLES


@pytest.mark.parametrize(("transition", "seed", "crash"), FOUND)
def test_a_crash_that_was_not_survived_is(transition: str, seed: int, crash: Crash) -> None:
    assert check(seed, transition, only(crash)).crashes == 1


@pytest.mark.soak
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "transition", ["reverse-and-return", "restore-given-up", "made-anew", "failover-in-parts"]
)
def test_a_transition_survives_whoever_stood_still(transition: str, seed: int) -> None:
    """Others have completed it by then, and the topic is another mirror of the same link, or none."""

    def crashes_at(step: int) -> Iterable[Crash]:
        return [Crash(step, Victim.ACTOR, Manner.STILL)] if step % 10 == 1 else []

    found = check(seed, transition, crashes_at)
    assert found.crashes >= found.steps // 10 > 10


@pytest.mark.soak
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("transition", TRANSITIONS)
def test_a_transition_survives_a_crash_at_every_step(transition: str, seed: int) -> None:
    """Whoever takes the step ends there; at every third step, so does somebody with a role."""
    roles = [(role, manner) for manner in ENDS for role in ROLES]

    def crashes_at(step: int) -> Iterator[Crash]:
        yield Crash(step, Victim.ACTOR, ENDS[step % len(ENDS)])
        if step % 3 == 0:
            yield Crash(step, *roles[step // 3 % len(roles)])

    found = check(seed, transition, crashes_at)
    assert found.crashes >= found.steps > 50
