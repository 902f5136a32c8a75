"""A topic that goes from region to region by failovers and reversals, with a group that follows it."""

from collections.abc import Iterable

import pytest

from brokers.ids import TopicPartition
from tests.sim.evidence import Batch
from tests.sim.linked.readers import RegionReader
from tests.sim.linked.rounds import RoundsRun
from tests.sim.regions.cluster import TOPIC
from tests.sim.seeds import check_all

CHUNK = 5


def check(seeds: Iterable[int]) -> None:
    check_all(seeds, lambda seed: RoundsRun(seed).execute(), "--rounds ")


@pytest.mark.parametrize("seed", [12, 15, 29, 37, 39, 50, 54, 91, 121])
def test_a_seed_that_once_failed_loses_nothing(seed: int) -> None:
    """What they found.

    12: a link did not put a group where it stood, as it had put it there in an earlier round.
    15: a reversal left a group behind whose member in the mirror's region had left a moment ago.
    29: a restore did not wait for members that had read what it removed and had not committed that yet.
    37: a restore waited for ever for a tail of a partition that the source got while others were sealed.
    39: a member that stayed while its region was restored read on in the mirror, and the simulator did not know.
    50: a membership whose end nobody had heard of kept a reversal from moving the group.
    54: a reversal did not wait for the offset of a group whose member had left a moment ago, and made its cut.
    91: a link had forgotten what its source had sent before a reversal, and the source did not send it again.
    121: whom a link has at its other end was not recorded, as no controller answered then: no reversal was accepted.
    """
    check([seed])


@pytest.mark.parametrize("first", range(0, 5, CHUNK))
def test_a_topic_goes_from_region_to_region_and_nothing_is_lost(first: int) -> None:
    check(range(first, first + CHUNK))


def test_a_reader_has_read_a_log_whose_records_are_all_deleted() -> None:
    """Seed 20078 of ten rounds: the check took it for one that another log has taken the place of."""
    (west, *_) = RoundsRun(20_078).federation.regions
    reader, partition = RegionReader(west, "reader"), TopicPartition(TOPIC, 0)
    kept, replaced = (Batch(94, 95, epoch, -1, False, b"") for epoch in (3, 4))
    reader.positions[partition], reader._epochs[partition] = 95, kept.leader_epoch
    assert reader.stands_at(partition, 95, None)
    assert reader.stands_at(partition, 95, kept)
    assert not reader.stands_at(partition, 95, replaced)
    assert not reader.stands_at(partition, 96, None)


@pytest.mark.soak
@pytest.mark.parametrize("first", range(10_000, 12_000, 250))
def test_thousands_of_rounds(first: int) -> None:
    check(range(first, first + 250))


@pytest.mark.soak
@pytest.mark.parametrize("first", range(20_000, 20_200, 50))
def test_hundreds_of_topics_that_move_ten_times(first: int) -> None:
    check_all(
        range(first, first + 50),
        lambda seed: RoundsRun(seed, rounds=10).execute(),
        "--rounds (with rounds=10) ",
    )
