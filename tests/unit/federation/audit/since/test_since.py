"""An audit of what is new since an earlier one: what it reads, what it reads again and why; the chain of reports."""

import json
import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from federation.audit.since.chain import digest
from federation.commands.audit.command import audit
from tests.spark import generate

MADE = generate.batches(random.Random(3), 60)
FIRST, SECOND, THIRD = (MADE[count - 1].next_offset for count in (20, 40, 60))


class Sides:
    """Two one-node regions with the partitions t-0 and t-1; `grow` appends to both sides of both."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("west", "east"):
            self.identify(name)
        self.grow(20)

    def identify(self, name: str, cluster_id: str = "", node_id: int = 1) -> None:
        (self.folder / name).mkdir(exist_ok=True)
        said = (
            f"version=1\nnode.id={node_id}\ncluster.id={cluster_id or name}\ndirectory.id={name}\n"
        )
        (self.folder / name / "meta.properties").write_text(said)

    def grow(self, count: int, made: list[generate.Made] = MADE, start: int = 0) -> None:
        for name in ("west", "east"):
            for partition in (0, 1):
                self.write(name, partition, made[start:count])

    def write(self, name: str, partition: int, made: list[generate.Made]) -> None:
        shutil.rmtree(self.folder / name / f"t-{partition}", ignore_errors=True)
        bases = {one.base_offset for one in made[10::10]}
        segments = generate.cut_in_segments(generate.stored(made), bases)
        generate.write_partition(str(self.folder / name), "t", partition, segments)

    def flip(self, name: str, partition: int, offset: int) -> None:
        """A bit in the batch at `offset`."""
        folder = self.folder / name / f"t-{partition}"
        path = max(one for one in folder.glob("*.log") if int(one.stem) <= offset)
        batch = next(one for one in MADE if one.base_offset == offset).encoded()
        data = path.read_bytes()
        path.write_bytes(generate.flipped(data, data.index(batch) + len(batch) - 2))

    def run(self, out: str, since: str = "", *options: str) -> Result:
        sides = [f"--source-dir={self.folder}/west", f"--mirror-dir={self.folder}/east"]
        where = ["--engine", "local", "--master", "local[1]", "--out", str(self.folder / out)]
        where += ["--since", str(self.folder / since)] if since else []
        return CliRunner().invoke(
            audit, ["run", *sides, *where, "--replicas", "all", "--json", *options]
        )

    def audit(self, out: str, since: str = "", *options: str) -> Any:
        ended = self.run(out, since, *options)
        assert ended.exit_code in (0, 1, 5), ended.output
        return json.loads(ended.stdout)

    def refused(self, since: str, *options: str) -> str:
        ended = self.run("refused", since, *options)
        assert ended.exit_code == 4, ended.output
        assert not (self.folder / "refused").exists()
        return str(json.loads(ended.stdout)["error"])


@pytest.fixture
def sides(tmp_path: Path) -> Sides:
    return Sides(tmp_path)


def ranges(said: Any) -> list[tuple[int, int]]:
    """What the run itself compared, a pair for each partition."""
    return [(row["compared_from"], row["compared_to"]) for row in said["partitions"]]


def judged(said: Any, partition: int = 0) -> list[tuple[int, int]]:
    rows = said["lineage"][partition]["judged_by"]
    return [(one["from_offset"], one["to_offset"]) for one in rows]


def in_full(said: Any) -> list[str]:
    return [row["in_full_because"] for row in said["lineage"]]


def test_only_what_is_new_is_read_and_the_reports_make_a_chain(sides: Sides) -> None:
    first = sides.audit("1")
    assert (first["since"], first["chain"], judged(first)) == (None, [], [(0, FIRST)])
    sides.grow(40)
    second = sides.audit("2", "1")
    assert second["verdict"] == "kept", second["findings"]
    assert ranges(second) == [(FIRST, SECOND)] * 2
    assert judged(second) == [(0, FIRST), (FIRST, SECOND)]
    assert in_full(second) == ["", ""]
    assert second["totals"]["batches"] == 2 * 20
    sides.grow(60)
    third = sides.audit("3", "2/audit.json")
    assert ranges(third) == [(SECOND, THIRD)] * 2
    assert [one["digest"] for one in third["chain"]] == [first["digest"], second["digest"]]
    again = sides.audit("4", "3")
    assert (again["verdict"], again["totals"]["batches"]) == ("kept", 0)
    assert judged(again) == judged(third) == [(0, FIRST), (FIRST, SECOND), (SECOND, THIRD)]
    ended = CliRunner().invoke(audit, ["verify", str(sides.folder / "4"), "--json"])
    assert ended.exit_code == 0, ended.output
    assert len(json.loads(ended.stdout)["reports"]) == 4


def test_what_is_new_is_judged_and_what_was_judged_is_not_looked_at_again(sides: Sides) -> None:
    sides.audit("1")
    sides.grow(40)
    sides.flip("east", 0, MADE[5].base_offset)
    below = sides.audit("2", "1")
    assert below["verdict"] == "kept"
    assert judged(below) == [(0, FIRST), (FIRST, SECOND)]  # and this is what the report says
    sides.flip("east", 1, MADE[30].base_offset)
    above = sides.audit("3", "1")
    assert [(one["class"], one["partition"], one["from_offset"]) for one in above["findings"]] == [
        ("damaged", 1, MADE[30].base_offset)
    ]
    # A partition that was not kept is read in full by the next audit, the other goes on.
    sides.grow(60)
    after = sides.audit("4", "3")
    assert ranges(after) == [(SECOND, THIRD), (0, THIRD)]
    assert in_full(after) == ["", "it was broken then"]


def rewritten(sides: Sides) -> None:
    other = replace(MADE[19], rows=tuple(replace(row, value=b"other") for row in MADE[19].rows))
    sides.grow(40, [*MADE[:19], other, *MADE[20:]])


def shorter(sides: Sides) -> None:
    sides.grow(15)


def another_node(sides: Sides) -> None:
    sides.grow(40)
    sides.identify("east", node_id=2)


def more_at_the_head(sides: Sides) -> None:
    sides.grow(40)


@pytest.mark.parametrize(
    ("changed", "begun_with", "because"),
    [
        (rewritten, 0, f"the batch below offset {FIRST} is another than then"),
        (shorter, 0, f"it was judged up to {FIRST}"),
        (another_node, 0, "not judged then: mirror node 2"),
        (more_at_the_head, 5, f"it was judged from {MADE[5].base_offset} on"),
    ],
)
def test_what_is_not_that_log_any_more_is_read_in_full(
    sides: Sides, changed: Callable[[Sides], None], begun_with: int, because: str
) -> None:
    sides.grow(20, start=begun_with)
    sides.audit("1")
    changed(sides)
    said = sides.audit("2", "1")
    assert said["verdict"] == "kept", said["findings"]
    assert all(because in reason for reason in in_full(said)), in_full(said)
    assert [start for start, _ in ranges(said)] == [0, 0]
    assert judged(said) == ranges(said)[:1]


def test_a_partition_that_is_new_is_read_in_full(sides: Sides) -> None:
    for name in ("west", "east"):
        shutil.rmtree(sides.folder / name / "t-1")
    sides.audit("1")
    sides.grow(40)
    said = sides.audit("2", "1")
    assert (ranges(said), in_full(said)) == (
        [(FIRST, SECOND), (0, SECOND)],
        ["", "it was not judged then"],
    )


def test_a_head_that_went_away_since_is_judged_like_any_head(sides: Sides) -> None:
    sides.audit("1")
    sides.grow(40)
    sides.write("east", 0, MADE[30:40])
    said = sides.audit("2", "1")
    (found,) = [one for one in said["findings"] if one["class"] == "not_asked"]
    assert (found["from_offset"], found["to_offset"]) == (0, MADE[30].base_offset)
    assert said["verdict"] == "unknown"


def of_another_cluster(sides: Sides, report: Path) -> None:
    sides.identify("east", cluster_id="north")


def a_digest_that_does_not_fit(sides: Sides, report: Path) -> None:
    report.write_text(report.read_text().replace('"kept"', '"kept "', 1))


def torn(sides: Sides, report: Path) -> None:
    report.write_text(report.read_text()[:400])


def of_an_earlier_release(sides: Sides, report: Path) -> None:
    report.write_text('{"schema": "causeway.audit/1", "verdict": "kept"}')


def of_another_schema(sides: Sides, report: Path) -> None:
    document = json.loads(report.read_text()) | {"schema": "causeway.audit/9"}
    report.write_text(json.dumps(document | {"digest": digest(document)}))


def no_object(sides: Sides, report: Path) -> None:
    report.write_text("[]")


def gone(sides: Sides, report: Path) -> None:
    report.unlink()


@pytest.mark.parametrize(
    ("spoiled", "because"),
    [
        (of_another_cluster, "is about clusters west and east, not west and north"),
        (a_digest_that_does_not_fit, "it was changed after it was written"),
        (torn, "is no report"),
        (of_an_earlier_release, "no digest"),
        (of_another_schema, "is no report"),
        (no_object, "not an object"),
        (gone, "No such file"),
    ],
)
def test_a_report_that_it_cannot_go_on_from_is_refused(
    sides: Sides, spoiled: Callable[[Sides, Path], None], because: str
) -> None:
    sides.audit("1")
    spoiled(sides, sides.folder / "1" / "audit.json")
    assert because in sides.refused("1")


def test_a_report_that_judged_less_or_other_topics_is_refused(sides: Sides) -> None:
    sides.audit("1", "", "--replicas", "leader")
    assert "judged --replicas leader only" in sides.refused("1")
    sides.audit("2")
    assert "has mirror prefix ''" in sides.refused("2", "--mirror-prefix", "t")


def test_directories_of_nobody_have_no_earlier_report(sides: Sides) -> None:
    sides.audit("1")
    (sides.folder / "west" / "meta.properties").unlink()
    assert "don't say which clusters" in sides.refused("1")


def test_the_report_that_it_goes_on_from_is_not_replaced(sides: Sides) -> None:
    sides.audit("1")
    ended = sides.run("1", "1", "--overwrite")
    assert ended.exit_code == 4
    assert "would replace the report of --since" in json.loads(ended.stdout)["error"]


def test_a_chain_of_which_a_report_was_changed_or_is_gone_does_not_verify(sides: Sides) -> None:
    sides.audit("1")
    sides.audit("2", "1")
    first = sides.folder / "1" / "audit.json"
    sides.audit("1", "", "--overwrite")
    ended = CliRunner().invoke(audit, ["verify", str(sides.folder / "2")])
    assert ended.exit_code == 1
    assert "is another report than" in ended.stderr
    first.unlink()
    ended = CliRunner().invoke(audit, ["verify", str(sides.folder / "2")])
    assert "No such file" in ended.stderr


def test_people_see_what_it_goes_on_from(sides: Sides) -> None:
    sides.audit("1")
    sides.grow(40)
    another_node(sides)
    options = [f"--source-dir={sides.folder}/west", f"--mirror-dir={sides.folder}/east"]
    options += ["--since", str(sides.folder / "1"), "--out", str(sides.folder / "2")]
    ended = CliRunner().invoke(
        audit, ["run", *options, "--engine", "local", "--master", "local[1]", "--replicas", "all"]
    )
    assert "0 partitions only beyond it, 2 in full" in ended.output
    assert "t-0: not judged then: mirror node 2" in ended.output
    assert "not judged then: mirror node 2" in (sides.folder / "2" / "report.html").read_text()
    ended = CliRunner().invoke(audit, ["verify", str(sides.folder / "2")])
    assert ended.exit_code == 0
    assert str(sides.folder / "1" / "audit.json") in ended.output
