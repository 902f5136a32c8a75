"""Bugs that each have lost somebody's data: planted here one by one, the faults find every one of them."""

from collections.abc import Iterable

import pytest

from brokers.effects import Effect, SaveState
from brokers.log.epochs import EpochEnd
from brokers.log.log import Log
from brokers.quorum.control_records import MetadataLogError
from brokers.quorum.elections import QuorumElections
from brokers.quorum.epoch_election import EpochElection
from brokers.quorum.epoch_states import CandidateState, LeaderState, ProspectiveState
from brokers.quorum.fetch_requests import FetchRequests
from brokers.quorum.leader import MetadataLeader
from brokers.quorum.log_fetcher import LogFetcher
from brokers.quorum.raft_client import RaftClient
from tests.playbooks.quorum.checks import Violation
from tests.playbooks.quorum.storm import Feud, Storm
from tests.playbooks.quorum.world import World
from tests.quick import some

SEEDS = 60


class AnswersBeforeItsVoteIsDurable(RaftClient):
    def wait_for_saves(self, effects: Iterable[Effect]) -> list[Effect]:
        leaving = list(effects)
        self._saves_started += sum(isinstance(effect, SaveState) for effect in leaving)
        return leaving


class AcknowledgesBeforeItsSync(RaftClient):
    class Hasty(LogFetcher):
        def is_synced(self, log: Log) -> bool:
            return True

    log_fetcher_class = Hasty


class CountsItselfBeforeItsSync(RaftClient):
    class Hasty(MetadataLeader):
        def own_synced_offset(self) -> int:
            assert self._quorum.log is not None
            return self._quorum.log.log_end_offset

    leader_class = Hasty


class CountsVotesOfAnOldEpoch(RaftClient):
    class Careless(QuorumElections):
        def is_counted(self, election: EpochElection) -> bool:
            return isinstance(self._quorum.state, ProspectiveState | CandidateState)

    elections_class = Careless


class CommitsAnOldEpochByCounting(RaftClient):
    class Eager(MetadataLeader):
        def is_of_own_epoch(self, leader_state: LeaderState, next_offset: int) -> bool:
            return True

    leader_class = Eager


class VotesForAShorterLog(RaftClient):
    class Generous(QuorumElections):
        def is_log_up_to_date(self, asked: object) -> bool:
            return True

    elections_class = Generous


class CutsByOffsetAlone(RaftClient):
    class Shallow(FetchRequests):
        def diverging_epoch_of(self, log: Log, offset: int, last_epoch: int) -> EpochEnd | None:
            return (
                None if offset <= log.log_end_offset else EpochEnd(last_epoch, log.log_end_offset)
            )

    fetch_requests_class = Shallow


PLANTED = [
    AnswersBeforeItsVoteIsDurable,
    AcknowledgesBeforeItsSync,
    CountsItselfBeforeItsSync,
    CountsVotesOfAnOldEpoch,
    CommitsAnOldEpochByCounting,
    VotesForAShorterLog,
    CutsByOffsetAlone,
]


def is_found(make: type[RaftClient], seed: int) -> bool:
    """Whether the storm of a seed shows that something is wrong."""
    # One batch a fetch: members are as far apart as they can be.
    settings = {"fetch_bytes_max": 1} if seed % 2 else {}
    world = World(seed, voters=3 if seed % 3 else 5, make=make, settings=settings)
    try:
        if seed % 4 > 1:
            Storm(world).run(6_000)
        Feud(world).run(30)
        world.heal()
        world.settle()
    except (Violation, MetadataLogError, AssertionError):
        return True
    return bool(world.leader is not None and world.checker.lost(world.leader.history))


@pytest.mark.parametrize("make", some(PLANTED, quick=1), ids=lambda make: make.__name__)
def test_a_scenario_finds_a_planted_bug(make: type[RaftClient]) -> None:
    assert any(is_found(make, seed) for seed in range(SEEDS))
