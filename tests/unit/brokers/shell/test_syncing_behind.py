"""A cleaning on a real disk, whose files are synced behind it."""

from pathlib import Path
from threading import Event

from brokers.compaction import CleaningLimits
from brokers.ports import DiskError
from brokers.records.builder import NewRecord, build_batch
from brokers.shell.cleaner_jobs import parse_result
from brokers.shell.cleaner_process import clean
from brokers.shell.syncing_behind import FollowingThread, SyncedBehind
from brokers.storage.cleaning.cleaning_plan import (
    CleanedSegment,
    CleaningDone,
    CleaningFailed,
    CleaningPlan,
    PlannedSegment,
)

SEGMENTS = 12
CLEANED_LOG = "topic-0/{:020d}.log.cleaned"


def plan(root: Path) -> CleaningPlan:
    """Two records of one key in each segment, and one of its own."""
    (root / "topic-0").mkdir(parents=True)
    planned = []
    for base in range(0, 3 * SEGMENTS, 3):
        records = [NewRecord(key, b"value" * 30) for key in (b"same", b"same", b"%d" % base)]
        data = build_batch(records, timestamp=1, base_offset=base, leader_epoch=0)
        (root / f"topic-0/{base:020d}.log").write_bytes(data)
        planned.append(PlannedSegment(base, base + 3, len(data)))
    limits = CleaningLimits(1 << 20, 0.9, 1 << 16, float("inf"))
    return CleaningPlan("topic-0", tuple(planned), 0, 1, 1, 300, 4096, (), limits)


def results(root: Path, to_do: CleaningPlan, thread: FollowingThread) -> list[object]:
    found: list[object] = []

    def write(line: bytes) -> None:
        result = parse_result(line)
        found.append(result)
        if isinstance(result, CleanedSegment):
            path = root / CLEANED_LOG.format(result.base_offset)
            assert (
                path.stat().st_size == result.size
            )  # it has its name, and its indexes have theirs
            assert path.with_name(path.name.replace(".log.", ".index.")).exists()

    clean(str(root), to_do, thread, write)
    return found


def left(root: Path) -> list[str]:
    return [path.name for path in root.rglob("*.tmp")]


def test_a_segment_is_reported_once_its_files_are_on_the_disk(tmp_path: Path) -> None:
    *segments, last = results(tmp_path, plan(tmp_path), FollowingThread())
    assert len(segments) > 3 and all(isinstance(each, CleanedSegment) for each in segments)
    assert isinstance(last, CleaningDone) and last.next_offset == 3 * SEGMENTS
    assert left(tmp_path) == []


def test_where_a_file_cannot_get_its_name_the_cleaning_ends_for_now(tmp_path: Path) -> None:
    to_do, thread = plan(tmp_path), FollowingThread()
    bases = [each.base_offset for each in to_do.segments]
    whole = results(tmp_path, to_do, thread)[:-1]
    for path in tmp_path.rglob("*.cleaned"):
        path.unlink()
    blocked = whole[1]
    assert isinstance(blocked, CleanedSegment) and blocked.base_offset in bases
    in_the_way = tmp_path / CLEANED_LOG.format(blocked.base_offset)
    in_the_way.mkdir()
    *before, last = results(tmp_path, to_do, thread)
    assert before == whole[:1]
    assert isinstance(last, CleaningFailed) and not last.is_final
    assert in_the_way.name in last.reason and left(tmp_path) == []
    in_the_way.rmdir()
    assert results(tmp_path, to_do, thread)[:-1] == whole  # the thread goes on


def test_after_an_error_the_files_that_wait_are_given_up(tmp_path: Path) -> None:
    thread, may_go_on = FollowingThread(), Event()
    files = SyncedBehind(str(tmp_path), thread)
    (tmp_path / "first").mkdir()
    thread.do(may_go_on.wait)
    for name in ("first", "second"):
        writer = files.writer(name)
        writer.write(b"data")
        writer.finish()
    may_go_on.set()
    error = thread.end()
    assert isinstance(error, DiskError) and "first" in str(error)
    assert [path.name for path in tmp_path.iterdir()] == ["first"]


def test_an_error_is_raised_to_whoever_asks_for_more(tmp_path: Path) -> None:
    thread, asked_for = FollowingThread(), list[str]()

    def fail() -> None:
        raise DiskError("full")

    thread.do(fail)
    while True:  # until it has failed
        try:
            thread.do(lambda: None)
        except DiskError:
            break
    thread.do_anyway(lambda: asked_for.append("given up"))
    assert str(thread.end()) == "full" and asked_for == ["given up"]
    thread.do(lambda: asked_for.append("the next one"))
    assert thread.end() is None and asked_for[1:] == ["the next one"]
