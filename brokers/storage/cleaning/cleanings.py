"""The cleanings of the open logs of one directory. One at a time a log; the host runs their steps where it likes.

`CleanLog` puts a log into `pending`. The host takes it with `begin`, hands each `CleanedSegment` to `begin_swap` and
the end of the cleaning to `end`. If the log was cut, trimmed or closed meanwhile, what does not fit any more is not
swapped in, and the cleaning ends there. Whatever changes the log's segments first completes a swap that has begun.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from brokers.effects import CleanLog
from brokers.events import Event, LogCleaned, RecordsCompacted, SegmentsCleaned
from brokers.ids import Instant, TopicPartition
from brokers.ports import DiskError, Files
from brokers.storage.cleaning.cleaning_plan import (
    CleanedSegment,
    CleaningDone,
    CleaningFailed,
    CleaningPlan,
    PlannedSegment,
)
from brokers.storage.cleaning.swapping import Swap, SwapStep, swap_in
from brokers.storage.directories.log_dir_checkpoints import LogDirCheckpoints
from brokers.storage.logs.appends import Performer
from brokers.storage.logs.digests import Digests
from brokers.storage.logs.local_log import LocalLog
from brokers.storage.segments.file_names import CLEANED
from brokers.storage.segments.log_segment import LogSegment


class Cleaning:
    """One cleaning of an open log. `on_give_up` is called when its results are of no use any more."""

    def __init__(self, log: LocalLog, plan: CleaningPlan) -> None:
        self.log = log
        self.plan = plan
        self.is_given_up = False
        self.on_give_up: Callable[[], None] = lambda: None

    def give_up(self) -> None:
        self.is_given_up = True
        self.on_give_up()


class Cleanings:
    """For the open `logs` of one directory. `pending`: the plans that wait for the host."""

    def __init__(
        self,
        files: Files,
        root: LogDirCheckpoints,
        logs: Mapping[TopicPartition, LocalLog],
        digests: Digests,
        pending: dict[TopicPartition, CleanLog],
        fail: Callable[[TopicPartition, DiskError], list[Event]],
    ) -> None:
        self.files = files
        self._root = root
        self._logs = logs
        self._digests = digests
        self._fail = fail
        self.pending = pending
        self._under_way: dict[TopicPartition, Cleaning] = {}
        self._swaps: dict[TopicPartition, Swap] = {}

    def clean(self, effect: CleanLog, now: Instant) -> list[Event]:
        """The host begins it as soon as it can."""
        if effect.partition not in self._logs or effect.partition in self._under_way:
            return [_ended_early(effect.partition)]
        self.pending[effect.partition] = effect
        return []

    def begin(self, partition: TopicPartition) -> Cleaning:
        """Take a log from `pending`."""
        effect, log = self.pending.pop(partition), self._logs[partition]
        for name in self.files.list(log.directory):
            if CLEANED in name:  # of a cleaning that was given up
                with suppress(DiskError):
                    self.files.remove(f"{log.directory}/{name}")
        segments = tuple(
            PlannedSegment(each.base_offset, log.end_of(each), each.size)
            for each in self._sealed(log)
            if each.base_offset < effect.bound and log.end_of(each) <= log.synced_offset
        )
        plan = CleaningPlan(
            log.directory,
            segments,
            max(effect.first_dirty_offset, log.log_start_offset),
            effect.now,
            effect.delete_retention_ms,
            effect.segment_bytes,
            log.active.interval,
            effect.last_batches,
            effect.limits,
            effect.keep_markers_from,
            effect.keep_markers_ms,
        )
        cleaning = self._under_way[partition] = Cleaning(log, plan)
        return cleaning

    def _sealed(self, log: LocalLog) -> Sequence[LogSegment]:
        """The active segment is appended to: it is never cleaned."""
        return log.segments[:-1]

    def begin_swap(
        self, partition: TopicPartition, cleaning: Cleaning, cleaned: CleanedSegment
    ) -> Swap:
        """A finished segment, in the order in which they come; the next one begins when this one `is_over`."""
        swap = Swap(
            self._swap(partition, cleaning, cleaned),
            lambda error: self._swap_failed(partition, cleaning, error),
        )
        if self._under_way.get(partition) is cleaning and not cleaning.is_given_up:
            self._swaps[partition] = swap
        else:
            swap.give_up()
        return swap

    def _swap_failed(
        self, partition: TopicPartition, cleaning: Cleaning, error: DiskError
    ) -> list[Event]:
        cleaning.give_up()
        return self._fail(partition, error)

    def settle(self, partition: TopicPartition) -> list[Event]:
        """Complete the swap that a log is in the middle of, in this thread."""
        swap = self._swaps.pop(partition, None)
        events: list[Event] = []
        while swap is not None and not swap.is_over:
            events += swap.advance()
            swap.sync()
        return events

    def before(self, perform: Performer) -> Performer:
        """Settle the log of an effect before it is performed."""

        def perform_settled(effect: Any, now: Instant) -> list[Event]:
            return self.settle(effect.partition) + perform(effect, now)

        return perform_settled

    def _is_unchanged(
        self, cleaning: Cleaning, cleaned: CleanedSegment, replaced: Sequence[LogSegment]
    ) -> bool:
        """Whether the log still has the segments of which this one was made."""
        log = cleaning.log
        planned = [
            each
            for each in cleaning.plan.segments
            if cleaned.base_offset <= each.base_offset < cleaned.next_offset
        ]
        found = [PlannedSegment(each.base_offset, log.end_of(each), each.size) for each in replaced]
        return found == planned

    def _swap(
        self, partition: TopicPartition, cleaning: Cleaning, cleaned: CleanedSegment
    ) -> Generator[SwapStep, None, list[Event]]:
        log, base, end = cleaning.log, cleaned.base_offset, cleaned.next_offset
        replaced = [each for each in self._sealed(log) if base <= each.base_offset < end]
        if not self._is_unchanged(cleaning, cleaned, replaced):
            cleaning.give_up()
            return []
        # What is below the recovery point is read for its headers only when the log is opened after a crash; and a gap
        # that a cleaning leaves there is no loss.
        if self._root.recovery_points.surely_saved(partition) < end:
            self._root.save_recovery_point(partition, log.synced_offset)
        complete_from, markers_from = cleaning.plan.end, cleaned.markers_from
        self._root.save_cleaned(partition, complete_from, markers_from)
        changed = partial(self._digests.replaced, partition)
        begun = [RecordsCompacted(partition, complete_from, markers_from)]
        segment = yield from swap_in(self.files, log, base, replaced, changed, begun)
        return [SegmentsCleaned(partition, base, end, segment.size, segment.max_timestamp)]

    def end(
        self,
        partition: TopicPartition,
        cleaning: Cleaning,
        outcome: CleaningDone | CleaningFailed | None,
    ) -> list[Event]:
        """The last step of a cleaning; None: the host gave it up."""
        if self._under_way.get(partition) is not cleaning:
            return []
        del self._under_way[partition]
        if cleaning.is_given_up or outcome is None:
            return [_ended_early(partition)]
        if isinstance(outcome, CleaningFailed):
            return [LogCleaned(partition, None, outcome.reason, outcome.is_final)]
        self._root.cleaner_offsets.offsets[partition] = outcome.next_offset
        with suppress(
            DiskError
        ):  # it is saved with the next one; until then a restart cleans again
            self._root.cleaner_offsets.save()
        return [LogCleaned(partition, outcome.next_offset, stats=outcome.stats)]

    def stop(self, partition: TopicPartition) -> list[Event]:
        """Give up the cleaning of a log, if there is one."""
        events = self.settle(partition)
        is_begun = partition in self.pending or partition in self._under_way
        self.drop(partition)
        return [*events, _ended_early(partition)] if is_begun else events

    def drop(self, partition: TopicPartition) -> None:
        """The log was closed."""
        self.pending.pop(partition, None)
        if (swap := self._swaps.pop(partition, None)) is not None:
            swap.give_up()
        if (begun := self._under_way.pop(partition, None)) is not None:
            begun.give_up()


def _ended_early(partition: TopicPartition) -> LogCleaned:
    return LogCleaned(partition, None)
