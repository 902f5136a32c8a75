"""The audit at the end of a run: it finds what is changed on the disks of a federation that kept everything."""

from collections.abc import Callable

import pytest

from tests.sim.checks import p11_audit_agrees
from tests.sim.disks import Disk
from tests.sim.evidence import batches, log_start, parse, partitions
from tests.sim.runs import Run

SEED = 12  # its mirror still follows, and holds records


@pytest.fixture
def run() -> Run:
    run = Run(SEED)
    run.execute()
    assert run.federation.evidence.follows_source
    return run


def log_of(disk: Disk) -> str:
    """The longest segment of a mirror above its log start."""
    paths = [
        f"{partition}/{name}"
        for partition in partitions(disk)
        for name in disk.list(str(partition))
        if name.endswith(".log") and int(name.removesuffix(".log")) >= log_start(disk, partition)
    ]
    return max(paths, key=disk.size)


def a_bit_flips(disk: Disk) -> None:
    path = log_of(disk)
    place = disk.size(path) - 3
    disk.damage(path, place, bytes([bytes(disk.read(path, place, 1))[0] ^ 4]))


def a_head_goes_away(disk: Disk) -> None:
    """Nothing in the ledger, and no retention, takes the first segments of a log."""
    for partition in partitions(disk):
        found = [
            one for one in batches(disk, partition) if one.base_offset >= log_start(disk, partition)
        ]
        names = [name for name in disk.list(str(partition)) if name.endswith(".log")]
        if len(names) > 1 and found:
            for suffix in (".log", ".index", ".timeindex"):
                disk.remove(f"{partition}/{names[0].removesuffix('.log')}{suffix}")
            return
    raise AssertionError("no log has two segments: take another seed")


def a_batch_goes_away(disk: Disk) -> None:
    path = log_of(disk)
    whole = bytes(disk.read(path, 0, disk.size(path)))
    first, _, *others = parse(whole)
    disk.replace(path, first.data + b"".join(one.data for one in others))


@pytest.mark.parametrize("damage", [a_bit_flips, a_head_goes_away, a_batch_goes_away])
def test_what_is_changed_behind_the_regions_backs_breaks_p11(
    run: Run, damage: Callable[[Disk], None]
) -> None:
    evidence = run.federation.evidence
    assert list(p11_audit_agrees.at_end(evidence)) == []
    damage(evidence.regions[evidence.destination].disk)
    (found,) = p11_audit_agrees.at_end(evidence)
    assert "says broken" in found
