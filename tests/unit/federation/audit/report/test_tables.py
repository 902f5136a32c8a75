"""What an audit leaves for machines."""

import json
import random
from pathlib import Path

from pyarrow import parquet

from federation.audit.comparison.findings import Class
from federation.audit.report.tables import SCHEMA, summary, write_json, write_parquet
from federation.audit.verdict.verdicts import PartitionVerdict
from tests.spark.cases import Case, audit, planted

ADDED = {
    "schema",
    "verdict",
    "exit_code",
    "said",
    "promises",
    "coverage",
    "cut",
    "engine",
    "totals",
}


def broken(folder: Path) -> Case:
    return planted(str(folder), 3, ("missing", "damaged_mirror"))


def test_the_summary_says_the_verdict_its_scope_and_every_partition_and_finding(
    tmp_path: Path,
) -> None:
    case = broken(tmp_path)
    result = audit(case.options())
    document = json.loads(json.dumps(summary(result, case.options(), 1.5)))
    assert document.keys() >= ADDED
    assert (document["schema"], document["verdict"], document["exit_code"]) == (SCHEMA, "broken", 1)
    assert document["totals"]["broken"] == document["totals"]["partitions"] == 1
    assert document["totals"]["faults"] == 2
    assert document["said"].startswith("1 partition differs, 2 faults")
    assert document["cut"]["source"]["region"] == "west"
    assert document["cut"]["mirror"]["ends_from"] == "checkpoint"
    assert document["partitions"][0].keys() == set(PartitionVerdict._fields)
    assert {(one["class"], one["severity"]) for one in document["findings"]} == {
        ("damaged", "fault"),
        ("missing_on_mirror", "fault"),
    }
    assert all(isinstance(one["evidence"], dict) for one in document["findings"])


def test_kept_and_unknown_have_sentences_of_their_own(tmp_path: Path) -> None:
    for names, sentence in (((), "no difference"), (("zeros",), "1 partition could not be fully")):
        case = planted(str(tmp_path / str(len(names))), 1, names)
        result = audit(case.options())
        assert summary(result, case.options(), 0)["said"].startswith(sentence)
    behind = audit(case.options(budget_lag_ms=0))
    assert summary(behind, case.options(), 0)["verdict"] == "unknown"


def test_tables_are_equal_byte_by_byte_for_equal_results(tmp_path: Path) -> None:
    case = broken(tmp_path)
    tables = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        result = audit(case.options())
        paths = write_parquet(str(folder), result.findings, result.partitions)
        tables.append([Path(path).read_bytes() for path in paths])
    assert tables[0] == tables[1]


def test_tables_hold_what_was_found_in_columns_of_fixed_types(tmp_path: Path) -> None:
    case = broken(tmp_path)
    result = audit(case.options())
    findings, partitions = write_parquet(str(tmp_path), result.findings, result.partitions)
    table = parquet.read_table(findings)
    rows = table.to_pylist()
    assert [(row["class"], row["from_offset"]) for row in rows] == [
        (one.kind.value, one.from_offset) for one in result.findings
    ]
    assert str(table.schema.field("from_offset").type) == "int64"
    assert str(table.schema.field("evidence").type) == "string"
    (row,) = parquet.read_table(partitions).to_pylist()
    assert row == result.partitions[0]._asdict()


def test_tables_without_rows_have_the_same_columns(tmp_path: Path) -> None:
    case = broken(tmp_path)
    full = write_parquet(
        str(tmp_path), audit(case.options()).findings, audit(case.options()).partitions
    )
    schemas = [parquet.read_schema(path) for path in full]
    assert [parquet.read_schema(path) for path in write_parquet(str(tmp_path), [], [])] == schemas


def test_json_is_written_whole(tmp_path: Path) -> None:
    document = {"numbers": [random.Random(1).random()], "class": Class.LAG.value}
    write_json(str(tmp_path / "a.json"), document)
    assert json.loads((tmp_path / "a.json").read_text()) == document
