"""Units follow the source's segments; tasks are packed without changing them."""

import random
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from federation.audit.comparison.digests import size
from federation.audit.comparison.findings import Side
from federation.audit.comparison.unit import Unit, UnitCopy
from federation.audit.cut.bounds import AuditedReplica, Bounds, compared_range
from federation.audit.plan import TASK_BYTES, WORKER_BYTES_MIN, pack, units
from federation.audit.segments.batches import Part
from federation.audit.segments.data_dir import DataDir
from federation.audit.segments.headers import OFFSET_MAX
from federation.audit.segments.replica_log import ReplicaLog, discover
from tests.spark import generate
from tests.spark.cases import parts_of


def bounds(folder: Path, made: list[generate.Made], cuts: set[int], start: int = 0) -> Bounds:
    log = generate.cut_in_segments(generate.stored(made), cuts)
    generate.write_partition(str(folder), "t", 0, log)
    found = discover([DataDir(str(folder))])["t", 0][0]
    return _bounds(found, max(start, found.first_offset), found.end_offset)


def _bounds(log: ReplicaLog, start: int, end: int) -> Bounds:
    return Bounds(log, start, end, end, True, (AuditedReplica(log, 0, end),), end)


def made() -> list[generate.Made]:
    return generate.batches(random.Random(1), 30)


def test_units_divide_the_compared_range_at_the_source_s_segments(tmp_path: Path) -> None:
    batches = made()
    cuts = {batches[10].base_offset, batches[20].base_offset}
    source = bounds(tmp_path / "west", batches, cuts)
    for number, mirror_cuts in enumerate((cuts, set(), {batches[15].base_offset})):
        mirror = bounds(tmp_path / f"east{number}", batches, mirror_cuts)
        planned = list(units(source, mirror))
        assert [one[2:4] for one in planned] == [
            (0, batches[10].base_offset),
            (batches[10].base_offset, batches[20].base_offset),
            (batches[20].base_offset, batches[-1].next_offset),
        ]
        assert sum(size(parts_of(one, Side.SOURCE)) for one in planned) == source.log.size  # type: ignore[union-attr]
        assert all(
            size(parts_of(one, Side.SOURCE)) == size(parts_of(one, Side.MIRROR)) for one in planned
        )


def test_where_the_mirror_has_no_boundary_two_units_are_one(tmp_path: Path) -> None:
    batches = [*generate.batches(random.Random(1), 9), *()]
    whole = generate.Made(
        batches[-1].next_offset, tuple(generate.Row(n, None, b"x") for n in range(4))
    )
    halves = [
        generate.Made(
            whole.base_offset + start, tuple(generate.Row(n, None, b"x") for n in range(2))
        )
        for start in (0, 2)
    ]
    source = bounds(tmp_path / "west", [*batches, *halves], {halves[1].base_offset})
    mirror = bounds(tmp_path / "east", [*batches, whole], set())
    assert [one[2:4] for one in units(source, mirror)] == [(0, whole.next_offset)]


def test_bytes_outside_the_compared_range_are_not_read(tmp_path: Path) -> None:
    batches = made()
    cuts = {batches[10].base_offset, batches[20].base_offset}
    source = bounds(tmp_path / "west", batches, cuts)
    mirror = bounds(tmp_path / "east", batches[5:25], {batches[15].base_offset})
    planned = list(units(source, mirror))
    assert planned[0].from_offset == batches[5].base_offset
    assert planned[-1].to_offset == batches[24].next_offset
    inside = sum(len(one.encoded()) for one in batches[5:25])
    assert sum(size(parts_of(one, Side.SOURCE)) for one in planned) == inside
    assert sum(size(parts_of(one, Side.MIRROR)) for one in planned) == inside


def test_a_log_start_within_a_batch_reads_that_batch(tmp_path: Path) -> None:
    batches = [one for one in made() if len(one.rows) > 1]
    source = bounds(tmp_path / "west", batches, set())
    mirror = bounds(tmp_path / "east", batches[3:], set(), start=batches[3].base_offset + 1)
    (unit,) = units(source, mirror)
    assert unit.from_offset == batches[3].base_offset + 1
    assert (
        size(parts_of(unit, Side.SOURCE))
        == size(parts_of(unit, Side.MIRROR))
        == sum(len(one.encoded()) for one in batches[3:])
    )


def test_nothing_in_common_makes_no_units(tmp_path: Path) -> None:
    batches = made()
    early = bounds(tmp_path / "west", batches[:10], set())
    late = bounds(tmp_path / "east", batches[20:], set())
    nothing = Bounds(None, 0, 0, 0, False)
    for source, mirror in ((early, late), (late, early), (early, nothing), (nothing, early)):
        start, stop = compared_range(source, mirror)
        assert start == stop
        assert list(units(source, mirror)) == []


def test_a_log_without_files_has_no_bytes(tmp_path: Path) -> None:
    source = bounds(tmp_path / "west", made(), set())
    (tmp_path / "east" / "t-0").mkdir(parents=True)
    empty = discover([DataDir(str(tmp_path / "east"))])["t", 0][0]
    (unit,) = units(source, _bounds(empty, 0, source.end))
    assert parts_of(unit, Side.MIRROR) == ()
    assert size(parts_of(unit, Side.SOURCE)) == source.log.size  # type: ignore[union-attr]


@given(
    sizes=st.lists(st.integers(0, 4 * TASK_BYTES), max_size=40),
    workers=st.integers(1, 64),
)
def test_packing_loses_nothing_and_balances(sizes: list[int], workers: int) -> None:
    planned = [
        Unit("t", number, 0, 1, (UnitCopy(Side.SOURCE, "", (Part("", 0, size, 0, OFFSET_MAX),)),))
        for number, size in enumerate(sizes)
    ]
    tasks = pack(planned, workers)
    assert sorted(unit for task in tasks for unit in task) == sorted(planned)
    assert all(tasks)
    if sum(sizes) < WORKER_BYTES_MIN:
        assert len(tasks) <= 1
    loads = [sum(unit.size for unit in task) for task in tasks]
    if len(tasks) > 1:
        assert max(loads) - min(loads) <= max(sizes)
    assert pack(planned[::-1], workers) == tasks
