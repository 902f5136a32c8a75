"""`causeway audit run` as a script sees it: exit codes, JSON, refusals with a reason."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from federation.commands.audit.command import audit
from tests.spark.cases import Case, planted


def run(*arguments: str) -> Result:
    return CliRunner().invoke(
        audit, ["run", "--engine", "local", "--master", "local[1]", *arguments]
    )


def sides(case: Case) -> list[str]:
    return ["--source-dir", case.source, "--mirror-dir", case.mirror, "--replicas", "all"]


@pytest.mark.parametrize(
    ("names", "code", "verdict"),
    [((), 0, "kept"), (("missing",), 1, "broken"), (("zeros",), 5, "unknown")],
)
def test_exit_code_and_json_say_the_verdict(
    tmp_path: Path, names: tuple[str, ...], code: int, verdict: str
) -> None:
    case = planted(str(tmp_path), 2, names)
    said = run(*sides(case), "--output", str(tmp_path / "out"), "--json")
    assert said.exit_code == code, said.output
    document = json.loads(said.stdout)
    assert (document["verdict"], document["exit_code"]) == (verdict, code)
    for path in (document["html"], document["json"], *document["parquet"]):
        assert Path(path).parent == tmp_path / "out"
        assert Path(path).stat().st_size > 0
    assert json.loads(Path(document["json"]).read_text()) == document


def test_kept_but_over_a_budget_is_3(tmp_path: Path) -> None:
    case = planted(str(tmp_path), 2, ())
    last = sorted(Path(case.mirror, "flights-0").glob("*.log"))[-1]
    for path in last.parent.glob(f"{last.stem}.*"):
        path.unlink()
    said = run(*sides(case), "--out", str(tmp_path / "out"), "--budget-lag-records", "0")
    assert said.exit_code == 3
    assert "over budget: flights-0" in said.stdout


def test_people_get_a_table_a_sentence_and_the_report(tmp_path: Path) -> None:
    case = planted(str(tmp_path), 2, ("missing",))
    said = run(*sides(case), "--out", str(tmp_path / "out"))
    assert "missing on mirror" in said.stdout
    assert "broken: 1 partition differs" in said.stdout
    assert str(tmp_path / "out" / "report.html") in said.stdout


def federation(folder: Path, case: Case) -> str:
    regions = [
        {
            "name": name,
            "bootstrap": "127.0.0.1:1",
            "admin": "127.0.0.1:1",
            "nodes": [{"id": 1, "pid": None, "kafka": "127.0.0.1:1", "data": data, "log": "x"}],
        }
        for name, data in (("west", case.source), ("east", case.mirror))
    ]
    (folder / "federation.json").write_text(json.dumps({"regions": regions}))
    return str(folder)


def test_a_local_federation_is_found_by_its_directory(tmp_path: Path) -> None:
    case = planted(str(tmp_path), 2, ())
    where = ["--dir", federation(tmp_path, case), "--source", "west", "--mirror", "east"]
    where += ["--replicas", "all"]
    said = run(*where, "--out", str(tmp_path / "out"), "--json")
    assert said.exit_code == 0, said.output
    cut = json.loads(said.stdout)["cut"]
    assert (cut["source"]["region"], cut["mirror"]["region"]) == ("west", "east")
    # Nobody listens there: the files speak, and the reason is told.
    assert cut["source"]["ends_from"] == "checkpoint"
    assert "127.0.0.1:1" in cut["source"]["because"]


@pytest.mark.parametrize(
    ("arguments", "because"),
    [
        (["--dir", "{folder}", "--source", "west"], "--mirror: no region None"),
        (["--dir", "{folder}", "--source", "west", "--mirror", "north"], "there are: east, west"),
        (["--dir", "{folder}", "--source", "west", "--mirror", "west"], "with itself"),
        (
            ["--dir", "{folder}/nowhere", "--source", "a", "--mirror", "b"],
            "is a local federation there",
        ),
        (["--source-dir", "{folder}/nowhere", "--mirror-dir", "{east}"], "nowhere: No such file"),
        (["--source-dir", "{west}", "--mirror-dir", "{west}"], "with itself"),
        (["--source-dir", "{west}", "--mirror-dir", "{east}", "--topic", "x"], "no such topic: x"),
        (
            ["--source-dir", "{west}", "--mirror-dir", "{east}", "--holes", "{folder}/none"],
            "--holes",
        ),
        (
            ["--source-dir", "{west}", "--mirror-dir", "{east}", "--source-holes", "{folder}/none"],
            "--source-holes",
        ),
        (
            [
                "--source-dir",
                "{west}",
                "--mirror-dir",
                "{east}",
                "--holes",
                "{folder}/federation.json",
            ],
            "a list",
        ),
        (["--source-dir", "{west}", "--mirror-dir", "{east}", "--master", "x"], "local[N]"),
    ],
)
def test_what_cannot_be_run_is_refused_with_the_reason_and_4(
    tmp_path: Path, arguments: list[str], because: str
) -> None:
    case = planted(str(tmp_path), 2, ())
    names = {"west": case.source, "east": case.mirror, "folder": federation(tmp_path, case)}
    given = [argument.format(**names) for argument in arguments]
    said = run(*given, "--out", str(tmp_path / "out"))
    assert said.exit_code == 4, said.output
    assert because in said.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "because"),
    [
        ([], "name two regions"),
        (["--source-dir", "{west}"], "name two regions"),
        (["--source", "west"], "give its --dir too"),
        (["--dir", "{folder}", "--source-dir", "{west}"], "leave out --source-dir"),
        (["--source-dir", "{west}", "--mirror-dir", "{east}", "--nonsense"], "No such option"),
        (["--source-dir", "{west}", "--mirror-dir", "{east}", "--budget-lag-ms", "-1"], "-1"),
    ],
)
def test_a_usage_error_exits_with_2_as_of_every_command(
    tmp_path: Path, arguments: list[str], because: str
) -> None:
    case = planted(str(tmp_path), 2, ())
    names = {"west": case.source, "east": case.mirror, "folder": federation(tmp_path, case)}
    said = run(*(each.format(**names) for each in arguments), "--out", str(tmp_path / "out"))
    assert said.exit_code == 2, said.output
    assert because in said.stderr
    assert not (tmp_path / "out").exists()


def test_with_json_a_refusal_is_one_object_too(tmp_path: Path) -> None:
    said = run("--dir", str(tmp_path), "--json")
    assert said.exit_code == 4
    assert "federation.json" in json.loads(said.stdout)["error"]


def test_a_file_where_the_output_should_go_is_refused(tmp_path: Path) -> None:
    case = planted(str(tmp_path), 2, ())
    (tmp_path / "taken").write_text("")
    said = run(*sides(case), "--out", str(tmp_path / "taken"))
    assert said.exit_code == 4
    assert "taken" in said.stderr


def test_a_federation_file_that_is_damaged_is_refused(tmp_path: Path) -> None:
    (tmp_path / "federation.json").write_text('{"regions": [{"name": 1}]}')
    said = run("--dir", str(tmp_path), "--source", "a", "--mirror", "b")
    assert said.exit_code == 4
    assert "not what `causeway local up` writes" in said.stderr


def test_help_and_the_module_itself_import_nothing_slow() -> None:
    program = (
        "import sys\n"
        "from federation.commands.audit.command import audit\n"
        "try:\n    audit(['run', '--help'])\nexcept SystemExit as end: assert end.code == 0\n"
        "slow = {'pyspark', 'numpy', 'matplotlib', 'pyarrow', 'jinja2', 'confluent_kafka', 'pandas'}\n"
        "assert not slow & set(sys.modules), slow & set(sys.modules)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr


def test_the_report_of_another_audit_is_replaced_only_when_told(tmp_path: Path) -> None:
    case = planted(str(tmp_path), 2, ())
    out = ["--out", str(tmp_path / "out")]
    assert run(*sides(case), *out).exit_code == 0
    report = tmp_path / "out" / "audit.json"
    before = report.read_bytes()
    said = run(*sides(case), *out)
    assert said.exit_code == 4
    assert "holds the report of another audit" in said.stderr
    assert report.read_bytes() == before
    assert run(*sides(case), *out, "--overwrite").exit_code == 0
    assert report.read_bytes() != before
