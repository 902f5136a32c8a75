"""Topics over the wire: created, waited for, counted, deleted. What `ends` asks must lead every partition."""

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
TIMEOUT_S = 30
AT_ONCE = 100  # topics of one request


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
        _check(answers.created(answer), "create", answers.TOPIC_ALREADY_EXISTS)


def _check(changed: Iterable[tuple[str, int]], what: str, *allowed: int) -> None:
    for topic, code in changed:
        answers.expect(code, f"{what} {topic}", *allowed)


def create_many(
    address: str, names: Sequence[str], partitions: int, replicas: int, *, timeout_s: float
) -> None:
    """Creates topics that are alike, and returns once each partition has a leader that answers and all its replicas."""
    with Connection(address) as connection:
        for some in _parts(names):
            answer = connection.ask(frames.create_topics(some, partitions, replicas))
            _check(answers.created(answer), "create", answers.TOPIC_ALREADY_EXISTS)
    deadline = time.monotonic() + timeout_s
    while not _all_complete(address, names, partitions, replicas):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{len(names)} topics are not complete after {timeout_s} s")
        time.sleep(0.1)


def _parts(names: Sequence[str]) -> Iterator[Sequence[str]]:
    return (names[first : first + AT_ONCE] for first in range(0, len(names), AT_ONCE))


def _all_complete(address: str, names: Sequence[str], partitions: int, replicas: int) -> bool:
    with Connection(address) as connection:
        by_topic = answers.leaders_by_topic(connection.ask(frames.metadata(*names)))
    for known in by_topic.values():
        is_short = any(len(nodes) < replicas for nodes in known.in_sync.values())
        if is_short or len(known.addresses) < partitions:
            return False
    return len(_ends_of(address, names)) == partitions * len(names)


def _ends_of(address: str, names: Sequence[str]) -> dict[answers.Place, int]:
    """The high watermark of each partition of many topics that has a leader which answers."""
    by_leader: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for (topic, partition), leader in places(address, names).items():
        by_leader[leader][topic].append(partition)
    found: dict[answers.Place, int] = {}
    for leader, partitions in by_leader.items():
        with Connection(leader) as connection:
            answer = connection.ask(frames.list_offsets_each(partitions))
            found |= answers.latest_each(answer, *UNLED)
    return found


def count_all(address: str, names: Sequence[str]) -> int:
    """How many records are in many topics, which start at offset 0."""
    return sum(_ends_of(address, names).values())


def await_complete(
    address: str, topic: str, partitions: int, replicas: int, *, timeout_s: float = TIMEOUT_S
) -> None:
    deadline = time.monotonic() + timeout_s
    while not _complete(address, topic, partitions, replicas):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{topic} is not complete after {timeout_s} s")
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
        answer = connection.ask(frames.delete_topics(topic))
        _check(answers.deleted(answer), "delete", answers.UNKNOWN_TOPIC_OR_PARTITION)


def delete_many(address: str, names: Sequence[str]) -> None:
    with Connection(address) as connection:
        for some in _parts(names):
            answer = connection.ask(frames.delete_topics(*some))
            _check(answers.deleted(answer), "delete", answers.UNKNOWN_TOPIC_OR_PARTITION)


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
