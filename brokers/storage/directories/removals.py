"""Removes the files of deleted segments, and the folders of deleted logs, some time after they were renamed.

The delay is `file.delete.delay.ms`: whoever opens a file by its name has so long for it. The host waits: it takes
each `DelayedRemoval` from `waiting` and calls `begin` after its delay. What the end of a process leaves is removed
at the next start: files when their log is opened, folders when the directory is.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final
from uuid import UUID

from brokers.events import DirectoryRefused, Event
from brokers.ports import DiskError, Files

DELETED: Final = ".deleted"  # Kafka's


class DelayedRemoval:
    """Renamed files of one folder, or one renamed folder, to be removed after `delay_ms`."""

    def __init__(self, removals: "Removals", paths: Sequence[str], delay_ms: int) -> None:
        self._removals = removals
        self.paths = paths
        self.delay_ms = delay_ms

    def begin(self) -> Callable[[], list[Event]]:
        """Remove what no later deletion has taken over. The result gives back the space, in any thread."""
        return self._removals.begin(self)

    def remove(self) -> list[Event]:
        return self.begin()()


class Removals:
    """Of one directory. `waiting`: what the host has not taken yet."""

    def __init__(self, files: Files, directory: UUID, waiting: list[DelayedRemoval]) -> None:
        self._files = files
        self._directory = directory
        self.waiting = waiting
        self._pending: dict[str, DelayedRemoval] = {}  # by path

    def discard(self, *groups: Sequence[str], delay_ms: int) -> None:
        """Rename files of one folder durably, one group after the other; without a delay remove them at once."""
        for paths in groups:
            found = [path for path in paths if self._files.exists(path)]
            if delay_ms <= 0:
                self._files.remove_several(found)
                continue
            self._files.rename_several([(path, path + DELETED) for path in found])
            self._wait([path + DELETED for path in found], delay_ms)

    def changes(
        self, paths: Sequence[str], *, delay_ms: int
    ) -> tuple[list[str], list[tuple[str, str]]]:
        """What `discard` would (remove, rename), for the caller's `begin_changes`, which comes at once."""
        found = [path for path in paths if self._files.exists(path)]
        if delay_ms <= 0:
            return found, []
        renames = [(path, path + DELETED) for path in found]
        self._wait([new_path for _, new_path in renames], delay_ms)
        return [], renames

    def discard_folder(self, name: str, aside: str, *, delay_ms: int) -> None:
        """Rename a folder; without a delay remove it at once. A crash leaves all of it, or a leftover."""
        self._files.close(name)
        self._files.remove(aside)  # of the same log, which came back meanwhile
        self._files.rename(name, aside)
        if delay_ms <= 0:
            self._files.remove(aside)
        else:
            self._wait([aside], delay_ms)

    def _wait(self, paths: Sequence[str], delay_ms: int) -> None:
        if paths:
            discarded = DelayedRemoval(self, paths, delay_ms)
            self._pending.update(dict.fromkeys(paths, discarded))
            self.waiting.append(discarded)

    def names_in(self, folder: str) -> frozenset[str]:
        """The names of files in a folder that wait for their removal."""
        prefix = f"{folder}/"
        return frozenset(
            path.removeprefix(prefix) for path in self._pending if path.startswith(prefix)
        )

    def begin(self, discarded: DelayedRemoval) -> Callable[[], list[Event]]:
        """The delay of these is over."""
        paths = [path for path in discarded.paths if self._pending.get(path) is discarded]
        for path in paths:
            del self._pending[path]
        try:
            give_back = self._files.begin_removal(
                [each for each in paths if self._files.exists(each)]
            )
        except DiskError as error:
            return partial(self._refused, error)
        return partial(self._end, give_back)

    def _end(self, give_back: Callable[[], None]) -> list[Event]:
        try:
            give_back()
        except DiskError as error:
            return self._refused(error)
        return []

    def _refused(self, error: DiskError) -> list[Event]:
        return [DirectoryRefused(str(error), self._directory)]

    def end(self) -> None:
        """Remove nothing any more: the next start does, or the directory has failed."""
        self._pending.clear()
