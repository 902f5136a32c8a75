"""The local engine: cores by name, and the same outcomes from one process as from several."""

from pathlib import Path

import pytest

from federation.audit import pool
from federation.audit.comparison.unit import Unit, UnitOutcome
from federation.audit.cut.bounds import AuditedRegion
from federation.audit.cut.cut import take
from federation.audit.plan import WORKER_BYTES_MIN, EngineFailed, units
from tests.spark import generate
from tests.spark.cases import NOW_MS


@pytest.mark.parametrize(("master", "count"), [("local", 1), ("local[1]", 1), ("local[12]", 12)])
def test_a_master_names_cores(master: str, count: int) -> None:
    assert pool.workers(master) == count
    assert pool.workers("local[*]") >= 1


@pytest.mark.parametrize(
    "master", ["", "local[0]", "local[x]", "yarn", "spark://a:7077", "local[2"]
)
def test_a_master_elsewhere_is_refused(master: str) -> None:
    with pytest.raises(EngineFailed, match=r"local\[N\]"):
        pool.workers(master)


def _large(folder: Path) -> list[Unit]:
    """Two partitions, together large enough for two workers, one of them with a fault."""
    value = bytes(1 << 20)
    for side in ("west", "east"):
        for partition in range(2):
            made = [
                generate.Made(
                    n, (generate.Row(0, None, value),), leader_epoch=n == 9 and side == "east"
                )
                for n in range((WORKER_BYTES_MIN >> 20) // 2 + 2)
            ]
            log = generate.cut_in_segments(generate.stored(made), {8, 16, 24})
            generate.write_partition(str(folder / side), "t", partition, log)
    cut = take(
        AuditedRegion("west", (str(folder / "west"),)),
        AuditedRegion("east", (str(folder / "east"),)),
        NOW_MS,
    )
    return [unit for key in cut.source for unit in units(cut.source[key], cut.mirror[key])]


def test_several_processes_find_what_one_finds(tmp_path: Path) -> None:
    planned = _large(tmp_path)
    tasks: list[list[UnitOutcome]] = []
    pool.run(planned, master="local[2]", payload=False, done=tasks.append)
    assert len(tasks) == 2
    one: list[UnitOutcome] = []
    pool.run(planned, master="local[1]", payload=False, done=one.extend)
    assert sorted(outcome for task in tasks for outcome in task) == sorted(one)
    assert len(one) == len(planned)
    found = [(one.partition, *one[2:5]) for outcome in one for one in outcome.findings]
    assert found == [(0, 9, 10, "epoch_mismatch"), (1, 9, 10, "epoch_mismatch")]
