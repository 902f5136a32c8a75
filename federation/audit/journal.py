"""What an audit has compared so far, so that one that was killed goes on where it stood.

One JSON line for each unit: a digest of the unit (its offsets, files and bytes), and its outcome. A unit that is
planned again over the same bytes of the same files is not read again; what could not be read is. A line that was torn
by the kill, and whatever else is no outcome, counts as not there.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import TextIO

from xxhash import xxh3_128_hexdigest

from federation.audit.comparison.findings import Class
from federation.audit.comparison.unit import Unit, UnitOutcome, outcome_from_row

NAME = "progress.jsonl"


class Journal:
    """A context manager; `path` None keeps nothing. `resume` takes over what the file has, else it begins anew.

    `options` are those that change an outcome: what other options made is not taken over. The file and its folder are
    made when there is an outcome to write: an audit that is refused leaves nothing behind.
    """

    def __init__(self, path: str | None = None, *, resume: bool = False, options: str = "") -> None:
        self._path = path
        self._options = options
        self._known = dict(_read(path)) if resume and path is not None else {}
        self._resume = resume
        self._file: TextIO | None = None

    def __enter__(self) -> "Journal":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """An audit that came to its end needs no journal any more."""
        if self._file is not None:
            self._file.close()
        if self._path is not None and error is None:
            Path(self._path).unlink(missing_ok=True)

    def known(self, unit: Unit) -> UnitOutcome | None:
        return self._known.get(self._digest(unit)) if self._known else None

    def add(self, compared: Iterable[tuple[Unit, UnitOutcome]]) -> None:
        """Written through at once: a kill loses at most what is being compared."""
        if self._path is None:
            return
        file = self._file = self._file or _opened(self._path, resume=self._resume)
        for unit, outcome in compared:
            if not any(one.kind is Class.UNREADABLE for one in outcome.findings):
                file.write(json.dumps([self._digest(unit), outcome]) + "\n")
        file.flush()

    def _digest(self, unit: Unit) -> str:
        """Of what is fetched, the size is an estimate that grows with the log."""
        copies = [
            one._replace(fetched=one.fetched and one.fetched._replace(size=0))
            for one in unit.copies
        ]
        return xxh3_128_hexdigest(json.dumps([self._options, unit[:4], copies]).encode())


def _opened(path: str, *, resume: bool) -> TextIO:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return Path(path).open("a" if resume else "w", encoding="utf-8")


def _read(path: str) -> Iterable[tuple[str, UnitOutcome]]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except FileNotFoundError:
        return
    for line in lines:
        try:
            digest, row = json.loads(line)
            yield str(digest), outcome_from_row(row)
        except (ValueError, TypeError):
            continue
