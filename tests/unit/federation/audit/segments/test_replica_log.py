"""A replica's files: found, measured, and offsets placed in them."""

import itertools
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.audit.segments.batches import Batch, walk
from federation.audit.segments.checkpoints import RECOVERY_POINTS
from federation.audit.segments.data_dir import DataDir
from federation.audit.segments.headers import OFFSET_MAX
from federation.audit.segments.replica_log import ReplicaLog, discover
from tests.spark import generate


def written(folder: Path, made: list[generate.Made], bases: set[int] = frozenset()) -> ReplicaLog:  # type: ignore[assignment]
    generate.write_partition(
        str(folder), "t", 0, generate.cut_in_segments(generate.stored(made), bases)
    )
    return discover([DataDir(str(folder))])["t", 0][0]


def made(number: int = 1, count: int = 30, start: int = 0) -> list[generate.Made]:
    return generate.batches(random.Random(number), count, start=start)


def test_a_log_is_found_with_its_ends(tmp_path: Path) -> None:
    batches = made(start=500)
    log = written(tmp_path, batches, {batches[10].base_offset})
    assert (log.topic, log.partition) == ("t", 0)
    assert [one.base_offset for one in log.segments] == [500, batches[10].base_offset]
    assert (log.first_offset, log.end_offset) == (500, batches[-1].next_offset)
    assert log.newest_ms >= batches[-1].first_timestamp
    assert log.size == sum(len(one.encoded()) for one in batches)


def test_other_folders_and_files_are_left_alone(tmp_path: Path) -> None:
    written(tmp_path, made(count=3))
    (tmp_path / "t-0" / "00000000000000000009.log.deleted").write_bytes(b"x")
    for name in ("t-0.0a1b-delete", "lost+found", "t-1x"):
        (tmp_path / name).mkdir()
    (tmp_path / "file-3").write_text("not a folder")
    assert list(discover([DataDir(str(tmp_path))])) == [("t", 0)]
    assert len(discover([DataDir(str(tmp_path))])["t", 0][0].segments) == 1


def test_every_replica_is_found_in_the_order_of_the_directories(tmp_path: Path) -> None:
    batches = made()
    for name, count in (("one", 10), ("two", 30), ("three", 20)):
        written(tmp_path / name, batches[:count])
    directories = [
        DataDir(str(tmp_path / name), node_id=7 + n)
        for n, name in enumerate(("one", "two", "three"))
    ]
    found = discover(directories)["t", 0]
    assert [one.end_offset for one in found] == [
        batches[count - 1].next_offset for count in (10, 30, 20)
    ]
    assert [(one.node, one.node_id) for one in found] == [
        ("node 7", 7),
        ("node 8", 8),
        ("node 9", 9),
    ]


def test_two_directories_of_one_node_do_not_hold_one_partition_twice(tmp_path: Path) -> None:
    for name in ("one", "two"):
        written(tmp_path / name, made(3))
    with pytest.raises(
        ValueError, match=r"one/t-0 and .*two/t-0 are replicas of one partition on node 3"
    ):
        discover([DataDir(str(tmp_path / name), node_id=3) for name in ("one", "two")])


def test_a_torn_tail_does_not_count(tmp_path: Path) -> None:
    batches = made()
    written(tmp_path, batches[:-1])
    path = tmp_path / "t-0" / f"{0:020}.log"
    path.write_bytes(path.read_bytes() + batches[-1].encoded()[:-1])
    assert discover([DataDir(str(tmp_path))])["t", 0][0].end_offset == batches[-2].next_offset


def test_an_empty_last_segment_says_where_the_log_ends(tmp_path: Path) -> None:
    written(tmp_path, made())
    (tmp_path / "t-0" / f"{4000:020}.log").write_bytes(b"")
    assert discover([DataDir(str(tmp_path))])["t", 0][0].end_offset == 4000


def test_a_damaged_base_offset_near_the_end_does_not_move_the_end(tmp_path: Path) -> None:
    batches = made()
    log = generate.stored(batches)
    log[-3] = batches[-3], generate.flipped(batches[-3].encoded(), 2)
    generate.write_partition(str(tmp_path), "t", 0, {0: log})
    assert discover([DataDir(str(tmp_path))])["t", 0][0].end_offset == batches[-1].next_offset


@pytest.mark.parametrize("index", ["kept", "missing", "zeros", "random"])
def test_every_batch_is_found_with_and_without_an_index(tmp_path: Path, index: str) -> None:
    batches = made(count=60)
    written(tmp_path, batches, {batches[25].base_offset})
    for path in sorted((tmp_path / "t-0").glob("*.index")):
        if index == "missing":
            path.unlink()
        elif index != "kept":
            path.write_bytes(bytes(800) if index == "zeros" else random.Random(2).randbytes(800))
    log = discover([DataDir(str(tmp_path))])["t", 0][0]
    assert log.end_offset == batches[-1].next_offset
    for batch in batches:
        place = log.first_at(batch.base_offset)
        assert place is not None
        (found, *_) = walk(log.stretch(place, log.end).parts[0])
        assert isinstance(found, Batch)
        assert found.base_offset == batch.base_offset
        for offset in range(batch.base_offset, batch.next_offset):
            covering = log.first_covering(offset)
            assert (covering.segment, covering.byte) == (place.segment, place.byte)
            if offset > batch.base_offset:
                assert log.first_at(offset) is None


@given(number=st.integers(0, 30), cuts=st.lists(st.integers(0, 29), max_size=4), data=st.data())
def test_parts_between_places_divide_the_log(
    tmp_path_factory: pytest.TempPathFactory, number: int, cuts: list[int], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("log")
    batches = made(number)
    log = written(folder, batches, {batches[cut].base_offset for cut in cuts})
    chosen = sorted(data.draw(st.sets(st.integers(1, 29), max_size=5)))
    places = [log.first_covering(0)]
    for place in (log.first_at(batches[one].base_offset) for one in chosen):
        assert place is not None
        places.append(place)
    places.append(log.end)
    parts = [
        part for one, two in itertools.pairwise(places) for part in log.stretch(one, two).parts
    ]
    assert sum(part.stop - part.start for part in parts) == log.size
    found = [one for part in parts for one in walk(part)]
    assert [one.base_offset for one in found] == [one.base_offset for one in batches]


def test_no_batch_beyond_a_gap_is_believed_unless_the_log_goes_on_above_it(tmp_path: Path) -> None:
    batches = made()
    gap = written(tmp_path / "gap", batches[:10] + batches[12:])
    place = gap.first_at(batches[11].base_offset)
    assert place is not None
    log = generate.stored(batches)
    log[5] = batches[5], generate.flipped(batches[5].encoded(), 3)
    generate.write_partition(str(tmp_path / "damaged"), "t", 0, {0: log})
    damaged = discover([DataDir(str(tmp_path / "damaged"))])["t", 0][0]
    assert damaged.first_at(batches[5].base_offset) is not None
    assert damaged.first_at(batches[9].base_offset) is None


@pytest.mark.parametrize(
    ("is_crashed", "synced", "is_lost"), [(False, 0, True), (True, 0, False), (True, 1, True)]
)
def test_an_index_at_the_end_whose_log_was_never_synced_is_what_a_crash_leaves(
    tmp_path: Path, is_crashed: bool, synced: int, is_lost: bool
) -> None:
    """`synced`: records of that segment."""
    log = written(tmp_path, made(count=9))
    end = log.end_offset
    (tmp_path / "t-0" / f"{end:020}.index").write_bytes(b"")
    (tmp_path / RECOVERY_POINTS).write_text(f"0\n1\nt 0 {end + synced}\n")
    found = discover([DataDir(str(tmp_path), is_crashed=is_crashed)])["t", 0][0]
    assert found.lost == (((end, OFFSET_MAX),) if is_lost else ())


def test_the_end_of_a_log_has_no_ceiling(tmp_path: Path) -> None:
    log = written(tmp_path, made())
    (part,) = log.stretch(log.first_covering(0), log.end).parts
    assert part.ceiling == OFFSET_MAX


def test_a_place_has_its_batch(tmp_path: Path) -> None:
    batches = made()
    log = written(tmp_path, batches)
    place = log.first_covering(batches[7].base_offset)
    assert log.batch_at(place) == batches[7].encoded()
    assert log.batch_at(log.first_covering(log.end_offset)) == b""


def test_a_long_segment_has_boundaries_where_its_index_has_batches(tmp_path: Path) -> None:
    batches = made()
    log = written(tmp_path, batches)
    longest = max(segment.size for segment in log.segments)
    bases = {one.base_offset for one in log.segments}
    found = set(log.boundaries(0, OFFSET_MAX, longest))
    assert found == bases - {0}
    more = set(log.boundaries(0, OFFSET_MAX, longest // 4))
    assert more > found
    assert more <= {one.base_offset for one in batches}
    for path in tmp_path.rglob("*.index"):
        path.unlink()
    assert set(log.boundaries(0, OFFSET_MAX, longest // 4)) == found


def test_a_torn_batch_behind_the_end_is_not_read(tmp_path: Path) -> None:
    batches = made()
    log = written(tmp_path, batches)
    path = Path(log.segments[-1].path)
    path.write_bytes(path.read_bytes() + batches[0].encoded()[:39])
    torn, *_ = discover([DataDir(str(tmp_path))])["t", 0]
    assert torn.first_at(torn.end_offset) is None
    end = torn.first_at(torn.end_offset, is_stop=True)
    assert end == log.first_at(log.end_offset)
    assert torn.stretch(torn.first_covering(0), end).size == log.size


@pytest.mark.parametrize("codec", ["none", "zstd"])
@pytest.mark.parametrize(("byte", "bit"), [(23, 7), (24, 3), (57, 7), (58, 2)])
def test_a_damaged_last_batch_does_not_say_that_the_log_is_longer(
    tmp_path: Path, byte: int, bit: int, codec: str
) -> None:
    """A bit in its last offset delta, or in its count of records."""
    rows = tuple(generate.Row(number, b"k", b"v") for number in range(200))
    last = generate.Made(made()[-1].next_offset, rows, codec=codec)
    batches = [*made(), last]
    log = written(tmp_path, batches)
    path = Path(log.segments[-1].path)
    data = path.read_bytes()
    start = len(data) - len(batches[-1].encoded())
    path.write_bytes(generate.flipped(data, start + byte, bit))
    damaged, *_ = discover([DataDir(str(tmp_path))])["t", 0]
    assert damaged.end_offset == batches[-1].next_offset
