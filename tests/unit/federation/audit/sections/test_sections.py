"""Beside the bytes: each section finds what is planted in its own files, where it is, and nothing in sound ones."""

import random
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import crc32c
import pytest

from federation.audit.options import Options
from federation.audit.result import AuditResult
from federation.audit.sections import group_offsets
from federation.audit.sections.section import Section
from federation.audit.verdict.verdicts import Verdict
from tests.spark import facts, generate
from tests.spark.cases import audit

KEY = ("t", 0)
OFFSETS = ("__consumer_offsets", 7)
SIDES = {"west": "source", "east": "mirror"}
EPOCHS, PRODUCERS, GROUPS, TOPICS = (
    "leader epochs",
    "producer snapshots",
    "group offsets",
    "partitions and configurations",
)


def made() -> list[generate.Made]:
    """Three leader epochs, and a producer that writes every fourth batch."""
    batches = generate.batches(random.Random(5), 40)
    sequence, found = 0, []
    for number, one in enumerate(batches):
        one = replace(one, leader_epoch=number // 15, producer_id=-1, base_sequence=-1)
        if number % 4 == 0:
            one = replace(one, producer_id=7, producer_epoch=2, base_sequence=sequence)
            sequence += len(one.rows)
        found.append(one)
    return found


def snapshot(*entries: tuple[int, int, int, int]) -> bytes:
    """Kafka's `.snapshot`: producer id, epoch, last sequence and last offset of each."""
    body = struct.pack(">i", len(entries))
    for producer_id, epoch, sequence, offset in entries:
        body += struct.pack(">qhiqiqiq", producer_id, epoch, sequence, offset, 0, 5, 0, -1)
    return struct.pack(">hI", 1, crc32c.crc32c(body)) + body


def commits(*rows: tuple[str, str, int, int | None]) -> list[tuple[generate.Made, bytes]]:
    """Batches of `__consumer_offsets`: group, topic, partition, and the offset or None for a tombstone."""
    log = []
    for number, (group, topic, partition, offset) in enumerate(rows):
        key = struct.pack(">h", 1) + _text(group) + _text(topic) + struct.pack(">i", partition)
        value = None
        if offset is not None:
            value = struct.pack(">hqi", 3, offset, -1) + _text("") + struct.pack(">q", 9)
        log.append(generate.Made(number, (generate.Row(0, key, value),)))
    return generate.stored(log)


def _text(text: str) -> bytes:
    return struct.pack(">h", len(text)) + text.encode()


class Sides:
    """The same partition on both, with a snapshot; groups as the test says."""

    def __init__(self, folder: Path) -> None:
        self.made = made()
        self.folders: dict[str, Path] = {}
        for name in SIDES:
            log = {0: generate.stored(self.made)}
            self.folders[name] = Path(generate.write_partition(str(folder / name), *KEY, log))
            (self.folders[name] / self.snapshot_name).write_bytes(self.snapshot())

    @property
    def snapshot_name(self) -> str:
        return f"{self.made[30].base_offset:020}.snapshot"

    def snapshot(self) -> bytes:
        newest = self.made[28]
        last = newest.base_sequence + len(newest.rows) - 1
        return snapshot((7, 2, last, newest.next_offset - 1), (9, 0, -1, -1))

    def groups(self, name: str, *rows: tuple[str, str, int, int | None]) -> None:
        log = {0: commits(*rows)}
        generate.write_partition(str(self.folders[name].parent), *OFFSETS, log)

    def audit(self, **said: object) -> AuditResult:
        regions = {
            side: facts.region(name, str(self.folders[name].parent), **said)  # type: ignore[arg-type]
            for name, side in SIDES.items()
        }
        return audit(Options(**regions, engine="local", master="local[1]"))  # type: ignore[arg-type]


@pytest.fixture
def sides(tmp_path: Path) -> Sides:
    return Sides(tmp_path)


def of(result: AuditResult, name: str) -> Section:
    return next(one for one in result.sections if one.name == name)


def test_what_is_sound_is_kept_and_counted(sides: Sides) -> None:
    for name in SIDES:
        sides.groups(name, ("g", "t", 0, 5), ("g", "t", 0, 9), ("other", "t", 0, 3))
    result = sides.audit()
    assert (result.verdict, result.findings) == (Verdict.KEPT, ())
    assert [(one.name, one.verdict, one.judged, one.problems) for one in result.sections] == [
        (EPOCHS, Verdict.KEPT, 2, ()),
        (PRODUCERS, Verdict.KEPT, 2, ()),
        (GROUPS, Verdict.KEPT, 2, ()),
        (TOPICS, Verdict.KEPT, 1, ()),
    ]


@pytest.mark.parametrize("where", SIDES)
@pytest.mark.parametrize(
    "change",
    [
        lambda epochs: {**epochs, 1: epochs[1] + 9},
        lambda epochs: {**epochs, 1: epochs[1] - 9},
        lambda epochs: {epoch + (epoch == 2): offset for epoch, offset in epochs.items()},
        lambda epochs: {epoch: offset for epoch, offset in epochs.items() if epoch != 1},
    ],
    ids=["begins later", "begins earlier", "another epoch", "an epoch is missing"],
)
def test_a_checkpoint_that_does_not_fit_its_batches_is_found(
    sides: Sides, where: str, change: Callable[[dict[int, int]], dict[int, int]]
) -> None:
    right = {epoch: sides.made[15 * epoch].base_offset for epoch in range(3)}
    generate.write_epochs(str(sides.folders[where]), change(right))
    result = sides.audit()
    assert result.verdict is Verdict.BROKEN
    blamed = {one.replica.split()[0] for one in of(result, EPOCHS).problems}
    assert SIDES[where] in blamed


@pytest.mark.parametrize("text", ["", "0\n2\n0 0\n", "0\n1\nx\n", "0\n2\n3 5\n1 9\n"])
def test_a_checkpoint_that_cannot_be_read_is_unknown(sides: Sides, text: str) -> None:
    (sides.folders["east"] / "leader-epoch-checkpoint").write_text(text)
    found = of(sides.audit(), EPOCHS)
    assert (found.verdict, found.problems[0].replica.split()[0]) == (Verdict.UNKNOWN, "mirror")


def _flipped(sides: Sides, data: bytes) -> bytes:
    return generate.flipped(data, len(data) - 3)


def _cut_short(sides: Sides, data: bytes) -> bytes:
    return data[:-9]


def _other_sequence(sides: Sides, data: bytes) -> bytes:
    newest = sides.made[28]
    return snapshot((7, 2, newest.base_sequence + 90, newest.next_offset - 1))


def _other_offset(sides: Sides, data: bytes) -> bytes:
    newest = sides.made[28]
    last = newest.base_sequence + len(newest.rows) - 1
    return snapshot((7, 2, last, sides.made[27].next_offset - 1))


def _beyond_itself(sides: Sides, data: bytes) -> bytes:
    return snapshot((7, 2, 1, sides.made[35].next_offset))


def _of_nobody(sides: Sides, data: bytes) -> bytes:
    newest = sides.made[28]
    last = newest.base_sequence + len(newest.rows) - 1
    return snapshot((8, 2, last, newest.next_offset - 1))


@pytest.mark.parametrize("where", SIDES)
@pytest.mark.parametrize(
    "change", [_flipped, _cut_short, _other_sequence, _other_offset, _beyond_itself, _of_nobody]
)
def test_a_snapshot_that_does_not_fit_the_log_is_found(
    sides: Sides, where: str, change: Callable[[Sides, bytes], bytes]
) -> None:
    path = sides.folders[where] / sides.snapshot_name
    path.write_bytes(change(sides, path.read_bytes()))
    result = sides.audit()
    assert result.verdict is Verdict.BROKEN
    (problem,) = of(result, PRODUCERS).problems
    assert problem.replica.split()[0] == SIDES[where]
    assert sides.snapshot_name in problem.because


def test_a_group_past_the_mirror_s_data_breaks_p6(sides: Sides) -> None:
    end = sides.made[-1].next_offset
    sides.groups("west", ("g", "t", 0, end))
    sides.groups("east", ("g", "t", 0, end + 1), ("at the end", "t", 0, end))
    result = sides.audit()
    found = of(result, GROUPS)
    faults = [one for one in found.problems if one.severity == "fault"]
    assert (result.verdict, found.verdict, found.judged) == (Verdict.BROKEN, Verdict.BROKEN, 2)
    assert [(one.offset, one.because) for one in faults] == [
        (end + 1, f"group g stands at {end + 1}, the mirror ends at {end}")
    ]


def test_the_last_commit_counts_and_a_tombstone_takes_it_back(sides: Sides) -> None:
    end = sides.made[-1].next_offset
    sides.groups("west")
    sides.groups(
        "east",
        ("moved back", "t", 0, end + 5),
        ("deleted", "t", 0, end + 5),
        ("moved back", "t", 0, 4),
        ("deleted", "t", 0, None),
        ("elsewhere", "u", 0, 10**9),
    )
    found = of(sides.audit(), GROUPS)
    assert (found.judged, found.problems) == (1, ())


def test_a_group_ahead_of_its_source_is_noted(sides: Sides) -> None:
    sides.groups("west", ("g", "t", 0, 3))
    sides.groups("east", ("g", "t", 0, 8))
    found = of(sides.audit(), GROUPS)
    assert [one.because for one in found.problems] == ["group g stands at 8, at the source at 3"]
    assert found.verdict is Verdict.KEPT


def test_a_region_without_the_topic_of_groups_has_no_commits(sides: Sides) -> None:
    found = of(sides.audit(), GROUPS)
    assert (found.verdict, found.judged, found.because) == (Verdict.KEPT, 0, "")


def test_where_nobody_says_that_there_is_no_topic_of_groups_they_are_unknown() -> None:
    found = group_offsets.read({}, None)
    assert "no __consumer_offsets" in found.because
    assert group_offsets.judge(found, found, {}, "", frozenset()).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("key", "severity", "verdict"),
    [("max.message.bytes", "fault", Verdict.BROKEN), ("retention.ms", "note", Verdict.KEPT)],
)
def test_configurations_that_differ_are_found(
    sides: Sides, key: str, severity: str, verdict: Verdict
) -> None:
    regions = {
        side: facts.region(name, str(sides.folders[name].parent), configs={key: value})
        for (name, side), value in zip(SIDES.items(), ("5", "6"), strict=True)
    }
    result = audit(Options(**regions, engine="local", master="local[1]"))  # type: ignore[arg-type]
    (problem,) = of(result, TOPICS).problems
    assert (problem.because, problem.severity) == (f"{key} is 5, 6 on the mirror", severity)
    assert result.verdict is verdict


@pytest.mark.parametrize(("grown", "verdict"), [("west", Verdict.KEPT), ("east", Verdict.BROKEN)])
def test_a_mirror_never_has_more_partitions(sides: Sides, grown: str, verdict: Verdict) -> None:
    generate.write_partition(str(sides.folders[grown].parent), "t", 1, {})
    found = of(sides.audit(), TOPICS)
    assert (found.verdict, len(found.problems)) == (verdict, 1)
