"""An audit that was stopped goes on where it stood, and compares nothing twice that it has not to."""

import json
import random
from pathlib import Path

import pytest

from federation.audit.engines import AuditProgress
from federation.audit.journal import Journal
from federation.audit.options import Options
from federation.audit.result import AuditResult
from federation.audit.run import run_audit
from federation.audit.verdict.verdicts import Verdict
from tests.spark import facts, generate
from tests.spark.cases import NOW_MS


class Stopped(Exception):
    """As a kill would, between two units."""


class Logs:
    """Six segments on both sides; `audit` may be stopped after some of them."""

    def __init__(self, folder: Path) -> None:
        made = generate.batches(random.Random(1), 60)
        bases = {made[number].base_offset for number in range(10, 60, 10)}
        self.journal = str(folder / "progress.jsonl")
        self.options = Options(engine="local", master="local[1]", **{
            side: facts.region(name, str(folder / name))
            for name, side in (("west", "source"), ("east", "mirror"))
            if generate.write_partition(
                str(folder / name), "t", 0, generate.cut_in_segments(generate.stored(made), bases)
            )
        })  # fmt: skip
        self.segments = sorted((folder / "east" / "t-0").glob("*.log"))
        self.sizes = [2 * path.stat().st_size for path in self.segments]

    def audit(
        self, stop_after: int = 99, *, resume: bool = True, options: str = ""
    ) -> tuple[AuditResult, list[int]]:
        """The result, and the bytes of each step of the progress."""
        seen: list[int] = []

        def watched(size: int) -> None:
            if len(seen) > stop_after:
                raise Stopped
            seen.append(size)

        with Journal(self.journal, resume=resume, options=options) as journal:
            watch = AuditProgress(lambda size: None, watched, journal)
            return run_audit(self.options, lambda: NOW_MS, watch), seen

    def damage(self, number: int) -> None:
        """The same size, so that only who reads it again can see it."""
        path = self.segments[number]
        path.write_bytes(generate.flipped(path.read_bytes(), 80))


@pytest.fixture
def logs(tmp_path: Path) -> Logs:
    return Logs(tmp_path)


def test_what_was_compared_before_the_kill_is_not_read_again(logs: Logs) -> None:
    with pytest.raises(Stopped):
        logs.audit(stop_after=2)
    logs.damage(0)
    result, seen = logs.audit()
    assert result.verdict is Verdict.KEPT
    assert seen == [sum(logs.sizes[:3]), *logs.sizes[3:]]
    assert not Path(logs.journal).exists()


def test_without_resume_everything_is_read(logs: Logs) -> None:
    with pytest.raises(Stopped):
        logs.audit(stop_after=2)
    logs.damage(0)
    result, seen = logs.audit(resume=False)
    assert (result.verdict, seen) == (Verdict.BROKEN, [0, *logs.sizes])


def test_other_options_and_other_bytes_are_read_again(logs: Logs) -> None:
    with pytest.raises(Stopped):
        logs.audit(stop_after=2)
    _, seen = logs.audit(options="payload")
    assert seen[0] == 0
    with pytest.raises(Stopped):
        logs.audit(stop_after=2)
    longer = logs.segments[0]
    longer.write_bytes(longer.read_bytes() + b"x")
    _, seen = logs.audit()
    assert seen[0] == sum(logs.sizes[1:3])


def test_a_line_that_was_torn_or_is_nonsense_is_not_there(logs: Logs) -> None:
    with pytest.raises(Stopped):
        logs.audit(stop_after=2)
    path = Path(logs.journal)
    lines = path.read_text().splitlines()
    assert len(lines) == 3
    path.write_text("\n".join([lines[0], "{}", '["x", []]', lines[1], lines[2][:40]]))
    _, seen = logs.audit()
    assert seen[0] == sum(logs.sizes[:2])


def test_what_could_not_be_read_is_tried_again(logs: Logs) -> None:
    kept = logs.segments[1].read_bytes()
    logs.segments[1].write_bytes(bytes(len(kept)))
    with pytest.raises(Stopped):
        logs.audit(stop_after=3)
    units = [json.loads(line)[1][2] for line in Path(logs.journal).read_text().splitlines()]
    assert int(logs.segments[1].stem) not in units
    logs.segments[1].write_bytes(kept)
    assert logs.audit()[0].verdict is Verdict.KEPT
