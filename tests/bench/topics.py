"""Topics over the wire: created, waited for, counted, deleted. What `ends` asks must lead every partition."""

import time

from tests.bench import answers, frames
from tests.bench.connection import Connection

UNLED = (
    3,
    5,
    6,
    9,
)  # unknown topic, no leader yet, not the leader, replica not available: on its way
PATIENCE_S = 30


def create(address: str, topic: str, partitions: int, replicas: int = 1) -> None:
    """Creates `topic` and returns once every partition has a leader that answers and all its replicas in sync."""
    request(address, topic, partitions, replicas)
    await_complete(address, topic, partitions, replicas)


def request(address: str, topic: str, partitions: int, replicas: int = 1) -> None:
    """Creates `topic`; its partitions may still be on their way."""
    with Connection(address) as connection:
        answer = connection.ask(frames.create_topic(topic, partitions, replicas))
        answers.topic_changed(answer, f"create {topic}", answers.TOPIC_ALREADY_EXISTS)


def await_complete(
    address: str, topic: str, partitions: int, replicas: int, *, patience_s: float = PATIENCE_S
) -> None:
    deadline = time.monotonic() + patience_s
    while not _complete(address, topic, partitions, replicas):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{topic} is not complete after {patience_s} s")
        time.sleep(0.01)


def _complete(address: str, topic: str, partitions: int, replicas: int) -> bool:
    known = leaders(address, topic)
    if len(known.addresses) < partitions or any(len(n) < replicas for n in known.in_sync.values()):
        return False
    return len(_all_ends(known, topic, partitions)) == partitions


def leaders(address: str, topic: str) -> answers.Leaders:
    with Connection(address) as connection:
        return answers.leaders(connection.ask(frames.metadata(topic)))


def _all_ends(known: answers.Leaders, topic: str, partitions: int) -> dict[int, int]:
    """The high watermark by partition, each from its leader; those that are not there yet are left out."""
    found: dict[int, int] = {}
    for leader in set(known.addresses.values()):
        with Connection(leader) as connection:
            found |= ends(connection, topic, partitions)
    return found


def delete(address: str, topic: str) -> None:
    with Connection(address) as connection:
        answers.topic_changed(
            connection.ask(frames.delete_topic(topic)),
            f"delete {topic}",
            answers.UNKNOWN_TOPIC_OR_PARTITION,
        )


def ends(connection: Connection, topic: str, partitions: int) -> dict[int, int]:
    """The high watermark by partition; partitions that aren't there yet are left out."""
    return answers.latest(connection.ask(frames.list_offsets(topic, partitions)), *UNLED)


def count(address: str, topic: str, partitions: int) -> int:
    """How many records ListOffsets knows of; the topics of a benchmark start at offset 0."""
    return sum(_all_ends(leaders(address, topic), topic, partitions).values())
