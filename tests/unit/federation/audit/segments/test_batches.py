"""The walk: every byte is in a batch or in a break, whatever the bytes are."""

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.audit.segments.batches import Batch, Break, Part, walk
from federation.audit.segments.headers import HEADER_BYTES, OFFSET_MAX
from tests.spark import generate


def walked(
    path: Path, data: bytes, floor: int = 0, ceiling: int = OFFSET_MAX
) -> list[Batch | Break]:
    path.write_bytes(data)
    return list(walk(Part(str(path), 0, len(data), floor, ceiling)))


def log(number: int = 1, count: int = 12, codec: str = "none") -> list[generate.Made]:
    return generate.batches(random.Random(number), count, codec)


@pytest.mark.parametrize("codec", generate.CODECS)
def test_whole_batches_are_read_as_they_were_written(tmp_path: Path, codec: str) -> None:
    made = log(codec=codec)
    found = walked(tmp_path / "log", b"".join(batch.encoded() for batch in made))
    assert [one[:3] for one in found] == [
        (batch.base_offset, batch.next_offset, batch.leader_epoch) for batch in made
    ]
    assert all(isinstance(one, Batch) and one.sound for one in found)
    assert [one.records for one in found if isinstance(one, Batch)] == [
        len(batch.rows) for batch in made
    ]


def test_the_body_hash_sees_every_byte_but_base_offset_length_and_leader_epoch(
    tmp_path: Path,
) -> None:
    data = log(count=1)[0].encoded()
    (plain,) = walked(tmp_path / "log", data)
    for byte in range(len(data)):
        found = walked(tmp_path / "log", generate.flipped(data, byte))
        if byte < 8 or 12 <= byte < 16:
            assert isinstance(found[0], Batch)
            assert isinstance(plain, Batch)
            assert found[0].body == plain.body
        elif byte >= 16:
            assert found[0] != plain
            assert not (isinstance(found[0], Batch) and found[0].sound)


@given(data=st.binary(max_size=4000), floor=st.integers(0, 10))
def test_random_bytes_are_one_break(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, floor: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "random"
    found = walked(path, data, floor)
    assert sum(one.size for one in found) == len(data)
    assert [one.position for one in found] == [0][: len(found)]


@given(
    seed=st.integers(0, 10_000),
    flips=st.lists(st.tuples(st.integers(0, 1 << 30), st.integers(0, 7)), max_size=6),
    cut=st.integers(0, 1 << 30),
)
def test_damage_anywhere_leaves_every_byte_accounted_for(
    tmp_path_factory: pytest.TempPathFactory, seed: int, flips: list[tuple[int, int]], cut: int
) -> None:
    data = b"".join(batch.encoded() for batch in log(seed))
    for byte, bit in flips:
        data = generate.flipped(data, byte % len(data), bit)
    data = data[: len(data) - cut % 300]
    found = walked(tmp_path_factory.getbasetemp() / "damaged", data)
    position = 0
    for one in found:
        assert one.position == position
        assert one.size > 0
        position += one.size
    assert position == len(data)


def test_after_damage_the_walk_goes_on_at_the_next_sound_batch(tmp_path: Path) -> None:
    made = log()
    raw = [batch.encoded() for batch in made]
    raw[5] = generate.flipped(raw[5], 9)
    found = walked(tmp_path / "log", b"".join(raw))
    assert [type(one) for one in found] == [Batch] * 5 + [Break] + [Batch] * 6
    assert found[5][:2] == (made[5].base_offset, made[6].base_offset)


def test_a_batch_stored_inside_a_value_is_not_taken_for_one_of_ours(tmp_path: Path) -> None:
    inner = generate.Made(3, (generate.Row(0, None, b"x"),)).encoded()
    outer = generate.Made(10, (generate.Row(0, None, inner),))
    data = generate.flipped(outer.encoded(), 9) + generate.Made(11, outer.rows).encoded()
    found = walked(tmp_path / "log", data, floor=10)
    assert [one[:2] for one in found] == [(10, 11), (11, 12)]
    assert isinstance(found[0], Break)


def test_a_torn_tail_is_a_break_up_to_the_ceiling(tmp_path: Path) -> None:
    made = log(count=3)
    raw = [batch.encoded() for batch in made]
    found = walked(tmp_path / "log", raw[0] + raw[1] + raw[2][:-1], ceiling=1000)
    assert found[2][:2] == (made[2].base_offset, 1000)


def test_a_file_that_shrank_ends_in_a_break(tmp_path: Path) -> None:
    data = b"".join(batch.encoded() for batch in log())
    path = tmp_path / "log"
    path.write_bytes(data[: len(data) // 2])
    found = list(walk(Part(str(path), 0, len(data), 0, OFFSET_MAX)))
    assert isinstance(found[-1], Break)
    assert found[-1].position + found[-1].size == len(data)


def test_the_next_offset_of_a_damaged_batch_is_what_its_neighbour_says(tmp_path: Path) -> None:
    made = log()
    raw = [batch.encoded() for batch in made]
    raw[4] = generate.flipped(raw[4], 23, 6)  # the last offset delta
    found = walked(tmp_path / "log", b"".join(raw))
    assert found[4][:2] == (made[4].base_offset, made[4].next_offset)
    assert isinstance(found[4], Batch)
    assert not found[4].sound


def test_batches_larger_than_the_window_are_read(tmp_path: Path) -> None:
    value = random.Random(1).randbytes(3 << 20)
    made = [generate.Made(n, (generate.Row(0, None, value),)) for n in range(3)]
    found = walked(tmp_path / "log", b"".join(batch.encoded() for batch in made))
    assert [one[:2] for one in found] == [(0, 1), (1, 2), (2, 3)]
    assert all(one.size > HEADER_BYTES + len(value) for one in found)
