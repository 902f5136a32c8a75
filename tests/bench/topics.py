"""Topics over the wire: created, waited for, counted, deleted. One-node regions, so every node leads everything."""

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


def create(address: str, topic: str, partitions: int) -> None:
    """Creates `topic` and returns once every partition has a leader."""
    with Connection(address) as connection:
        answer = connection.ask(frames.create_topic(topic, partitions))
        answers.topic_changed(answer, f"create {topic}", answers.TOPIC_ALREADY_EXISTS)
        deadline = time.monotonic() + PATIENCE_S
        while len(ends(connection, topic, partitions)) < partitions:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{topic} has partitions without a leader after {PATIENCE_S} s")
            time.sleep(0.01)


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
    with Connection(address) as connection:
        return sum(ends(connection, topic, partitions).values())
