"""Whether the nodes of a region have found one another."""

import time
from collections.abc import Sequence
from contextlib import suppress

from tests.bench import answers, frames, topics
from tests.bench.connection import Connection

TIMEOUT_S = 120


def all_know_all(addresses: Sequence[str]) -> None:
    """Returns once every node names every node in its metadata."""
    deadline = time.monotonic() + TIMEOUT_S
    for address in addresses:
        while not _knows(address, len(addresses)):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{address} doesn't know all {len(addresses)} nodes")
            time.sleep(0.01)


def all_lead(addresses: Sequence[str], topic: str) -> None:
    """Returns once every node names the leader of a topic's one partition."""
    deadline = time.monotonic() + TIMEOUT_S
    for address in addresses:
        while not topics.leaders(address, topic).addresses:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{address} knows no leader of {topic}")


def _knows(address: str, wanted: int) -> bool:
    with suppress(OSError), Connection(address, timeout_s=5) as connection:
        return answers.brokers(connection.ask(frames.metadata())) == wanted
    return False
