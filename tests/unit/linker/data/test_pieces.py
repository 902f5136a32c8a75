"""A range of a partition as a source sends it: cut where segments begin."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from brokers.records.batch import iter_headers
from linker.data.subscription import pieces
from tests.unit.linker.data.test_source_replicator import batch


@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=20),
    st.sets(st.integers(0, 25), max_size=6),
)
def test_pieces_are_the_range_cut_at_segment_bases(sizes: list[int], bases: set[int]) -> None:
    data = b"".join(batch(offset, size) for offset, size in enumerate(sizes))
    cut = list(pieces(data, 0, len(sizes), tuple(sorted(bases | {0}))))
    assert b"".join(bytes(piece.data) for piece in cut) == data
    expected = 0
    for offset, next_offset, piece, base in cut:
        assert offset == expected
        headers = [header for _, header in iter_headers(piece)]
        assert [header.base_offset for header in headers] == list(range(offset, next_offset))
        assert not [each for each in bases if offset < each < next_offset]
        assert base == (offset if offset in bases | {0} else -1)
        expected = next_offset
    assert expected == len(sizes)


@given(st.data())
def test_pieces_of_a_compacted_log_end_with_their_last_batch(draw: st.DataObject) -> None:
    """A segment's base offset may lie anywhere between the batch before it and its own first one."""
    left = sorted(draw.draw(st.sets(st.integers(0, 30), min_size=1, max_size=12)))
    begins = draw.draw(st.sets(st.sampled_from(left)))
    bases = {}
    for before, first in pairwise([-1, *left]):
        if first in begins:
            bases[draw.draw(st.integers(before + 1, first))] = first
    data = b"".join(batch(offset, 5) for offset in left)
    cut = list(pieces(data, 0, left[-1] + 1, tuple(sorted(bases))))
    assert b"".join(bytes(piece.data) for piece in cut) == data
    expected = 0
    for piece in cut:
        headers = [header for _, header in iter_headers(piece.data)]
        assert (piece.offset, piece.next_offset) == (expected, headers[-1].next_offset)
        assert begins.isdisjoint(header.base_offset for header in headers[1:])
        assert bases.get(piece.base, -1) == (
            headers[0].base_offset if headers[0].base_offset in begins else -1
        )
        expected = piece.next_offset
