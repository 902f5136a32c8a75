"""How far behind: against a live source, against a dead one, and where nothing can be told."""

import random
from pathlib import Path

from federation.audit.cut.bounds import Bounds
from federation.audit.cut.lag import Lag, lag
from federation.audit.segments.data_dir import DataDir
from federation.audit.segments.replica_log import discover
from tests.spark import generate

NOTHING = Bounds(None, 0, 0, 0, False)


def source(folder: Path, *, listed: bool) -> tuple[Bounds, list[generate.Made]]:
    made = generate.batches(random.Random(1), 20)
    cuts = {made[8].base_offset}
    generate.write_partition(
        str(folder), "t", 0, generate.cut_in_segments(generate.stored(made), cuts)
    )
    log = discover([DataDir(str(folder))])["t", 0][0]
    return Bounds(log, 0, log.end_offset, log.end_offset, listed), made


def mirror(end: int) -> Bounds:
    return Bounds(None, 0, end, end, True)


def test_a_mirror_that_is_even_or_ahead_has_none(tmp_path: Path) -> None:
    bounds, made = source(tmp_path, listed=True)
    assert lag(bounds, mirror(made[-1].next_offset), 10**15) == Lag(0, 0, 0)
    assert lag(bounds, mirror(made[-1].next_offset + 9), 10**15) == Lag(0, 0, 0)


def test_against_a_live_source_the_age_counts_up_to_the_cut(tmp_path: Path) -> None:
    bounds, made = source(tmp_path, listed=True)
    found = lag(bounds, mirror(made[5].base_offset), made[5].first_timestamp + 1_234)
    assert found.ms == 1_234
    assert found.offsets == made[-1].next_offset - made[5].base_offset
    assert found.bytes == sum(len(one.encoded()) for one in made[5:])


def test_clocks_that_disagree_never_make_a_negative_age(tmp_path: Path) -> None:
    bounds, made = source(tmp_path, listed=True)
    assert lag(bounds, mirror(made[5].base_offset), 0).ms == 0


def test_against_a_dead_source_the_age_counts_up_to_its_newest_record(tmp_path: Path) -> None:
    bounds, made = source(tmp_path, listed=False)
    found = lag(bounds, mirror(made[5].base_offset), 10**15)
    assert bounds.log is not None
    assert found.ms == bounds.log.newest_ms - made[5].first_timestamp


def test_what_the_source_has_expired_meanwhile_is_not_lag(tmp_path: Path) -> None:
    bounds, made = source(tmp_path, listed=True)
    start = made[10].base_offset
    found = lag(bounds._replace(log_start=start), mirror(made[5].base_offset), 10**15)
    assert found.offsets == made[-1].next_offset - start


def test_a_promise_without_a_log_is_lag_in_offsets_alone(tmp_path: Path) -> None:
    bounds, made = source(tmp_path, listed=True)
    assert lag(NOTHING._replace(end=7), mirror(3), 0) == Lag(4, 0, 0)
    end = made[-1].next_offset
    assert lag(bounds._replace(end=end + 5), mirror(end), 0) == Lag(5, 0, 0)
