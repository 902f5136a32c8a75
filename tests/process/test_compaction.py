"""Real nodes compact what stock clients wrote, and are killed while they do."""

import random
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaError,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)

from tests.process.asking import until
from tests.process.nodes import BrokerProcess

TIMEOUT_S = 90
KEYS = 60
CLEANER = {
    "log.cleaner.backoff.ms": 50,
    "log.retention.check.interval.ms": 200,
    "num.partitions": 1,
    "offsets.topic.num.partitions": 1,
    "log.cleaner.min.cleanable.ratio": 0.01,
}


@pytest.fixture
def cleaning_node(tmp_path: Path) -> Iterator[BrokerProcess]:
    process = BrokerProcess(tmp_path, CLEANER)
    process.start()
    yield process
    if process.is_running():
        process.kill()


def create(node: BrokerProcess, topic: str, **configs: object) -> None:
    settings = {key.replace("_", "."): str(value) for key, value in configs.items()}
    admin = AdminClient({"bootstrap.servers": node.address})
    for future in admin.create_topics([NewTopic(topic, 1, 1, config=settings)]).values():
        future.result(TIMEOUT_S)


def produced(
    node: BrokerProcess,
    topic: str,
    records: list[tuple[bytes, bytes | None]],
    codec: str = "lz4",
) -> None:
    producer = Producer(
        {"bootstrap.servers": node.address, "linger.ms": 1, "batch.num.messages": 50,
         "enable.idempotence": True, "compression.type": codec, "message.timeout.ms": 60_000}
    )  # fmt: skip
    failed: list[object] = []
    for key, value in records:
        producer.produce(
            topic, value, key, on_delivery=lambda error, _: error and failed.append(error)
        )
        producer.poll(0)
    assert producer.flush(TIMEOUT_S) == 0 and failed == []


def read(node: BrokerProcess, topic: str) -> list[tuple[int, bytes | None, bytes | None]]:
    consumer = Consumer(
        {"bootstrap.servers": node.address, "group.id": "reader", "enable.auto.commit": False,
         "enable.partition.eof": True, "auto.offset.reset": "earliest"}
    )  # fmt: skip
    place = TopicPartition(topic, 0, 0)
    consumer.assign([place])
    found = []
    until = time.monotonic() + TIMEOUT_S
    while time.monotonic() < until:
        message = consumer.poll(1)
        if message is None:
            continue
        if (error := message.error()) is not None:
            assert error.code() == KafkaError._PARTITION_EOF, error
            break
        found.append((message.offset(), message.key(), message.value()))
    consumer.close()
    return found


def checkpoint(node: BrokerProcess, partition: str) -> int:
    """The first dirty offset, as the checkpoint has it."""
    path = node.data / "cleaner-offset-checkpoint"
    if not path.exists():
        return 0
    for line in path.read_text().splitlines()[2:]:
        topic, index, offset = line.split(" ")
        if f"{topic}-{index}" == partition:
            return int(offset)
    return 0


def updates(rng: random.Random, count: int) -> list[tuple[bytes, bytes | None]]:
    made: list[tuple[bytes, bytes | None]] = []
    for _ in range(count):
        value = None if rng.random() < 0.05 else rng.randbytes(500)
        made.append((b"key-%d" % rng.randrange(KEYS), value))
    return made


def test_a_compacted_topic_survives_kills_in_the_middle_of_cleanings(
    cleaning_node: BrokerProcess, rng: random.Random
) -> None:
    node, partition = cleaning_node, "table-0"
    create(node, "table", cleanup_policy="compact", internal_segment_bytes=60_000)
    written: list[tuple[bytes, bytes | None]] = []
    for _ in range(3):
        cleaned = checkpoint(node, partition)
        more = updates(rng, 1_500)
        produced(node, "table", more)
        written += more

        # The cleaning has begun, or is just over.
        def has_begun(after: int = cleaned) -> bool:
            unfinished = any((node.data / partition).glob("*.cleaned*"))
            return unfinished or checkpoint(node, partition) > after

        until(has_begun, TIMEOUT_S, node.log)
        node.kill()
        node.start()
    produced(node, "table", [(b"last", rng.randbytes(500)) for _ in range(200)])
    until(lambda: checkpoint(node, partition) >= len(written), TIMEOUT_S, node.log)
    found = read(node, "table")
    last = dict(written)
    latest = {key: value for _, key, value in found if key != b"last"}
    assert {key: value for key, value in last.items() if value is not None} == {
        key: value for key, value in latest.items() if value is not None
    }
    assert all(
        written[offset] == (key, value) for offset, key, value in found if offset < len(written)
    )
    assert len(found) < 1_000
    assert "Traceback" not in node.log()


def test_two_threads_clean_two_logs_at_a_time(tmp_path: Path, rng: random.Random) -> None:
    rate = {"log.cleaner.threads": 2, "log.cleaner.io.max.bytes.per.second": 200_000}
    node = BrokerProcess(tmp_path, CLEANER | rate)
    node.start()
    try:
        for topic in ("first", "second"):
            create(node, topic, cleanup_policy="compact", internal_segment_bytes=60_000)
            produced(node, topic, updates(rng, 1_500), codec="none")
        until(lambda: len(cleaner_processes(node)) == 2, TIMEOUT_S, node.log)
        folders = [node.data / "first-0", node.data / "second-0"]

        def both() -> bool:
            return all(any(folder.glob("*.cleaned*")) for folder in folders)

        until(both, TIMEOUT_S, node.log)
        assert len(cleaner_processes(node)) == 2
    finally:
        node.kill()


def test_a_cleaner_ends_with_its_node_even_if_it_gets_no_time(
    tmp_path: Path, rng: random.Random
) -> None:
    node = BrokerProcess(tmp_path, CLEANER | {"log.cleaner.io.max.bytes.per.second": 50_000})
    node.start()
    create(node, "table", cleanup_policy="compact", internal_segment_bytes=60_000)
    produced(node, "table", updates(rng, 500), codec="none")
    until(lambda: any((node.data / "table-0").glob("*.cleaned*")), TIMEOUT_S, node.log)
    (cleaner,) = cleaner_processes(node)
    cleaner.suspend()
    node.kill()

    def has_ended() -> bool:
        return not cleaner.is_running() or cleaner.status() == psutil.STATUS_ZOMBIE

    until(has_ended, 10, node.log)
    assert "Traceback" not in node.log()


def test_a_process_waits_for_a_log_that_is_not_dirty_enough_yet(
    tmp_path: Path, rng: random.Random
) -> None:
    node = BrokerProcess(tmp_path, CLEANER)
    node.start()
    try:
        ratio = {"min.cleanable.dirty.ratio": 1}
        create(node, "table", cleanup_policy="compact", internal_segment_bytes=60_000, **ratio)
        assert cleaner_processes(node) == []
        produced(node, "table", updates(rng, 500), codec="none")
        until(lambda: len(cleaner_processes(node)) == 1, TIMEOUT_S, node.log)
        (killed,) = cleaner_processes(node)
        killed.kill()

        def another_waits() -> bool:
            found = cleaner_processes(node)
            return len(found) == 1 and found != [killed]

        until(another_waits, TIMEOUT_S, node.log)
        (waiting,) = cleaner_processes(node)
        alter(node, "table", "min.cleanable.dirty.ratio", "0.01")
        until(lambda: checkpoint(node, "table-0") > 300, TIMEOUT_S, node.log)
        assert cleaner_processes(node) == [waiting]
        assert node.stop() == 0
        assert not waiting.is_running()
        assert "Traceback" not in node.log()
    finally:
        if node.is_running():
            node.kill()


def alter(node: BrokerProcess, topic: str, name: str, value: str) -> None:
    entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
    place = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    admin = AdminClient({"bootstrap.servers": node.address})
    admin.incremental_alter_configs([place])[place].result(TIMEOUT_S)


def test_a_log_is_cleaned_again_after_its_cleaner_was_killed(
    cleaning_node: BrokerProcess, rng: random.Random
) -> None:
    """Writing to a process that had ended was an error that nobody caught: the log was never cleaned again."""
    node = cleaning_node
    create(node, "table", cleanup_policy="compact", internal_segment_bytes=30_000)
    for cleaned in (200, 600, 1_000):
        produced(node, "table", updates(rng, 400))
        least = cleaned
        until(lambda: checkpoint(node, "table-0") > least, TIMEOUT_S, node.log)  # noqa: B023
        for process in cleaner_processes(node):
            process.kill()
            process.wait(TIMEOUT_S)
    assert "Traceback" not in node.log()


def cleaner_processes(node: BrokerProcess) -> list[psutil.Process]:
    found = []
    for each in psutil.Process(node.pid).children():
        with suppress(psutil.NoSuchProcess):  # it has just ended
            if "brokers.shell.cleaner_process" in each.cmdline():
                found.append(each)
    return found


def test_consumer_offsets_are_compacted_and_a_restart_loads_what_is_live(
    cleaning_node: BrokerProcess,
) -> None:
    node = cleaning_node
    create(node, "data")
    admin = AdminClient({"bootstrap.servers": node.address})
    consumer = Consumer(
        {"bootstrap.servers": node.address, "group.id": "g", "enable.auto.commit": False}
    )
    consumer.commit(offsets=[TopicPartition("data", 0, 1)], asynchronous=False)
    alter(node, "__consumer_offsets", "internal.segment.bytes", "20000")
    for offset in range(1_500):
        consumer.commit(offsets=[TopicPartition("data", 0, offset)], asynchronous=False)
    until(lambda: checkpoint(node, "__consumer_offsets-0") > 1_000, TIMEOUT_S, node.log)
    consumer.close()
    size = sum(each.stat().st_size for each in (node.data / "__consumer_offsets-0").glob("*.log"))
    assert size < 80_000  # of 200,000 that were written
    node.kill()
    node.start()
    wanted = [ConsumerGroupTopicPartitions("g", [TopicPartition("data", 0)])]
    (future,) = admin.list_consumer_group_offsets(wanted).values()
    (found,) = future.result(TIMEOUT_S).topic_partitions
    assert found.offset == 1_499
