"""Replicas keep their promises under any faults; and what would break them is found."""

import pytest

from tests.playbooks.replication.checker import Broken
from tests.playbooks.replication.plants import CUT_TO_HIGH_WATERMARK, FORGET_PENDING
from tests.playbooks.replication.storms import Plant, Storm
from tests.quick import some


@pytest.mark.parametrize("seed", some(range(40), quick=4))
def test_replicas_keep_what_was_promised_and_become_one(seed: int) -> None:
    check_storm(seed)


def check_storm(seed: int) -> None:
    storm = Storm(seed)
    storm.run()
    assert storm.checker.acknowledged or storm.controller.placed.leader_epoch > 10


# Seeds that once found something.
@pytest.mark.parametrize("seed", some([112, 190, 1015, 1116, 1148]))
def test_what_was_found_once_is_not_found_again(seed: int) -> None:
    storm = Storm(seed)
    storm.run()
    assert len(storm.checker.acknowledged) <= storm.values


@pytest.mark.soak
@pytest.mark.parametrize("block", range(40))
def test_many_more_storms(block: int) -> None:
    for seed in range(1_000 + 50 * block, 1_050 + 50 * block):
        check_storm(seed)


@pytest.mark.parametrize(
    "plant",
    [CUT_TO_HIGH_WATERMARK, FORGET_PENDING],
    ids=["cut to the high watermark", "forget pending"],
)
def test_a_planted_bug_is_found(plant: Plant) -> None:
    with pytest.raises(Broken):
        _run_all(150, plant)


def _run_all(number: int, plant: Plant) -> None:
    for seed in range(number):
        Storm(seed, plant).run()
