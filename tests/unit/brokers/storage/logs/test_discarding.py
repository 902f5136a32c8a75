"""Sealed tails that are discarded: gone for good, or there as a whole."""

from random import Random

import pytest

from brokers.effects import SealTail
from brokers.events import TailSealed
from brokers.ids import Offset
from brokers.storage.logs.discarding import discard
from brokers.storage.logs.orphans import DISCARDED_SUFFIX, stored_bytes
from tests.sim.fused import Fused
from tests.unit.brokers.storage.driver import TP, Driver

HOME = f"orphans/{TP}"
KEPT, GONE = "30-40.e0", "8-40.e0"


class PowerCut(Exception):
    """Before a change of the disk."""


class Disk(Fused):
    """`left`: changes until the power goes; negative: it does not."""

    left = -1

    def burn(self) -> None:
        if self.left == 0:
            raise PowerCut
        self.left -= 1


def seal(driver: Driver, offset: Offset) -> None:
    while True:
        (answer,) = driver.perform([SealTail(7, TP, offset, "test")])
        assert isinstance(answer, TailSealed) and not answer.error
        if answer.done:
            return


def of_two_tails() -> Disk:
    disk = Disk()
    driver = Driver(disk)
    for _ in range(20):
        driver.append_next(2, size=200)
    seal(driver, 30)
    seal(driver, 8)
    assert sorted(disk.list(HOME)) == [KEPT, GONE]
    return disk


def test_what_is_discarded_does_not_come_back_with_the_power() -> None:
    disk = of_two_tails()
    discard(disk, [f"{TP}/{GONE}", f"{TP}/1-2.e0"])
    disk.crash(Random(0))
    assert list(disk.list(HOME)) == [KEPT]


@pytest.mark.parametrize("changes", range(3))
def test_a_power_cut_leaves_a_whole_tail_or_none_and_the_next_discard_removes_what_is_left(
    changes: int,
) -> None:
    disk = of_two_tails()
    files, held = sorted(disk.list(f"{HOME}/{GONE}")), stored_bytes(disk)
    disk.left = changes
    try:
        discard(disk, [f"{TP}/{GONE}"])
    except PowerCut:
        assert changes < 2  # its name, and what is left
    disk.left = -1
    disk.crash(Random(changes))
    if disk.exists(f"{HOME}/{GONE}"):
        assert sorted(disk.list(f"{HOME}/{GONE}")) == files and stored_bytes(disk) == held
    else:
        assert stored_bytes(disk) < held  # what has no name is not counted
    discard(disk, [f"{TP}/{GONE}"])
    assert list(disk.list(HOME)) == [KEPT]


def test_a_tail_that_was_sealed_again_is_discarded_again() -> None:
    disk = of_two_tails()
    disk.rename(f"{HOME}/{GONE}", f"{HOME}/{GONE}{DISCARDED_SUFFIX}")
    seal(Driver(disk), 8)
    discard(disk, [f"{TP}/{GONE}"])
    assert list(disk.list(HOME)) == [KEPT]
