"""kafka-python with its default settings."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from kafka import (
    KafkaAdminClient,
    KafkaConsumer,
    KafkaProducer,
    OffsetSpec,
    TopicPartition,
)
from kafka import errors as kafka_errors
from kafka.admin import ConfigResource, ConfigResourceType, NewTopic

from tests.compat.conftest import Region
from tests.compat.samples import CODECS, Sample, by_partition, sample, samples

Name = Callable[[str], str]
WAIT_S = 60


@pytest.fixture
def admin(region: Region) -> Iterator[KafkaAdminClient]:
    client = KafkaAdminClient(bootstrap_servers=region.bootstrap)
    yield client
    client.close()


@pytest.fixture
def topic(admin: KafkaAdminClient, name: Name) -> str:
    """A topic of three partitions."""
    return create(admin, name("kafka-python"), 3)


def create(admin: KafkaAdminClient, topic: str, partitions: int, **config: str) -> str:
    wanted = NewTopic(topic, partitions, 1, topic_configs=config)
    admin.create_topics([wanted], wait_for_metadata=True)
    return topic


def produce(region: Region, topic: str, wanted: list[Sample], **settings: Any) -> None:
    producer = KafkaProducer(bootstrap_servers=region.bootstrap, **settings)
    pending = [
        producer.send(
            topic, one.value, one.key, list(one.headers), number % 3, timestamp_ms=one.timestamp_ms
        )
        for number, one in enumerate(wanted)
    ]
    producer.flush(WAIT_S)
    for number, future in enumerate(pending):
        assert future.get(WAIT_S).offset == number // 3
    producer.close()


def consumer(region: Region, group: str | None, **settings: Any) -> KafkaConsumer:
    earliest = {"auto_offset_reset": "earliest", "group_id": group}
    return KafkaConsumer(bootstrap_servers=region.bootstrap, **earliest, **settings)


def read(reader: KafkaConsumer, count: int) -> list[Any]:
    """The next `count` records; fails when they don't come."""
    found: list[Any] = []
    deadline = time.monotonic() + WAIT_S
    while len(found) < count:
        assert time.monotonic() < deadline, f"{len(found)} of {count} records came"
        polled = reader.poll(timeout_ms=1000, max_records=count - len(found))
        found += [record for records in polled.values() for record in records]
    return found


@pytest.mark.parametrize("codec", CODECS)
def test_ten_thousand_records_come_back_as_they_were_sent(
    region: Region, topic: str, name: Name, codec: str
) -> None:
    wanted = samples(10_000)
    produce(region, topic, wanted, compression_type=None if codec == "none" else codec)
    reader = consumer(region, name("group"))
    reader.subscribe([topic])
    found = by_partition(read(reader, len(wanted)))
    reader.close()
    assert found == {partition: wanted[partition::3] for partition in range(3)}


def test_a_group_resumes_behind_what_it_committed(region: Region, topic: str, name: Name) -> None:
    wanted, group = samples(900), name("group")
    produce(region, topic, wanted)
    before = read_and_commit(region, topic, group, 400)
    after = read_and_commit(region, topic, group, 500)
    assert by_partition(before + after) == {n: wanted[n::3] for n in range(3)}


def read_and_commit(region: Region, topic: str, group: str, count: int) -> list[Any]:
    reader = consumer(region, group, enable_auto_commit=False)
    reader.subscribe([topic])
    found = read(reader, count)
    reader.commit()
    reader.close()
    return found


def test_two_members_share_the_partitions_and_one_takes_over(
    region: Region, topic: str, name: Name
) -> None:
    group = name("group")
    first, second = consumer(region, group), consumer(region, group)
    first.subscribe([topic])
    until(lambda: len(first.assignment()) == 3, first)
    second.subscribe([topic])
    until(
        lambda: (
            bool(second.assignment()) and len(first.assignment()) + len(second.assignment()) == 3
        ),
        first,
        second,
    )
    both = first.assignment() | second.assignment()
    assert both == {TopicPartition(topic, partition) for partition in range(3)}
    first.close()
    until(lambda: len(second.assignment()) == 3, second)
    second.close()


def until(holds: Callable[[], bool], *members: KafkaConsumer) -> None:
    """Polls the members at once, since a rebalance waits for each of them, until something holds."""
    deadline = time.monotonic() + WAIT_S
    with ThreadPoolExecutor(len(members)) as pool:
        while not holds():
            assert time.monotonic() < deadline, "the group never settled"
            list(pool.map(lambda member: member.poll(timeout_ms=200), members))


def test_topics_are_created_described_and_deleted(admin: KafkaAdminClient, name: Name) -> None:
    topic = create(admin, name("admin"), 4)
    (found,) = admin.describe_topics([topic])
    assert [partition["partition_index"] for partition in found["partitions"]] == [0, 1, 2, 3]
    with pytest.raises(kafka_errors.TopicAlreadyExistsError):
        create(admin, topic, 4)
    admin.delete_topics([topic])
    assert topic not in admin.list_topics()


def test_a_topic_grows_and_never_shrinks(admin: KafkaAdminClient, topic: str) -> None:
    admin.create_partitions({topic: 5})
    deadline = time.monotonic() + WAIT_S
    while len(admin.describe_topics([topic])[0]["partitions"]) != 5:
        assert time.monotonic() < deadline, "the new partitions never showed"
    with pytest.raises(kafka_errors.InvalidPartitionsError):
        admin.create_partitions({topic: 2})


def test_settings_are_described_and_altered_one_by_one(admin: KafkaAdminClient, name: Name) -> None:
    topic = create(admin, name("settings"), 1, **{"retention.ms": "1234567"})
    assert changed(admin, topic) == {"retention.ms": "1234567"}
    alter(admin, topic, {"segment.bytes": "2000000"}, incremental=True)
    assert changed(admin, topic) == {"retention.ms": "1234567", "segment.bytes": "2000000"}


def test_settings_altered_the_old_way_are_read_and_written_back_as_a_whole(
    admin: KafkaAdminClient, name: Name
) -> None:
    """AlterConfigs resets what it doesn't name, so this client first reads what is there."""
    topic = create(admin, name("settings"), 1, **{"retention.ms": "1234567"})
    alter(admin, topic, {"segment.bytes": "2000000"}, incremental=False)
    assert changed(admin, topic) == {"retention.ms": "1234567", "segment.bytes": "2000000"}
    admin.reset_configs([ConfigResource(ConfigResourceType.TOPIC, topic)], incremental=False)
    assert changed(admin, topic) == {}


def changed(admin: KafkaAdminClient, topic: str) -> dict[str, str]:
    """The settings of a topic that aren't defaults."""
    found = admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)])
    return {key: setting["value"] for key, setting in found["topic"][topic].items()}


def alter(
    admin: KafkaAdminClient, topic: str, config: dict[str, str], *, incremental: bool
) -> None:
    resource = ConfigResource(ConfigResourceType.TOPIC, topic, configs=config)
    admin.alter_configs([resource], incremental=incremental)


def test_offsets_are_found_by_time(region: Region, topic: str) -> None:
    wanted = samples(300)
    produce(region, topic, wanted)
    reader = consumer(region, None)
    partition = TopicPartition(topic, 0)
    for offset in (0, 1, 57, 99):
        time_ms = wanted[0::3][offset].timestamp_ms
        found = reader.offsets_for_times({partition: time_ms})[partition]
        assert (found.offset, found.timestamp) == (offset, time_ms)
    assert reader.offsets_for_times({partition: wanted[-1].timestamp_ms + 1})[partition] is None
    assert reader.beginning_offsets([partition]) == {partition: 0}
    assert reader.end_offsets([partition]) == {partition: 100}
    reader.close()


def test_deleted_records_are_gone_and_the_others_stay(
    region: Region, admin: KafkaAdminClient, topic: str
) -> None:
    wanted, partition = samples(300), TopicPartition(topic, 1)
    produce(region, topic, wanted)
    assert admin.delete_records({partition: 40})[partition]["low_watermark"] == 40
    found = admin.list_partition_offsets({partition: OffsetSpec.EARLIEST})
    assert found[partition].offset == 40
    reader = consumer(region, None)
    reader.assign([partition])
    records = read(reader, 60)
    reader.close()
    assert [(r.offset, sample(r)) for r in records] == list(enumerate(wanted[1::3]))[40:]


def test_an_idempotent_producer_stores_each_record_once(region: Region, topic: str) -> None:
    wanted = samples(3000)
    produce(region, topic, wanted, enable_idempotence=True)
    reader = consumer(region, None)
    partitions = [TopicPartition(topic, n) for n in range(3)]
    reader.assign(partitions)
    assert by_partition(read(reader, 3000)) == {n: wanted[n::3] for n in range(3)}
    assert set(reader.end_offsets(partitions).values()) == {1000}
    reader.close()


@pytest.mark.usefixtures("ours")
def test_a_transactional_producer_is_refused_clearly(region: Region, name: Name) -> None:
    producer = KafkaProducer(
        bootstrap_servers=region.bootstrap, transactional_id=name("transactional")
    )
    with pytest.raises(kafka_errors.KafkaError) as refused:
        producer.init_transactions()
    assert not isinstance(refused.value, kafka_errors.KafkaTimeoutError)
    producer.close(timeout=0)


@pytest.mark.timeout(45)
def test_a_waiting_fetch_is_woken_by_a_record(region: Region, topic: str) -> None:
    """The fetch may wait for longer than this test may take: only a record ends it in time."""
    reader = consumer(region, None, fetch_max_wait_ms=290_000, request_timeout_ms=305_000)
    reader.assign([TopicPartition(topic, 0)])
    assert reader.poll(timeout_ms=2000) == {}
    wanted = samples(2)[1:]
    produce(region, topic, wanted)
    assert [sample(record) for record in read(reader, 1)] == wanted
    reader.close()


def test_groups_are_listed_described_and_deleted(
    region: Region, admin: KafkaAdminClient, topic: str, name: Name
) -> None:
    group = name("group")
    reader = consumer(region, group)
    reader.subscribe([topic])
    until(lambda: len(reader.assignment()) == 3, reader)
    assert group in [found["group_id"] for found in admin.list_groups()]
    described = admin.describe_groups([group])
    assert len(described[group]["members"]) == 1
    reader.close()
    admin.delete_groups([group])
    assert group not in [found["group_id"] for found in admin.list_groups()]
