"""Whatever happens to a mirror's bytes, an audit never calls it kept, never fails, and says the same every time."""

import random
import shutil
from pathlib import Path

import pytest

from federation.audit.result import ExitCode
from federation.audit.segments.batches import Break, Part, walk
from federation.audit.segments.checkpoints import HIGH_WATERMARKS
from federation.audit.segments.headers import OFFSET_MAX
from federation.audit.verdict.verdicts import Verdict
from tests.quick import some
from tests.spark import generate
from tests.spark.cases import Case, audit


def corrupted(seed: random.Random, data: bytes) -> bytes:
    """Bytes flipped, cut out, doubled, zeroed, moved, replaced or cut off."""
    start = seed.randrange(len(data))
    stop = min(len(data), start + seed.choice((1, 7, 61, 300, 2000)))
    match seed.randrange(7):
        case 0:
            return generate.flipped(data, start, seed.randrange(8))
        case 1:
            return data[:start] + data[stop:]
        case 2:
            return data[:stop] + data[start:]
        case 3:
            return data[:start] + bytes(stop - start) + data[stop:]
        case 4:
            return data[stop:] + data[:stop]
        case 5:
            return data[:start] + seed.randbytes(stop - start) + data[stop:]
        case _:
            return data[:start]


def written(folder: Path, seed: random.Random) -> Case:
    made = generate.batches(seed, seed.randrange(3, 30), seed.choice(generate.CODECS))
    cuts = {batch.base_offset for batch in made if seed.random() < 0.2}
    for side in ("west", "east"):
        segments = generate.cut_in_segments(generate.stored(made), cuts)
        generate.write_partition(str(folder / side), "flights", 0, segments)
        ends = {("flights", 0): made[-1].next_offset}
        generate.write_checkpoint(str(folder / side), HIGH_WATERMARKS, ends)
    return Case(str(folder / "west"), str(folder / "east"), (), "", ())


def last_name(path: Path) -> str:
    return sorted(path.parent.glob("*.log"))[-1].name


def only_a_torn_tail(whole: bytes, damaged: bytes, path: Path) -> bool:
    """Only bytes behind the end of the log, and no batch at their start: no reader gets past that."""
    if not damaged.startswith(whole) or damaged == whole:
        return False
    tail = walk(Part(str(path), len(whole), len(damaged), 0, OFFSET_MAX))
    return isinstance(next(tail), Break)


@pytest.mark.parametrize("start", some(range(0, 400, 50)))
def test_no_corruption_is_ever_called_kept(tmp_path: Path, start: int) -> None:
    for number in range(start, start + 50):
        seed = random.Random(number)
        case = written(tmp_path, seed)
        assert audit(case.options()).exit_code is ExitCode.KEPT
        side = seed.choice((case.source, case.mirror, case.mirror))
        path = seed.choice(sorted(Path(side, "flights-0").glob("*.log")))
        whole = path.read_bytes()
        damaged = whole
        for _ in range(seed.choice((1, 1, 3))):
            damaged = corrupted(seed, damaged) or b"\0"
        path.write_bytes(damaged)
        result = audit(case.options())
        torn = path.name == last_name(path) and only_a_torn_tail(whole, damaged, path)
        assert (result.verdict is Verdict.KEPT) == (damaged == whole or torn), number
        assert audit(case.options()) == result
        if result.verdict is Verdict.BROKEN:
            assert result.partitions[0].first_differing_offset >= 0
        for one in (tmp_path / "west", tmp_path / "east"):
            shutil.rmtree(one)


def test_a_mirror_of_another_log_altogether_is_broken(tmp_path: Path) -> None:
    for number in range(20):
        seed = random.Random(number)
        for side in ("west", "east"):
            made = generate.batches(seed, 20)
            generate.write_partition(str(tmp_path / side), "flights", 0, {0: generate.stored(made)})
        case = Case(str(tmp_path / "west"), str(tmp_path / "east"), (), "", ())
        assert audit(case.options()).verdict is Verdict.BROKEN
