"""What is to be fetched in temporary files, while it is read."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

from federation.audit.fetch.reading import batches
from federation.audit.segments.batches import Part
from federation.audit.segments.replica import FetchRange, Stretch


@contextmanager
def spooled(stretch: Stretch) -> Iterator[tuple[Part, ...]]:
    """The stretch as parts of files; raises OSError."""
    if stretch.fetched is None:
        yield stretch.parts
        return
    with temporary_folder() as folder:
        yield spool(stretch.fetched, folder)


def temporary_folder() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="causeway-fetch-")


def spool(wanted: FetchRange, folder: str) -> tuple[Part, ...]:
    """Fetches into a file in `folder`; raises OSError."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"{wanted.from_offset:020}.log")
    key = wanted.topic, wanted.partition
    with open(path, "wb") as file:
        for run in batches(wanted.address, key, wanted.from_offset, wanted.to_offset):
            file.write(run)
        size = file.tell()
    return (Part(path, 0, size, wanted.floor, wanted.to_offset),) if size else ()
