"""Topics over the wire: created, waited for, counted, deleted. What `ends` asks must lead every partition."""

import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

from tests.bench import answers, frames
from tests.bench.connection import Connection

UNLED = (
    3,
    5,
    6,
    9,
)  # unknown topic, no leader yet, not the leader, replica not available: on its way
PATIENCE_S = 30


def create(
    address: str,
    topic: str,
    partitions: int,
    replicas: int = 1,
    configs: Mapping[str, str] | None = None,
) -> None:
    """Creates `topic` and returns once every partition has a leader that answers and all its replicas in sync."""
    request(address, topic, partitions, replicas, configs)
    await_complete(address, topic, partitions, replicas)


def request(
    address: str,
    topic: str,
    partitions: int,
    replicas: int = 1,
    configs: Mapping[str, str] | None = None,
) -> None:
    """Creates `topic`; its partitions may still be on their way."""
    with Connection(address) as connection:
        answer = connection.ask(frames.create_topic(topic, partitions, replicas, configs))
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


def places(address: str, names: Sequence[str]) -> dict[answers.Place, str]:
    """The address of the leader of each partition of many topics, of those that have one."""
    with Connection(address) as connection:
        by_topic = answers.leaders_by_topic(connection.ask(frames.metadata(*names)))
    return {
        (topic, partition): leader
        for topic, known in by_topic.items()
        for partition, leader in known.addresses.items()
    }


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


class Watch:
    """Counts a topic that may not be there yet, again and again; one open connection to each leader.

    A topic whose leaders change meanwhile is counted short.
    """

    def __init__(self, address: str, topic: str, partitions: int) -> None:
        self.topic = topic
        self._address, self._partitions = address, partitions
        self._leaders: list[Connection] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for connection in self._leaders:
            connection.__exit__(kind, error, trace)

    def records(self) -> int:
        """How many there are now; 0 until every partition has a leader."""
        if not self._leaders:
            known = leaders(self._address, self.topic).addresses
            if len(known) == self._partitions:
                self._leaders = [Connection(each) for each in set(known.values())]
        found: dict[int, int] = {}
        for connection in self._leaders:
            found |= ends(connection, self.topic, self._partitions)
        return sum(found.values())
