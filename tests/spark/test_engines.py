"""The findings are a function of the two logs and the cut, whatever engine reads them and however it is cut up."""

import json
import random
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from federation.audit import jobs, pool
from federation.audit.comparison.unit import UnitOutcome
from federation.audit.cut.bounds import AuditedRegion
from federation.audit.cut.cut import take
from federation.audit.options import Options
from federation.audit.plan import EngineFailed, units
from federation.audit.report.tables import write_parquet
from federation.commands.audit.command import audit as command
from tests.spark import facts, generate
from tests.spark.cases import NOW_MS, audit, planted, unexpected
from tests.spark.file_plants import FILE_PLANTS
from tests.spark.file_sides import SIDES, Sides
from tests.spark.plants import PLANTS

if TYPE_CHECKING:
    from pyspark import SparkContext

pytestmark = pytest.mark.spark
PARTITIONS = 30


@pytest.fixture(scope="module")
def regions(tmp_path_factory: pytest.TempPathFactory) -> tuple[AuditedRegion, AuditedRegion]:
    """Partitions of every codec, each with faults of its own."""
    folder = tmp_path_factory.mktemp("regions")
    for number in range(PARTITIONS):
        seed = random.Random(number)
        names = tuple(seed.sample(sorted(PLANTS), seed.choice((0, 1, 2))))
        case = planted(str(folder / "one"), 1000 + number, names)
        for side, data in (("west", case.source), ("east", case.mirror)):
            (folder / side).mkdir(exist_ok=True)
            shutil.move(f"{data}/flights-0", folder / side / f"flights-{number}")
    for number, (name, plant) in enumerate(FILE_PLANTS.items(), PARTITIONS):
        seed = random.Random(name)
        sides = Sides(folder / name, seed)
        plant(sides.folders[seed.choice(sorted(SIDES))], sides.made, seed)
        for side, data in sides.folders.items():
            shutil.move(data, folder / side / f"flights-{number}")
    return facts.region("west", str(folder / "west")), facts.region("east", str(folder / "east"))


def tables(folder: Path, regions: tuple[AuditedRegion, AuditedRegion], **how: str) -> list[bytes]:
    folder.mkdir()
    source, mirror = regions
    result = audit(Options(source=source, mirror=mirror, **how))  # type: ignore[arg-type]
    paths = write_parquet(str(folder), result.findings, result.partitions)
    return [Path(path).read_bytes() for path in paths]


def test_spark_and_processes_leave_the_same_tables_byte_by_byte(
    tmp_path: Path, regions: tuple[AuditedRegion, AuditedRegion], spark: "SparkContext"
) -> None:
    assert spark.version
    local = tables(tmp_path / "local", regions, engine="local", master="local[1]")
    assert tables(tmp_path / "spark", regions, engine="spark", master="local[2]") == local


def test_however_units_are_packed_the_outcomes_are_the_same(
    regions: tuple[AuditedRegion, AuditedRegion], spark: "SparkContext"
) -> None:
    cut = take(*regions, NOW_MS)
    planned = [unit for key in cut.source for unit in units(cut.source[key], cut.mirror[key])]
    random.Random(1).shuffle(planned)
    local: list[UnitOutcome] = []
    on_spark: list[UnitOutcome] = []
    pool.run(planned, master="local[1]", payload=True, done=local.extend)
    jobs.run(planned[::-1], master="local[2]", payload=True, done=on_spark.extend)
    assert sorted(on_spark) == sorted(local)
    assert len(on_spark) == len(planned) > PARTITIONS
    assert spark.defaultParallelism == 2


def test_logs_of_many_tasks_are_compared_whole(tmp_path: Path, spark: "SparkContext") -> None:
    """Large enough that both cores get a task of their own."""
    value = bytes(1 << 20)
    for side in ("west", "east"):
        made = [generate.Made(n, (generate.Row(0, None, value),)) for n in range(100)]
        log = generate.stored(made)
        if side == "east":
            log[61] = made[61], generate.flipped(made[61].encoded(), 70_000)
        cuts = set(range(0, 100, 12))
        generate.write_partition(str(tmp_path / side), "t", 0, generate.cut_in_segments(log, cuts))
    regions = (
        facts.region("west", str(tmp_path / "west")),
        facts.region("east", str(tmp_path / "east")),
    )
    result = audit(Options(source=regions[0], mirror=regions[1], engine="spark", master="local[2]"))
    assert [(one.kind, one.side, *one[2:4]) for one in result.findings] == [
        ("damaged", "mirror", 61, 62)
    ]
    (row,) = result.partitions
    assert (row.offsets, row.source_coverage, row.mirror_coverage) == (100, 1, 1)
    assert spark.defaultParallelism == 2


@pytest.mark.parametrize("name", ["swapped", "resplit", "half_a_batch", "duplicate_on_both"])
def test_faults_that_no_set_could_show_are_found_on_spark(
    tmp_path: Path, name: str, spark: "SparkContext"
) -> None:
    case = planted(str(tmp_path), 5, (name,))
    result = audit(case.options(engine="spark", master="local[2]"))
    assert unexpected(case, result.findings) == []
    assert spark.version


@pytest.mark.parametrize(("names", "code"), [((), 0), (("missing",), 1), (("zeros",), 5)])
def test_the_command_runs_on_spark_by_default(
    tmp_path: Path, names: tuple[str, ...], code: int, spark: "SparkContext"
) -> None:
    case = planted(str(tmp_path), 2, names)
    sides = ["--source-dir", case.source, "--mirror-dir", case.mirror, "--replicas", "all"]
    said = CliRunner().invoke(command, ["run", *sides, "--out", str(tmp_path / "out"), "--json"])
    assert said.exit_code == code, said.output
    assert json.loads(said.stdout)["engine"]["name"] == "spark"
    assert spark.version


def test_what_spark_refuses_is_told_as_a_failure_of_the_engine(
    tmp_path: Path, spark: "SparkContext"
) -> None:
    case = planted(str(tmp_path), 2, ())
    options = case.options()
    cut = take(options.source, options.mirror, NOW_MS)
    (unit, *_) = units(*(side["flights", 0] for side in (cut.source, cut.mirror)))
    source, mirror = unit.copies
    nowhere = source.parts[0]._replace(path=None)  # type: ignore[arg-type]
    impossible = unit._replace(copies=(source._replace(parts=(nowhere,)), mirror))
    with pytest.raises(EngineFailed, match=r"Spark on local\[2\]: "):
        jobs.run([impossible], master="local[2]", payload=False, done=lambda outcomes: None)
    assert spark.version
