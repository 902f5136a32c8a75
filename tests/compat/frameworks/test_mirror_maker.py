"""MirrorMaker 2 between two regions of ours: records, offset syncs, checkpoints and group offsets, and after a kill."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka import TopicPartition as Position
from confluent_kafka.admin import (
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    ResourceType,
)

from tests.bench.peer.mirror import REPLICATED
from tests.compat.frameworks.programs import TIMEOUT_S, Program
from tests.compat.frameworks.region import (
    admin,
    committed,
    configs,
    ends,
    partitions_of,
    records_in,
    topics_in,
    values_in,
)
from tests.process.asking import until
from tests.process.ledger import create_topic
from tests.process.members import Members

TOPIC, COPY = "orders", "primary.orders"  # by the DefaultReplicationPolicy
PARTITIONS = 3
GROUP = "billing"
MORE = 300  # records at a time
MAIN = "org.apache.kafka.connect.mirror.MirrorMaker"
SETTINGS = {
    "clusters": "primary, backup",
    "primary->backup.enabled": "true",
    "primary->backup.topics": TOPIC,
    "primary->backup.sync.group.offsets.enabled": "true",
    "backup->primary.enabled": "false",
    "refresh.topics.interval.seconds": "1",
    "sync.topic.configs.interval.seconds": "1",
    "refresh.groups.interval.seconds": "1",
    "emit.checkpoints.interval.seconds": "1",
    "sync.group.offsets.interval.seconds": "1",
    "offset.lag.max": "0",
    "sync.topic.acls.enabled": "false",
    # of the workers, which belong to their target
    "backup.offset.flush.interval.ms": "500",
    "backup.session.timeout.ms": "6000",
    "backup.heartbeat.interval.ms": "500",
    "backup.scheduled.rebalance.max.delay.ms": "500",
}
COMPACTED = {
    "primary": ("mm2-offset-syncs.backup.internal",),
    "backup": (
        "mm2-configs.primary.internal", "mm2-offsets.primary.internal", "mm2-status.primary.internal",
        "primary.checkpoints.internal",
    ),
}  # fmt: skip


class Mirrored:
    """Two regions, and MirrorMaker 2 from the first to the second."""

    def __init__(self, directory: Path, primary: Members, backup: Members) -> None:
        self.primary, self.backup = primary.bootstrap, backup.bootstrap
        replicas = {f"{what}replication.factor": str(len(primary.ids)) for what in REPLICATED}
        places = {
            "primary.bootstrap.servers": self.primary,
            "backup.bootstrap.servers": self.backup,
        }
        self.program = Program(directory, "mirror", MAIN, SETTINGS | places | replicas)
        self.sent: list[str] = []

    def send(self) -> None:
        more = [f"order-{number}" for number in range(len(self.sent), len(self.sent) + MORE)]
        producer = Producer({"bootstrap.servers": self.primary, "enable.idempotence": True})
        for number, value in enumerate(more):
            producer.produce(TOPIC, value, partition=number % PARTITIONS)
        assert producer.flush(TIMEOUT_S) == 0
        self.sent += more

    def commit(self, *offsets: int) -> None:
        consumer = Consumer({"bootstrap.servers": self.primary, "group.id": GROUP})
        places = [Position(TOPIC, index, offset) for index, offset in enumerate(offsets)]
        consumer.commit(offsets=places, asynchronous=False)
        consumer.close()

    def copied(self) -> set[str]:
        return set(values_in(self.backup, COPY)) if partitions_of(self.backup, COPY) else set()

    def wait(self, is_so: Callable[[], bool]) -> None:
        def asked() -> bool:
            assert self.program.is_running, self.program.tail()
            return is_so()

        until(asked, TIMEOUT_S, self.program.tail)

    def has_all(self) -> bool:
        return self.copied() == set(self.sent)

    def has_stored(self, position: int) -> bool:
        """Whether this is, by its offsets topic, the last record that was copied of each partition."""
        last: dict[bytes, bytes] = {}
        for message in records_in(self.backup, "mm2-offsets.primary.internal"):
            if b"MirrorSourceConnector" in message.key() and TOPIC.encode() in message.key():
                last[message.key()] = message.value()
        return [json.loads(value)["offset"] for value in last.values()] == [position] * PARTITIONS

    def follows(self, *offsets: int) -> bool:
        """The group's offsets have come over; MirrorMaker 2 may leave them behind by what it has not synced."""
        return partitions_of(self.backup, COPY) > 0 and (
            committed(self.backup, GROUP, COPY) == list(offsets)
        )


@pytest.fixture
def mirrored(members: Members, tmp_path: Path) -> Iterator[Mirrored]:
    backup = Members(tmp_path / "backup", len(members.ids), "backup")
    backup.up()
    create_topic(members.bootstrap, TOPIC, PARTITIONS, replicas=len(members.ids))
    one = Mirrored(tmp_path, members, backup)
    yield one
    one.program.end()
    backup.down()
    for node in backup.ids:
        assert "Traceback" not in backup.log(node)


EACH = MORE // PARTITIONS


@pytest.mark.soak
def test_records_groups_and_settings_come_over(mirrored: Mirrored) -> None:
    mirrored.send()
    mirrored.commit(EACH, EACH, EACH)
    mirrored.program.start()
    mirrored.wait(mirrored.has_all)
    assert partitions_of(mirrored.backup, COPY) == PARTITIONS
    mirrored.wait(lambda: mirrored.follows(EACH, EACH, EACH))
    for bootstrap, topics in ((mirrored.primary, "primary"), (mirrored.backup, "backup")):
        assert set(COMPACTED[topics]) <= topics_in(bootstrap)
        for topic in COMPACTED[topics]:
            assert configs(bootstrap, topic)["cleanup.policy"] == "compact"
            mirrored.wait(lambda at=bootstrap, name=topic: len(records_in(at, name)) > 0)


@pytest.mark.soak
def test_after_a_kill_it_goes_on_where_its_offsets_topic_says(mirrored: Mirrored) -> None:
    mirrored.send()
    mirrored.commit(EACH, EACH, EACH)
    mirrored.program.start()
    mirrored.wait(mirrored.has_all)
    mirrored.wait(lambda: mirrored.has_stored(EACH - 1))
    mirrored.program.kill()
    mirrored.send()
    mirrored.commit(2 * EACH, 2 * EACH, 2 * EACH)
    mirrored.program.start()
    mirrored.wait(mirrored.has_all)
    mirrored.wait(lambda: mirrored.follows(2 * EACH, 2 * EACH, 2 * EACH))
    # What it had stored is not copied once more.
    assert sum(ends(mirrored.backup, COPY)) == len(mirrored.sent)
    mirrored.program.stop()


@pytest.mark.soak
def test_settings_and_partitions_are_kept_in_step(mirrored: Mirrored) -> None:
    mirrored.send()
    mirrored.program.start()
    mirrored.wait(mirrored.has_all)
    client = admin(mirrored.primary)
    entry = ConfigEntry("retention.ms", "123456", incremental_operation=AlterConfigOpType.SET)
    place = ConfigResource(ResourceType.TOPIC, TOPIC, incremental_configs=[entry])
    client.incremental_alter_configs([place])[place].result(TIMEOUT_S)
    client.create_partitions([NewPartitions(TOPIC, PARTITIONS + 1)])[TOPIC].result(TIMEOUT_S)
    mirrored.wait(lambda: configs(mirrored.backup, COPY)["retention.ms"] == "123456")
    mirrored.wait(lambda: partitions_of(mirrored.backup, COPY) == PARTITIONS + 1)
    assert mirrored.has_all()
    mirrored.program.stop()
