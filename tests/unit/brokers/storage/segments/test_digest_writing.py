"""A segment's digest is written from its headers, whole or not at all."""

from hashlib import blake2b
from itertools import pairwise

import pytest

from brokers.ports import DiskError
from brokers.records.batch import parse_header
from brokers.storage.segments.digest_writing import STEP_BATCHES, DigestWriting
from brokers.storage.segments.log_segment import LogSegment
from brokers.storage.segments.segment_digest import ROW, DigestRange, DigestRow, decode
from tests.sim.files import SimFiles
from tests.unit.brokers.storage.driver import TOPIC_ID, batch_at

FOLDER = "flights-0"


def segment_of(batches: list[bytearray], files: SimFiles | None = None) -> LogSegment:
    files = SimFiles() if files is None else files
    files.make_directory(FOLDER)
    segment = LogSegment(files, FOLDER, parse_header(batches[0]).base_offset, 4096)
    segment.append([parse_header(batch) for batch in batches], batches)
    return segment


def write(segment: LogSegment, range_bytes: int = 1 << 24) -> DigestWriting:
    writing = DigestWriting(segment._files, TOPIC_ID, segment, range_bytes=range_bytes)
    assert set(writing.steps()) <= {None}
    return writing


def written(segment: LogSegment) -> tuple[list[DigestRow], list[DigestRange]]:
    files = segment._files
    data = files.read(segment.digest_path, 0, files.size(segment.digest_path))
    return decode(data)[1:]


def mixed(count: int) -> list[bytearray]:
    """Small batches and large ones by turns, with offsets left out between."""
    sizes = [10, 9_000, 300, 70_000, 20, 20, 8_200]
    batches, offset = [], 50
    for number in range(count):
        records = 1 + number % 4
        batches.append(batch_at(offset, records, size=sizes[number % 7], leader_epoch=number // 5))
        offset += records + number % 3
    return batches


@pytest.mark.parametrize("count", [1, 2, 30, STEP_BATCHES - 1, STEP_BATCHES, STEP_BATCHES + 1])
def test_there_is_a_row_for_each_batch(count: int) -> None:
    batches = mixed(count)
    segment = segment_of(batches)
    digest = write(segment).digest
    rows, _ = written(segment)
    headers = [parse_header(batch) for batch in batches]
    assert [row.base_offset for row in rows] == [header.base_offset for header in headers]
    for row, header in zip(rows, headers, strict=True):
        assert bytes(segment.read(row.position, row.length))[17:21] == row.crc.to_bytes(4, "big")
        assert row[2:] == (
            header.length,
            header.crc,
            header.leader_epoch,
            header.max_timestamp,
            header.record_count,
        )
    assert digest is not None and digest[:4] == (
        TOPIC_ID,
        50,
        headers[-1].next_offset,
        segment.size,
    )
    assert digest.records == sum(header.record_count for header in headers)


@pytest.mark.parametrize("range_bytes", [1, 5_000, 100_000, 1 << 24])
def test_a_range_ends_with_the_batch_that_reaches_its_size(range_bytes: int) -> None:
    segment = segment_of(mixed(60))
    write(segment, range_bytes)
    rows, ranges = written(segment)
    assert sum(each.batches for each in ranges) == 60 and ranges[0].position == 0
    for each in ranges:
        own = [row for row in rows if each.base_offset <= row.base_offset < each.next_offset]
        assert len(own) == each.batches and own[0].position == each.position
        assert each.size == sum(row.length for row in own)
        assert each.size - own[-1].length < range_bytes
        packed = b"".join(ROW.pack(row.base_offset - 50, *row[1:]) for row in own)
        assert each.digest == blake2b(packed, digest_size=16).digest()
    for one, following in pairwise(ranges):
        assert one.position + one.size == following.position and one.size >= range_bytes


@pytest.mark.parametrize("at", [0, 8, 16, 23])
def test_damage_leaves_no_digest(at: int) -> None:
    """Of a base offset, a length, the magic byte, the last offset delta."""
    files, batches = SimFiles(), mixed(10)
    segment = segment_of(batches, files)
    start = sum(map(len, batches[:4]))
    files.damage(segment.path, start + at, b"\xff")
    assert write(segment).digest is None
    assert list(files.list(FOLDER)) == ["00000000000000000050.log"]


def test_a_segment_that_is_shorter_than_it_was_has_no_digest() -> None:
    files = SimFiles()
    segment = segment_of(mixed(10), files)
    for size in (segment.size - 1, 40, 0):
        files.truncate(segment.path, size)
        assert write(segment).digest is None
    files.remove(segment.path)
    assert write(segment).digest is None
    assert list(files.list(FOLDER)) == []


def test_a_full_disk_leaves_no_digest_and_no_rest_of_one() -> None:
    files = SimFiles()
    segment = segment_of(mixed(10), files)
    for room in (0, 10, 100, 300):
        files.full_after(room)
        assert write(segment).digest is None
        assert list(files.list(FOLDER)) == ["00000000000000000050.log"]
    files.full_after(None)
    files.ailing = True
    assert write(segment).digest is None
    assert list(files.list(FOLDER)) == ["00000000000000000050.log"]


def test_one_that_nobody_waits_for_ends_early() -> None:
    files = SimFiles()
    segment = segment_of(mixed(3 * STEP_BATCHES), files)
    writing = DigestWriting(files, TOPIC_ID, segment)
    steps = writing.steps()
    next(steps)
    assert f"{segment.digest_path}.tmp" in [f"{FOLDER}/{name}" for name in files.list(FOLDER)]
    writing.give_up()
    assert list(steps) == [] and writing.digest is None
    assert list(files.list(FOLDER)) == ["00000000000000000050.log"]


def test_the_disk_may_refuse_the_reading() -> None:
    class Unreadable(SimFiles):
        def reader(self, path: str) -> None:  # type: ignore[override]
            raise DiskError("the device reports errors")

    assert write(segment_of(mixed(3), Unreadable())).digest is None
