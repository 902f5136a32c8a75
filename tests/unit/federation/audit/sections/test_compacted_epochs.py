"""Leader epochs that compaction has left no batch of: a copy may lack the one that it begins in, and no other."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from federation.audit.sections.section import Problem, Section
from federation.audit.segments.checkpoints import COMPLETE_FROM
from federation.audit.verdict.verdicts import Verdict
from tests.spark import generate
from tests.spark.section_plants import EPOCHS, KEY, SectionSides


class Compacted:
    """Both regions lack the first batches, of three leader epochs that begin at batches 0, 15 and 30. The source
    has all three in its checkpoint, and the mirror those that are given."""

    def __init__(self, folder: Path, *, without: int, left: tuple[int, ...] = ()) -> None:
        self.sides = SectionSides(folder)
        self.made = self.sides.made
        self.starts = {epoch: self.made[15 * epoch].base_offset for epoch in range(3)}
        for path in self.sides.folders.values():
            kept = [*(self.made[number] for number in left), *self.made[without:]]
            generate.write_partition(str(path.parent), *KEY, {0: generate.stored(kept)})
            generate.write_epochs(str(path), self.starts)

    def cleaned(self, until: int) -> None:
        for path in self.sides.folders.values():
            generate.write_checkpoint(str(path.parent), COMPLETE_FROM, {KEY: until})

    def audited(self, mirror: Mapping[int, int]) -> tuple[Section, tuple[Problem, ...]]:
        generate.write_epochs(str(self.sides.folders["east"]), dict(mirror))
        found = next(one for one in self.sides.audit().sections if one.name == EPOCHS)
        return found, found.problems


def later(starts: Mapping[int, int], first: int = 1) -> dict[int, int]:
    return {epoch: offset for epoch, offset in starts.items() if epoch >= first}


def test_the_epoch_that_a_copy_begins_in_may_be_lacking_and_is_noted(tmp_path: Path) -> None:
    log = Compacted(tmp_path, without=15)
    log.cleaned(log.made[20].base_offset)
    section, (problem,) = log.audited(later(log.starts))
    assert (problem.offset, problem.severity) == (0, "note")
    assert problem.replica.startswith("mirror") and "nothing of epoch 0" in problem.because
    assert section.verdict is Verdict.KEPT


def test_a_copy_may_begin_later_in_the_same_epoch(tmp_path: Path) -> None:
    log = Compacted(tmp_path, without=5)
    first = log.made[5].base_offset
    log.cleaned(first)
    section, (problem,) = log.audited({**log.starts, 0: first})
    assert (problem.offset, problem.severity, section.verdict) == (0, "note", Verdict.KEPT)
    for begin, until in ((first, first - 1), (log.made[6].base_offset, log.made[9].base_offset)):
        log.cleaned(until)
        assert "fault" in {one.severity for one in log.audited({**log.starts, 0: begin})[1]}


def test_a_log_that_was_not_compacted_there_lacks_no_epoch(tmp_path: Path) -> None:
    log = Compacted(tmp_path, without=15)
    for until in (0, log.starts[1] - 1):
        log.cleaned(until)
        assert "fault" in {one.severity for one in log.audited(later(log.starts))[1]}


@pytest.mark.parametrize("left", [0, 14])
def test_an_epoch_that_has_a_batch_is_not_lacking(tmp_path: Path, left: int) -> None:
    log = Compacted(tmp_path, without=15, left=(left,))
    log.cleaned(log.made[20].base_offset)
    assert "fault" in {one.severity for one in log.audited(later(log.starts))[1]}


def test_of_any_other_epoch_a_cleaning_keeps_the_first_batch(tmp_path: Path) -> None:
    """Who lacks it tells a former leader of epoch 0 that its log agrees further than it does."""
    log = Compacted(tmp_path, without=30)
    log.cleaned(log.made[35].base_offset)
    for mirror in (later(log.starts, 2), {0: 0, **later(log.starts, 2)}):
        assert {one.severity for one in log.audited(mirror)[1]} == {"fault"}


def test_the_next_epoch_begins_where_it_does_elsewhere(tmp_path: Path) -> None:
    log = Compacted(tmp_path, without=16)
    log.cleaned(log.made[20].base_offset)
    moved = {**later(log.starts), 1: log.made[16].base_offset}
    assert "fault" in {one.severity for one in log.audited(moved)[1]}
