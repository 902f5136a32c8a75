"""Set the batches of two sides against each other by offset.

Pure: two lists in file order go in; what comes out depends on nothing else. Equal batches vanish. What is left are
islands: the smallest offset ranges in which the two sides do not consist of equal batches.
"""

from collections.abc import Iterator, Sequence, Set
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from federation.audit.segments.batches import Batch
from federation.audit.segments.rising_run import longest_run

Identity: TypeAlias = tuple[int, int, int, int]
"""Base offset, size, leader epoch and body hash: two batches with one identity are the same bytes."""


class Island(NamedTuple):
    """Batches of both sides that overlap one another and nothing else; either side may have none."""

    source: tuple[Batch, ...]
    mirror: tuple[Batch, ...]


def in_order(batches: Sequence[Batch], known: Set[Identity]) -> tuple[list[Batch], list[Batch]]:
    """The batches whose offsets rise, and the batches outside of that order.

    `known`, what the other side holds too, is trusted first: so the batch that was moved or whose base offset was
    damaged is blamed, not its neighbours.
    """
    if all(one.next_offset <= two.base_offset for one, two in pairwise(batches)):
        return list(batches), []
    trusted = longest_run([batch for batch in batches if identity(batch) in known])
    rising: list[Batch] = []
    strays: list[Batch] = []
    reached, ahead = 0, 0
    for batch in batches:
        if ahead < len(trusted) and batch is trusted[ahead]:
            ahead += 1
        elif batch.base_offset < reached or (
            ahead < len(trusted) and batch.next_offset > trusted[ahead].base_offset
        ):
            strays.append(batch)
            continue
        rising.append(batch)
        reached = batch.next_offset
    return rising, strays


def identity(batch: Batch) -> Identity:
    return batch.base_offset, batch.size, batch.leader_epoch, batch.body


def islands(source: Sequence[Batch], mirror: Sequence[Batch]) -> Iterator[Island]:
    """Both sides in rising order in; every maximal unequal stretch out."""
    one = two = 0
    while one < len(source) or two < len(mirror):
        if one < len(source) and two < len(mirror) and same(source[one], mirror[two]):
            one, two = one + 1, two + 1
            continue
        from_one, from_two = one, two
        heads = (*source[one : one + 1], *mirror[two : two + 1])
        reach = min(batch.base_offset for batch in heads) + 1
        while True:
            if one < len(source) and source[one].base_offset < reach:
                reach, one = max(reach, source[one].next_offset), one + 1
            elif two < len(mirror) and mirror[two].base_offset < reach:
                reach, two = max(reach, mirror[two].next_offset), two + 1
            else:
                break
        yield Island(tuple(source[from_one:one]), tuple(mirror[from_two:two]))


def same(source: Batch, mirror: Batch) -> bool:
    """Nothing to report: the same bytes, and sound."""
    return source.sound and not source.lie and identity(source) == identity(mirror)
