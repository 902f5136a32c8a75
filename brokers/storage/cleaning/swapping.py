"""Puts a cleaned segment in the place of those that it replaces; what a crash interrupts, the next opening completes.

1. The worker has synced the cleaned files, and given them their names with `.cleaned` behind.
2. The cleaned log file is renamed to `.swap`: from then on it is the valid one.
3. The replaced segments go (`file.delete.delay.ms`: they are renamed), the first one's log file last or not at all.
4. The new indexes get their names, and last the log file, in place of the first one's.

A crash before step 2 leaves the old segments, and files that are removed. After it, `.swap` says what to do: its
batches cover the offsets of the segments that it replaces, as the last one of each is kept at least as a header.
These are Kafka's names; Kafka completes what is left here, and the other way round.
"""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from brokers.ids import Offset
from brokers.ports import Files
from brokers.records.batch import BatchError
from brokers.storage.cleaning.cleaned_writing import CLEANED
from brokers.storage.segments.file_names import (
    DIGEST,
    INDEX,
    LOG,
    SNAPSHOT,
    TIME_INDEX,
    file_name,
    offset_in_name,
)
from brokers.storage.segments.log_segment import LogSegment

SWAP: Final = ".swap"
_BESIDE: Final = (INDEX, TIME_INDEX, DIGEST)


# Removes files, or renames them to be removed later; also, if it must stay readable for a while, the last one.
Discard: TypeAlias = Callable[[Sequence[str], str], None]


def swap_in(
    files: Files, directory: str, base: Offset, replaced: Sequence[Offset], discard: Discard
) -> None:
    """Steps 2 to 4, durable when they return. `replaced`: the base offsets of the old segments. Raises `DiskError`."""
    log = f"{directory}/{file_name(base, LOG)}"
    files.rename(log + CLEANED, log + SWAP)
    _put_in_place(files, directory, base, replaced, discard)


def _put_in_place(
    files: Files, directory: str, base: Offset, replaced: Sequence[Offset], discard: Discard
) -> None:
    def path(offset: Offset, suffix: str) -> str:
        return f"{directory}/{file_name(offset, suffix)}"

    gone = [path(base, suffix) for suffix in _BESIDE]
    for offset in replaced:
        if offset != base:
            gone += [path(offset, suffix) for suffix in (*_BESIDE, SNAPSHOT, LOG)]
    log = path(base, LOG)
    discard(gone, log)
    renamed = [
        (path(base, suffix) + CLEANED, path(base, suffix))
        for suffix in (INDEX, TIME_INDEX)
        if files.exists(path(base, suffix) + CLEANED)
    ]
    files.rename_several([*renamed, (log + SWAP, log)])


def complete_swaps(
    files: Files, directory: str, open_segment: Callable[[Offset], LogSegment]
) -> list[str]:
    """Complete what a crash interrupted -> one line each. Before the segments of the folder are looked for."""
    names = list(files.list(directory))
    bases = sorted(base for name in names if (base := offset_in_name(name, LOG)) is not None)
    repairs = []
    for name in names:
        base = offset_in_name(name.removesuffix(SWAP), LOG) if name.endswith(SWAP) else None
        if base is None:
            continue
        end = _end_of(files, f"{directory}/{name}", open_segment(base))
        if end is None:
            repairs.append(f"{directory}/{name}: removed: it is damaged")
            files.remove(f"{directory}/{name}")
            continue
        replaced = [each for each in bases if base <= each < end]
        _put_in_place(
            files, directory, base, replaced, lambda gone, log: files.remove_several(gone)
        )
        repairs.append(f"{directory}/{name}: put in place, up to offset {end}")
    return repairs


def _end_of(files: Files, path: str, segment: LogSegment) -> Offset | None:
    """One past the last offset of a cleaned file; None if it is no sequence of whole batches."""
    segment.path = path
    size, end, next_offset = files.size(path), 0, None
    try:
        for position, header in segment.scan_headers(0, size):
            end, next_offset = position + header.length, header.next_offset
    except BatchError:
        return None
    return next_offset if end == size else None
