"""A unit whose copies are on brokers, brought into files where its worker runs."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from federation.audit.comparison.unit import Unit, UnitCopy
from federation.audit.fetch.spool import spool, temporary_folder
from federation.audit.segments.batches import Part


@contextmanager
def in_files(unit: Unit) -> Iterator[tuple[Unit, Mapping[str, OSError]]]:
    """The unit with every copy in files; by name of the replica, why one could not be fetched."""
    if not any(one.fetched for one in unit.copies):
        yield unit, {}
        return
    failed: dict[str, OSError] = {}
    with temporary_folder() as folder:
        copies = tuple(_in_files(one, folder, failed) for one in unit.copies)
        yield unit._replace(copies=copies), failed


def _in_files(copy: UnitCopy, folder: str, failed: dict[str, OSError]) -> UnitCopy:
    if copy.fetched is None:
        return copy
    parts: tuple[Part, ...] = ()
    try:
        parts = spool(copy.fetched, os.path.join(folder, copy.replica))
    except OSError as error:
        failed[copy.replica] = error
    return copy._replace(parts=parts, fetched=None)
