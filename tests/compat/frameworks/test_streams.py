"""Kafka Streams' word count, killed and started again without its local state, which its changelog topic restores."""

import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from confluent_kafka import Producer

from tests.compat.frameworks.programs import TIMEOUT_S, Program
from tests.compat.frameworks.region import (
    committed,
    configs,
    ends,
    partitions_of,
    records_in,
    starts,
)
from tests.process.asking import until
from tests.process.ledger import create_topic
from tests.process.members import Members

INPUT, OUTPUT = "streams-plaintext-input", "streams-wordcount-output"
APPLICATION = "streams-wordcount"
STORE = "KSTREAM-AGGREGATE-STATE-STORE-0000000003"
CHANGELOG = f"{APPLICATION}-{STORE}-changelog"
REPARTITION = f"{APPLICATION}-{STORE}-repartition"
PARTITIONS = 2
WORDS = [f"word{number}" for number in range(40)]
MAIN = "org.apache.kafka.streams.examples.wordcount.WordCountDemo"
SETTINGS = {
    "processing.guarantee": "at_least_once",
    "commit.interval.ms": "200",
    "repartition.purge.interval.ms": "200",
    "consumer.session.timeout.ms": "6000",
    "consumer.heartbeat.interval.ms": "500",
}


class WordCount:
    """The program, its input, and how often each word was sent and must be counted."""

    def __init__(self, members: Members, directory: Path, rng: Random, **more: str) -> None:
        self.bootstrap, self._rng = members.bootstrap, rng
        self.state = directory / "state"
        replicas = str(len(members.ids))
        places = {"bootstrap.servers": self.bootstrap, "state.dir": str(self.state)}
        settings = SETTINGS | places | {"replication.factor": replicas} | more
        self.program = Program(directory, "word-count", MAIN, settings)
        self.sent: Counter[str] = Counter()

    def send(self, lines: int) -> None:
        producer = Producer({"bootstrap.servers": self.bootstrap, "enable.idempotence": True})
        for number in range(lines):
            words = self._rng.choices(WORDS, k=6)
            producer.produce(INPUT, " ".join(words), partition=number % PARTITIONS)
            self.sent.update(words)
        assert producer.flush(TIMEOUT_S) == 0

    def counted(self) -> Counter[str]:
        """The latest count of each word in the output."""
        found: Counter[str] = Counter()
        for message in records_in(self.bootstrap, OUTPUT):
            found[message.key().decode()] = int.from_bytes(message.value(), "big")
        return found

    def has_committed_all(self) -> bool:
        """What was sent is counted, and the group says so."""
        return partitions_of(self.bootstrap, REPARTITION) > 0 and all(
            committed(self.bootstrap, APPLICATION, topic) == ends(self.bootstrap, topic)
            for topic in (INPUT, REPARTITION)
        )

    def wait(self) -> None:
        def is_done() -> bool:
            assert self.program.is_running, self.program.tail()
            return self.has_committed_all() and self.counted() >= self.sent

        until(is_done, TIMEOUT_S, self.program.tail)

    def wait_until_it_counts(self, before: Counter[str]) -> None:
        until(lambda: self.counted() != before, TIMEOUT_S, self.program.tail)

    def lose_state(self) -> None:
        shutil.rmtree(self.state)


@pytest.fixture
def topics(members: Members) -> None:
    replicas = len(members.ids)
    create_topic(members.bootstrap, INPUT, PARTITIONS, replicas=replicas)
    create_topic(members.bootstrap, OUTPUT, PARTITIONS, replicas=replicas, cleanup_policy="compact")


@pytest.fixture
def word_count(members: Members, topics: None, tmp_path: Path, rng: Random) -> Iterator[WordCount]:
    one = WordCount(members, tmp_path, rng)
    yield one
    one.program.end()


def test_counts_are_restored_from_the_changelog(members: Members, word_count: WordCount) -> None:
    bootstrap, program = word_count.bootstrap, word_count.program
    word_count.send(300)
    program.start()
    word_count.wait()
    assert word_count.counted() == word_count.sent
    assert configs(bootstrap, CHANGELOG)["cleanup.policy"] == "compact"
    assert configs(bootstrap, REPARTITION)["cleanup.policy"] == "delete"
    assert configs(bootstrap, REPARTITION)["retention.ms"] == "-1"
    # What every instance has counted is deleted from the repartition topic.
    until(lambda: sum(starts(bootstrap, REPARTITION)) > 0, TIMEOUT_S, program.tail)
    # All is committed: who begins again with the changelog alone counts every word once.
    program.kill()
    word_count.lose_state()
    word_count.send(300)
    program.start()
    word_count.wait()
    assert word_count.counted() == word_count.sent
    # In the middle of counting words may be counted twice; none is left out.
    before = word_count.counted()
    word_count.send(3_000)
    word_count.wait_until_it_counts(before)
    if len(members.ids) > 1:
        members.end(members.leader(CHANGELOG, 0), signal.SIGKILL)
    program.kill()
    word_count.lose_state()
    program.start()
    word_count.wait()
    members.up()
    assert word_count.counted() >= word_count.sent
    program.stop()


def test_exactly_once_is_refused_clearly(
    members: Members, topics: None, tmp_path: Path, rng: Random
) -> None:
    one = WordCount(members, tmp_path, rng, **{"processing.guarantee": "exactly_once_v2"})
    one.send(1)
    one.program.start()
    refused = "TransactionalIdAuthorizationException"
    until(lambda: refused in one.program.log(), TIMEOUT_S, one.program.tail)
    one.program.end()
    assert one.counted() == Counter()
