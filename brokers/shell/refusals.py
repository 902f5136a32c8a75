"""Turns errors of system calls into the port's `DiskError`, which says what to do."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from brokers.ports import DiskError

_HINTS = {
    errno.ENOSPC: "the disk is full; free some space",
    errno.EDQUOT: "the disk quota is used up; free some space",
    errno.EROFS: "the file system is read-only; check it and mount it again",
    errno.EIO: "the device reports errors; check the disk",
    errno.EMFILE: "too many open files; raise the limit (ulimit -n)",
    errno.EACCES: "permission denied; check who owns the data directory",
}


@contextmanager
def refusals(path: str) -> Iterator[None]:
    """Raises DiskError for OSError. Not for the byte path, where a context manager costs more than the call."""
    try:
        yield
    except OSError as error:
        raise refusal(path, error) from error


def refusal(path: str, error: OSError) -> DiskError:
    """The DiskError for an OSError; says what to do."""
    hint = _HINTS.get(error.errno or 0, error.strerror or str(error))
    return DiskError(f"{path}: {hint}")
