"""Bugs that each have lost somebody's data: planted here one by one, the weather finds every one of them."""

from collections.abc import Iterable

import pytest

from brokers.effects import Effect, SaveState
from brokers.log.epochs import EpochEnd
from brokers.log.log import Log
from brokers.quorum.ballot import Ballot
from brokers.quorum.control import MetadataLogError
from brokers.quorum.following import Following
from brokers.quorum.leading import Leading
from brokers.quorum.raft import RaftNode
from brokers.quorum.roles import Candidate, Leader, Prospective
from brokers.quorum.serving import Serving
from brokers.quorum.voting import Voting
from tests.playbooks.quorum.checks import Violation
from tests.playbooks.quorum.storm import Feud, Storm
from tests.playbooks.quorum.world import World
from tests.quick import some

SEEDS = 60


class AnswersBeforeItsVoteIsDurable(RaftNode):
    def held_back(self, effects: Iterable[Effect]) -> list[Effect]:
        leaving = list(effects)
        self._saves_asked += sum(isinstance(effect, SaveState) for effect in leaving)
        return leaving


class AcknowledgesBeforeItsSync(RaftNode):
    class Hasty(Following):
        def is_safe(self, log: Log) -> bool:
            return True

    following = Hasty


class CountsItselfBeforeItsSync(RaftNode):
    class Hasty(Leading):
        def own_offset(self) -> int:
            assert self._member.log is not None
            return self._member.log.log_end_offset

    leading = Hasty


class CountsVotesOfAnOldEpoch(RaftNode):
    class Careless(Voting):
        def is_counted(self, ballot: Ballot) -> bool:
            return isinstance(self._member.role, Prospective | Candidate)

    voting = Careless


class CommitsAnOldEpochByCounting(RaftNode):
    class Eager(Leading):
        def is_of_own_epoch(self, leading: Leader, next_offset: int) -> bool:
            return True

    leading = Eager


class VotesForAShorterLog(RaftNode):
    class Generous(Voting):
        def holds_all(self, asked: object) -> bool:
            return True

    voting = Generous


class CutsByOffsetAlone(RaftNode):
    class Shallow(Serving):
        def parting(self, log: Log, offset: int, last_epoch: int) -> EpochEnd | None:
            return (
                None if offset <= log.log_end_offset else EpochEnd(last_epoch, log.log_end_offset)
            )

    serving = Shallow


PLANTED = [
    AnswersBeforeItsVoteIsDurable,
    AcknowledgesBeforeItsSync,
    CountsItselfBeforeItsSync,
    CountsVotesOfAnOldEpoch,
    CommitsAnOldEpochByCounting,
    VotesForAShorterLog,
    CutsByOffsetAlone,
]


def is_found(make: type[RaftNode], seed: int) -> bool:
    """Whether the storm of a seed shows that something is wrong."""
    # One batch a fetch: members are as far apart as they can be.
    settings = {"fetch_bytes_max": 1} if seed % 2 else {}
    world = World(seed, voters=3 if seed % 3 else 5, make=make, settings=settings)
    try:
        if seed % 4 > 1:
            Storm(world).blow(6_000)
        Feud(world).blow(30)
        world.heal()
        world.settle()
    except (Violation, MetadataLogError, AssertionError):
        return True
    return bool(world.leader is not None and world.court.lost(world.leader.history))


@pytest.mark.parametrize("make", some(PLANTED, quick=1), ids=lambda make: make.__name__)
def test_the_weather_finds_a_planted_bug(make: type[RaftNode]) -> None:
    assert any(is_found(make, seed) for seed in range(SEEDS))
