"""Disk that a file takes before it has the bytes (Linux's fallocate with FALLOC_FL_KEEP_SIZE)."""

import ctypes
from typing import Final

_KEEP_SIZE: Final = 1
_libc: Final = ctypes.CDLL(None)


def preallocate(descriptor: int, size: int) -> bool:
    """Whether the file system did so. Without room, or elsewhere than on Linux, a file takes it as it grows."""
    fallocate = getattr(_libc, "fallocate", None)
    if fallocate is None:
        return False
    fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
    return bool(fallocate(descriptor, _KEEP_SIZE, 0, size) == 0)
