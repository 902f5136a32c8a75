"""Space of the disk that measured systems write to: a measure ends when what it deleted is gone.

Removing gigabytes of files takes seconds, and shares the disk with what is measured meanwhile.
"""

import shutil
import sys
import tempfile
import time

SLACK_BYTES = 64 << 20  # what systems write besides, in their own logs
TIMEOUT_S = 60
POLL_S = 0.1


def free() -> int:
    """Bytes."""
    return shutil.disk_usage(tempfile.gettempdir()).free


def await_free(wanted: int, timeout_s: float = TIMEOUT_S) -> bool:
    """Whether so much is free again, within the slack and the time; says so where it is not, as others write too."""
    deadline = time.monotonic() + timeout_s
    while (now := free()) < wanted - SLACK_BYTES:
        if time.monotonic() > deadline:
            lacking = (wanted - now) / 1e6
            print(f"{lacking:.0f} MB of the disk did not come back", file=sys.stderr)
            return False
        time.sleep(POLL_S)
    return True
