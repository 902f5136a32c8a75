"""Sealed tails that an operator discards; nothing else removes them.

A tail is renamed first, and durably: so after a crash it is there as a whole, or counts as discarded. What is left
of it then goes with the next that are discarded in this log directory.
"""

from collections.abc import Iterable

from brokers.ports import Files
from brokers.storage.logs.orphans import DISCARDED_SUFFIX, ORPHANS


def discard(files: Files, names: Iterable[str]) -> None:
    """Those of these tails, `TOPIC-PARTITION/FIRST-END.eEPOCH`, that the log directory has. Raises `DiskError`."""
    _remove_discarded(files)  # one of them may have been sealed again, and is discarded again
    for path in (f"{ORPHANS}/{name}" for name in names):
        if files.exists(path):
            files.rename(path, f"{path}{DISCARDED_SUFFIX}")
    _remove_discarded(files)


def _remove_discarded(files: Files) -> None:
    for home in list(files.list(ORPHANS)):
        for name in list(files.list(f"{ORPHANS}/{home}")):
            if name.endswith(DISCARDED_SUFFIX):
                files.remove(f"{ORPHANS}/{home}/{name}")
