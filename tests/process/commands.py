"""The command line, as an operator runs it, and whether a process is there."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

CAUSEWAY = str(Path(sys.executable).parent / "causeway")


def causeway(*arguments: str, timeout: float) -> Any:
    """What a command answers; it must end well. What it describes may be not well (exit code 3)."""
    done = run(*arguments, "--json", timeout=timeout)
    assert done.returncode == 0 or is_description(arguments, done.returncode), (
        arguments,
        done.stdout,
        done.stderr,
    )
    return json.loads(done.stdout)


def run(*arguments: str, timeout: float) -> subprocess.CompletedProcess[str]:
    """A command, however it ends."""
    command = [CAUSEWAY, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)


def is_description(arguments: tuple[str, ...], code: int) -> bool:
    return arguments[:2] in {("link", "describe"), ("mirror", "describe")} and code == 3


def is_alive(pid: int) -> bool:
    """A zombie is dead: whoever started it has just not looked yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
