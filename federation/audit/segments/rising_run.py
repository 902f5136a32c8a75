"""The longest run of batches whose offsets rise: the batches of a file that are believed."""

from bisect import bisect_right
from collections.abc import Sequence

from federation.audit.segments.batches import Batch


def longest_run(batches: Sequence[Batch]) -> list[Batch]:
    """The longest subsequence whose offset ranges rise without overlap (patience sorting)."""
    ends: list[int] = []  # ends[n]: the lowest next offset of a rising run of n + 1 batches
    tails: list[int] = []  # tails[n]: the number of that run's last batch
    before = [-1] * len(batches)
    for number, batch in enumerate(batches):
        place = bisect_right(ends, batch.base_offset)
        before[number] = tails[place - 1] if place else -1
        if place == len(ends):
            ends.append(batch.next_offset)
            tails.append(number)
        elif batch.next_offset < ends[place]:
            ends[place], tails[place] = batch.next_offset, number
    run = []
    number = tails[-1] if tails else -1
    while number >= 0:
        run.append(batches[number])
        number = before[number]
    return run[::-1]
