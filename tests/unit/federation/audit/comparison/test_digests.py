"""The fast path: equal and sound, or not plainly so; and the same digest however the bytes are cut into files."""

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xxhash import xxh3_128_hexdigest

from federation.audit.comparison.digests import CHUNK_BYTES, digest, digest_and_walk, size
from federation.audit.segments.batches import Part
from federation.audit.segments.headers import OFFSET_MAX
from tests.spark import generate


def written(folder: Path, name: str, chunks: list[bytes]) -> list[Part]:
    parts = []
    for number, data in enumerate(chunks):
        path = folder / f"{name}-{number}"
        path.write_bytes(data)
        parts.append(Part(str(path), 0, len(data), 0, OFFSET_MAX))
    return parts


def raw(number: int = 1, count: int = 20) -> list[bytes]:
    return [one.encoded() for one in generate.batches(random.Random(number), count)]


@given(sizes=st.lists(st.integers(0, 3 * CHUNK_BYTES), max_size=4))
def test_the_digest_is_that_of_all_bytes_whatever_the_files(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int]
) -> None:
    data = random.Random(1).randbytes(sum(sizes))
    chunks, start = [], 0
    for length in sizes:
        chunks.append(data[start : start + length])
        start += length
    parts = written(tmp_path_factory.getbasetemp(), "some", chunks)
    assert digest(parts)[:2] == (len(data), xxh3_128_hexdigest(data))
    assert size(parts) == len(data)


def test_sound_batches_are_counted(tmp_path: Path) -> None:
    made = generate.batches(random.Random(4), 30)
    parts = written(tmp_path, "log", [b"".join(one.encoded() for one in made)])
    found = digest_and_walk(parts, [parts])
    assert found.sound
    assert found.batches == 30
    assert found.records == sum(len(one.rows) for one in made)
    assert found.offsets == made[-1].next_offset - made[0].base_offset
    assert found.digest == digest(parts).digest


def test_batches_longer_than_the_buffer_are_sound(tmp_path: Path) -> None:
    value = random.Random(1).randbytes(5 * CHUNK_BYTES)
    made = [generate.Made(n, (generate.Row(0, None, value),)) for n in range(3)]
    parts = written(tmp_path, "log", [b"".join(one.encoded() for one in made)])
    assert digest_and_walk(parts, [parts])[2:6] == (3, 3, 3, True)


@given(number=st.integers(0, 50), at=st.integers(0, 1 << 30), bit=st.integers(0, 7))
def test_no_flipped_bit_passes_as_equal_and_sound(
    tmp_path_factory: pytest.TempPathFactory, number: int, at: int, bit: int
) -> None:
    folder = tmp_path_factory.getbasetemp()
    data = b"".join(raw(number))
    plain = written(folder, "plain", [data])
    altered = written(folder, "altered", [generate.flipped(data, at % len(data), bit)])
    assert digest_and_walk(plain, [altered]).digest != digest(altered).digest


def test_equal_bytes_with_a_wrong_checksum_are_not_sound(tmp_path: Path) -> None:
    data = b"".join(raw())
    parts = written(tmp_path, "log", [generate.flipped(data, len(data) - 1)])
    assert not digest_and_walk(parts, [parts]).sound


def test_a_file_that_ends_within_a_batch_is_not_sound_though_all_bytes_are_there(
    tmp_path: Path,
) -> None:
    data, middle = b"".join(raw()), len(raw()[0]) + 10
    whole = written(tmp_path, "whole", [data])
    halves = written(tmp_path, "halves", [data[:middle], data[middle:]])
    assert digest(halves).digest == digest(whole).digest
    assert not digest_and_walk(whole, [halves]).sound
    assert not digest_and_walk(halves, [whole]).sound


def test_files_that_end_between_batches_may_end_anywhere(tmp_path: Path) -> None:
    batches = raw()
    whole = written(tmp_path, "whole", [b"".join(batches)])
    three = written(
        tmp_path, "three", [b"".join(batches[:5]), b"".join(batches[5:6]), b"".join(batches[6:])]
    )
    assert digest_and_walk(whole, [three]).sound
    assert digest_and_walk(three, [whole]).sound


@pytest.mark.parametrize("order", [(0, 2, 1), (0, 1, 1), (1, 0, 2)])
def test_offsets_that_do_not_rise_are_not_sound(tmp_path: Path, order: tuple[int, ...]) -> None:
    batches = raw(count=3)
    parts = written(tmp_path, "log", [b"".join(batches[number] for number in order)])
    assert not digest_and_walk(parts, [parts]).sound


def test_offsets_beyond_the_ceiling_are_not_sound(tmp_path: Path) -> None:
    (part,) = written(tmp_path, "log", [b"".join(raw())])
    assert not digest_and_walk([part._replace(ceiling=5)], [[part]]).sound


def test_a_file_that_shrank_is_not_sound_and_its_missing_bytes_are_not_counted(
    tmp_path: Path,
) -> None:
    batches = raw()
    (part,) = written(tmp_path, "log", [b"".join(batches)])
    longer = part._replace(stop=part.stop + 100)
    found = digest_and_walk([longer], [[longer]])
    assert not found.sound
    assert found.bytes_read == digest([longer]).bytes_read == part.stop
