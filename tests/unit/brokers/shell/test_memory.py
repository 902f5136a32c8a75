"""What the C library keeps of memory that is freed, in a process of its own: settings of it cannot be taken back."""

import ctypes
import subprocess
import sys

import pytest

from brokers.shell.memory import KEPT_BYTES

# Eight threads have 32 MiB each at the same time, in blocks of the heap, and free them.
KEPT = """
import ctypes, threading
from pathlib import Path
from brokers.shell.memory import keep_freed_memory

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

def use():
    blocks = [b"x" * (4 << 20) for _ in range(8)]
    all_have_theirs.wait()
    del blocks

assert keep_freed_memory()
before = resident()
all_have_theirs = threading.Barrier(8)
threads = [threading.Thread(target=use) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(resident() - before)
"""


@pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "mallopt"), reason="this C library has no mallopt(3)"
)
def test_freed_memory_is_kept_once_and_not_for_each_thread() -> None:
    done = subprocess.run(
        [sys.executable, "-c", KEPT], capture_output=True, text=True, check=True, timeout=60
    )
    assert 0 <= int(done.stdout) <= KEPT_BYTES
