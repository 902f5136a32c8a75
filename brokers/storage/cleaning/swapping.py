"""Puts a cleaned segment in the place of those that it replaces; what a crash interrupts, the next opening completes.

1. The worker has synced the cleaned files, and given them their names with `.cleaned` behind.
2. The cleaned log file is renamed to `.swap`: from then on it is the valid one.
3. The replaced segments go (`file.delete.delay.ms`: they are renamed), the first one's log file too or not at all; the
   new indexes get their names. The log is read from `.swap`.
4. The log file gets its name, in place of the first one's.

Each step is durable before the next one begins. The changes are made in the log's thread, so that nobody looks for a
file in between; what makes them durable takes milliseconds, and any thread.

A crash before step 2 leaves the old segments, and files that are removed. After it, `.swap` says what to do: its
batches cover the offsets of the segments that it replaces, as the last one of each is kept at least as a header.
These are Kafka's names; Kafka completes what is left here, and the other way round.
"""

from collections.abc import Callable, Generator, Sequence
from typing import Final, NamedTuple, TypeAlias

from brokers.events import Event
from brokers.ids import Offset
from brokers.ports import DiskError, Files
from brokers.records.batch import BatchError
from brokers.storage.logs.local_log import LocalLog
from brokers.storage.segments.file_names import (
    CLEANED,
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


Sync: TypeAlias = Callable[[], None]


class SwapStep(NamedTuple):
    """`sync` makes the step durable, in any thread, and raises `DiskError`; `events` are what the log must know before
    the next step."""

    sync: Sync
    events: Sequence[Event] = ()


class Swap:
    """One cleaned segment on its way into the log: `advance` in the log's thread and `sync` in any, in turn."""

    def __init__(
        self,
        steps: Generator[SwapStep, None, list[Event]],
        failed: Callable[[DiskError], list[Event]],
    ) -> None:
        self._steps = steps
        self._failed = failed
        self._sync: Sync | None = None
        self._error: DiskError | None = None
        self.is_over = False

    def advance(self) -> list[Event]:
        """The next step -> its events."""
        if self.is_over:
            return []
        try:
            if self._error is not None:
                raise self._error
            self._sync, events = next(self._steps)
            return list(events)
        except StopIteration as done:
            self.give_up()
            swapped: list[Event] = done.value
            return swapped
        except (DiskError, BatchError) as error:
            self.give_up()
            return self._failed(DiskError(str(error)))

    def sync(self) -> None:
        """Make the step durable."""
        if self._sync is not None:
            try:
                self._sync()
            except DiskError as error:
                self._error = error

    def give_up(self) -> None:
        """Nothing is left to do, or the log is closed: its next opening completes what has begun."""
        self.is_over, self._sync = True, None


def swap_in(
    files: Files,
    log: LocalLog,
    base: Offset,
    replaced: Sequence[LogSegment],
    changed: Callable[[], None],
    begun: Sequence[Event] = (),
) -> Generator[SwapStep, None, LogSegment]:
    """Steps 2 to 4 -> the new segment. Raises `DiskError`, `BatchError`.

    `changed` is called when the log has other segments, and when the new one has its name. `begun` are the events of
    step 2, after which the log is still read from the old segments.
    """
    path = f"{log.directory}/{file_name(base, LOG)}"
    yield SwapStep(files.begin_changes([], [(path + CLEANED, path + SWAP)]), begun)
    gone = _files_of(log.directory, base, [each.base_offset for each in replaced])
    removed, renames = log.discard_replaced(gone, path)
    sync = files.begin_changes(removed, [*renames, *_new_indexes(files, log.directory, base)])
    segment = log.replace(replaced, SWAP)
    changed()
    yield SwapStep(sync)
    sync = files.begin_changes([], [(path + SWAP, path)])
    log.replacement_named(segment, SWAP)
    changed()
    yield SwapStep(sync)
    return segment


def _files_of(directory: str, base: Offset, replaced: Sequence[Offset]) -> list[str]:
    """All of the replaced segments but the first one's log file and producer snapshot."""
    gone = [f"{directory}/{file_name(base, suffix)}" for suffix in _BESIDE]
    for offset in replaced:
        if offset != base:
            suffixes = (*_BESIDE, SNAPSHOT, LOG)
            gone += [f"{directory}/{file_name(offset, suffix)}" for suffix in suffixes]
    return gone


def _new_indexes(files: Files, directory: str, base: Offset) -> list[tuple[str, str]]:
    paths = [f"{directory}/{file_name(base, suffix)}" for suffix in (INDEX, TIME_INDEX)]
    return [(path + CLEANED, path) for path in paths if files.exists(path + CLEANED)]


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
        files.remove_several(_files_of(directory, base, replaced))
        path = f"{directory}/{name}"
        files.rename_several(
            [*_new_indexes(files, directory, base), (path, path.removesuffix(SWAP))]
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
