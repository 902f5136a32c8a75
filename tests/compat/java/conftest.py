"""Runs a main class of Kafka's jars against the region."""

import subprocess
from collections.abc import Callable
from typing import Protocol

import pytest

from tests.bench.peer import jars

WAIT_S = 110


class Tool(Protocol):
    def __call__(self, main: str, *words: str, said: str = "") -> str: ...


@pytest.fixture(scope="session")
def tool() -> Callable[..., str]:
    """What a tool prints on stdout, when it ends well. A name without dots is in org.apache.kafka.tools."""
    try:
        jars.fetch()
    except jars.Unavailable as reason:
        pytest.skip(str(reason))
    return run


def run(main: str, *words: str, said: str = "") -> str:
    command = jars.java(main if "." in main else f"org.apache.kafka.tools.{main}", *words)
    # The compiler that starts at once is enough for a short run, and leaves the other core to the node.
    command[1:1] = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
    command.remove("-XX:+UseG1GC")
    done = subprocess.run(
        command, input=said, capture_output=True, text=True, timeout=WAIT_S, check=False
    )
    complaint = "\n".join((done.stdout + done.stderr).splitlines()[-30:])
    assert done.returncode == 0, f"{main} {' '.join(words)}\n{complaint}"
    return done.stdout
