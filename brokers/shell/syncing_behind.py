"""Files that are written and synced in a thread, in order: a cleaning goes on meanwhile."""

import os
import traceback
from collections.abc import Callable
from functools import partial
from queue import Queue
from threading import Thread
from typing import Final, TypeAlias

from brokers.ids import Buffer
from brokers.ports import DiskError, FileWriter
from brokers.shell.files import DiskFiles

# Writes, of about a chunk each, and files to be synced, of which a segment has three.
WAITING_MAX: Final = 8

_Work: TypeAlias = Callable[[], object]


def _nothing() -> None: ...


class FollowingThread:
    """Does what it is asked for, in that order and `WAITING_MAX` behind at most; nothing after a `DiskError`."""

    def __init__(self) -> None:
        self._asked: Queue[tuple[_Work, _Work]] = Queue(WAITING_MAX)
        self._error: DiskError | None = None
        Thread(target=self._run, daemon=True).start()

    def do(self, work: _Work, *, otherwise: _Work = _nothing) -> None:
        """Raises the error with which earlier work has failed; `otherwise` is done where it fails before this."""
        if self._error is not None:
            raise self._error
        self._asked.put((work, otherwise))

    def do_anyway(self, work: _Work) -> None:
        """Also after an error."""
        self._asked.put((work, work))

    def end(self) -> DiskError | None:
        """Waits until all is done -> the first error, which is forgotten."""
        self._asked.join()
        error, self._error = self._error, None
        return error

    def _run(self) -> None:
        while True:
            work, otherwise = self._asked.get()
            try:
                if self._error is None:
                    work()
                else:
                    otherwise()
            except DiskError as error:
                self._error = self._error or error
            except BaseException:
                traceback.print_exc()
                os._exit(1)  # nobody else would notice
            finally:
                self._asked.task_done()


class SyncedBehind(DiskFiles):
    """`write` and `finish` of a writer return before the bytes are written, and the file is synced and has its name:
    what must come after that is asked of the same thread. Nobody may change what was given to `write`."""

    def __init__(self, root: str, thread: FollowingThread) -> None:
        super().__init__(root)
        self._thread = thread

    def writer(self, path: str) -> FileWriter:
        return _WriterBehind(super().writer(path), self._thread)


class _WriterBehind:
    """`FileWriter`."""

    def __init__(self, writer: FileWriter, thread: FollowingThread) -> None:
        self._writer = writer
        self._thread = thread

    def write(self, data: Buffer) -> None:
        self._thread.do(partial(self._writer.write, data))

    def finish(self) -> None:
        self._thread.do(self._finish, otherwise=self._writer.give_up)

    def _finish(self) -> None:
        try:
            self._writer.finish()
        except DiskError:
            self._writer.give_up()
            raise

    def give_up(self) -> None:
        self._thread.do_anyway(self._writer.give_up)
