"""confluent-kafka (librdkafka) with its default settings."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import pytest
from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
)

from tests.compat.conftest import Region
from tests.compat.samples import CODECS, Sample, samples

Name = Callable[[str], str]
WAIT_S = 60


@pytest.fixture
def admin(region: Region) -> AdminClient:
    return AdminClient({"bootstrap.servers": region.bootstrap})


@pytest.fixture
def topic(admin: AdminClient, name: Name) -> str:
    """A topic of three partitions."""
    return create(admin, name("confluent"), 3)


def create(admin: AdminClient, topic: str, partitions: int, **config: str) -> str:
    done(admin.create_topics([NewTopic(topic, partitions, 1, config=config)]))
    return topic


def done(futures: dict[Any, Future[Any]]) -> list[Any]:
    return [future.result(WAIT_S) for future in futures.values()]


def produce(region: Region, topic: str, wanted: list[Sample], **settings: Any) -> list[Message]:
    """Every record acknowledged, in the order of acknowledgement."""
    producer = Producer({"bootstrap.servers": region.bootstrap} | settings)
    stored: list[Message] = []

    def delivered(error: KafkaError | None, message: Message) -> None:
        assert error is None, error
        stored.append(message)

    for number, one in enumerate(wanted):
        producer.produce(
            topic, one.value, one.key, number % 3, headers=list(one.headers),
            timestamp=one.timestamp_ms, on_delivery=delivered,
        )  # fmt: skip
        producer.poll(0)
    assert producer.flush(WAIT_S) == 0
    return stored


def consumer(region: Region, group: str, **settings: Any) -> Consumer:
    return Consumer(
        {"bootstrap.servers": region.bootstrap, "group.id": group, "auto.offset.reset": "earliest"}
        | settings
    )


def read(reader: Consumer, count: int) -> Iterator[Message]:
    """The next `count` records; fails when they don't come."""
    have, deadline = 0, time.monotonic() + WAIT_S
    while have < count:
        message = reader.poll(1)
        assert time.monotonic() < deadline, f"{have} of {count} records came"
        if message is not None:
            assert message.error() is None, message.error()
            have += 1
            yield message


def sample(message: Message) -> Sample:
    headers = tuple(message.headers() or ())
    return Sample(message.key(), message.value(), headers, message.timestamp()[1])


def by_partition(messages: list[Message]) -> dict[int, list[Sample]]:
    """What each partition holds, whose offsets must have no gap."""
    found: dict[int, list[Sample]] = defaultdict(list)
    for message in messages:
        partition = message.partition()
        assert message.offset() == len(found[partition])
        found[partition].append(sample(message))
    return found


@pytest.mark.parametrize("codec", CODECS)
def test_ten_thousand_records_come_back_as_they_were_sent(
    region: Region, topic: str, name: Name, codec: str
) -> None:
    wanted = samples(10_000)
    produce(region, topic, wanted, **{"compression.type": codec})
    reader = consumer(region, name("group"))
    reader.subscribe([topic])
    found = by_partition(list(read(reader, len(wanted))))
    reader.close()
    assert found == {partition: wanted[partition::3] for partition in range(3)}


def test_null_keys_values_and_headers_stay_null(region: Region, topic: str, name: Name) -> None:
    producer = Producer({"bootstrap.servers": region.bootstrap})
    producer.produce(topic, None, None, 0, headers=[("null", None), ("empty", b"")])
    assert producer.flush(WAIT_S) == 0
    reader = consumer(region, name("group"))
    reader.assign([TopicPartition(topic, 0, 0)])
    (found,) = read(reader, 1)
    assert (found.key(), found.value()) == (None, None)
    assert found.headers() == [("null", None), ("empty", b"")]
    reader.close()


def test_a_group_resumes_behind_what_it_committed(region: Region, topic: str, name: Name) -> None:
    wanted, group = samples(900), name("group")
    produce(region, topic, wanted)
    settings = {"enable.auto.commit": False}
    first = consumer(region, group, **settings)
    first.subscribe([topic])
    before = list(read(first, 400))
    first.commit(asynchronous=False)
    first.close()
    second = consumer(region, group, **settings)
    second.subscribe([topic])
    after = list(read(second, 500))
    second.close()
    assert by_partition(before + after) == {n: wanted[n::3] for n in range(3)}


def test_two_members_share_the_partitions_and_one_takes_over(
    region: Region, topic: str, name: Name
) -> None:
    group = name("group")
    first, second = consumer(region, group), consumer(region, group)
    first.subscribe([topic])
    until(lambda: len(first.assignment()) == 3, first)
    second.subscribe([topic])
    until(lambda: len(first.assignment()) + len(second.assignment()) == 3 and bool(second.assignment()),
          first, second)  # fmt: skip
    shared = [p.partition for p in first.assignment() + second.assignment()]
    assert sorted(shared) == [0, 1, 2]
    first.close()
    until(lambda: len(second.assignment()) == 3, second)
    second.close()


def until(holds: Callable[[], bool], *members: Consumer) -> None:
    """Polls the members, which is what lets them rebalance, until something holds."""
    deadline = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < deadline, "the group never settled"
        for member in members:
            member.poll(0.1)


def test_topics_are_created_described_and_deleted(admin: AdminClient, name: Name) -> None:
    topic = create(admin, name("admin"), 4)
    found = admin.list_topics(topic, WAIT_S).topics[topic]
    assert sorted(found.partitions) == [0, 1, 2, 3]
    with pytest.raises(KafkaException) as twice:
        create(admin, topic, 4)
    assert twice.value.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS
    done(admin.delete_topics([topic]))
    assert topic not in admin.list_topics(timeout=WAIT_S).topics


def test_a_topic_grows_and_never_shrinks(admin: AdminClient, topic: str) -> None:
    done(admin.create_partitions([NewPartitions(topic, 5)]))
    assert len(admin.list_topics(topic, WAIT_S).topics[topic].partitions) == 5
    with pytest.raises(KafkaException) as smaller:
        done(admin.create_partitions([NewPartitions(topic, 2)]))
    assert smaller.value.args[0].code() == KafkaError.INVALID_PARTITIONS


def test_settings_are_described_and_altered_one_by_one(admin: AdminClient, name: Name) -> None:
    topic = create(admin, name("settings"), 1, **{"retention.ms": "1234567"})
    assert settings(admin, topic)["retention.ms"].value == "1234567"
    assert settings(admin, topic)["cleanup.policy"].value == "delete"
    assert settings(admin, topic)["cleanup.policy"].is_default
    change = ConfigEntry("segment.bytes", "2000000", incremental_operation=AlterConfigOpType.SET)
    alter(admin, topic, change)
    after = settings(admin, topic)
    assert (after["segment.bytes"].value, after["retention.ms"].value) == ("2000000", "1234567")
    alter(
        admin,
        topic,
        ConfigEntry("retention.ms", None, incremental_operation=AlterConfigOpType.DELETE),
    )
    assert settings(admin, topic)["retention.ms"].is_default


def test_settings_altered_the_old_way_replace_what_was_there(
    admin: AdminClient, name: Name
) -> None:
    topic = create(admin, name("settings"), 1, **{"retention.ms": "1234567"})
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic, {"segment.bytes": "2000000"})
    done(admin.alter_configs([resource]))
    after = settings(admin, topic)
    assert after["segment.bytes"].value == "2000000"
    assert after["retention.ms"].is_default


def settings(admin: AdminClient, topic: str) -> dict[str, Any]:
    (found,) = done(admin.describe_configs([ConfigResource(ConfigResource.Type.TOPIC, topic)]))
    return dict(found)


def alter(admin: AdminClient, topic: str, *changes: ConfigEntry) -> None:
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=list(changes))
    done(admin.incremental_alter_configs([resource]))


def test_an_unknown_setting_is_refused(admin: AdminClient, name: Name) -> None:
    with pytest.raises(KafkaException) as refused:
        create(admin, name("settings"), 1, **{"no.such.setting": "1"})
    assert refused.value.args[0].code() == KafkaError.INVALID_CONFIG


def test_offsets_are_found_by_time(region: Region, admin: AdminClient, topic: str) -> None:
    wanted = samples(300)
    produce(region, topic, wanted)

    def at(spec: OffsetSpec) -> int:
        (found,) = done(admin.list_offsets({TopicPartition(topic, 0): spec}))
        return int(found.offset)

    in_partition = wanted[0::3]
    for offset in (0, 1, 57, 99):
        assert at(OffsetSpec.for_timestamp(in_partition[offset].timestamp_ms)) == offset
        assert at(OffsetSpec.for_timestamp(in_partition[offset].timestamp_ms - 2)) == offset
    assert at(OffsetSpec.for_timestamp(in_partition[99].timestamp_ms + 1)) == -1
    assert (at(OffsetSpec.earliest()), at(OffsetSpec.latest())) == (0, 100)
    assert at(OffsetSpec.max_timestamp()) == 99


def test_deleted_records_are_gone_and_the_others_stay(
    region: Region, admin: AdminClient, topic: str, name: Name
) -> None:
    wanted = samples(300)
    produce(region, topic, wanted)
    (gone,) = done(admin.delete_records([TopicPartition(topic, 1, 40)]))
    assert gone.low_watermark == 40
    reader = consumer(region, name("group"))
    assert reader.get_watermark_offsets(TopicPartition(topic, 1)) == (40, 100)
    reader.assign([TopicPartition(topic, 1, 0)])
    found = [(m.offset(), sample(m)) for m in read(reader, 60)]
    reader.close()
    assert found == list(enumerate(wanted[1::3]))[40:]


def test_an_idempotent_producer_stores_each_record_once(
    region: Region, topic: str, name: Name
) -> None:
    wanted = samples(3000)
    produce(region, topic, wanted, **{"enable.idempotence": True, "linger.ms": 1})
    reader = consumer(region, name("group"))
    reader.subscribe([topic])
    assert by_partition(list(read(reader, 3000))) == {n: wanted[n::3] for n in range(3)}
    for partition in range(3):
        assert reader.get_watermark_offsets(TopicPartition(topic, partition)) == (0, 1000)
    reader.close()


@pytest.mark.usefixtures("ours")
def test_a_transactional_producer_is_refused_clearly(region: Region, name: Name) -> None:
    producer = Producer(
        {"bootstrap.servers": region.bootstrap, "transactional.id": name("transactional")}
    )
    with pytest.raises(KafkaException) as refused:
        producer.init_transactions(WAIT_S)
    assert not refused.value.args[0].retriable(), refused.value


@pytest.mark.timeout(45)
def test_a_waiting_fetch_is_woken_by_a_record(region: Region, topic: str, name: Name) -> None:
    """The fetch may wait for longer than this test may take: only a record ends it in time."""
    settings = {"fetch.wait.max.ms": 290_000, "socket.timeout.ms": 300_000}
    reader = consumer(region, name("group"), **settings)
    reader.assign([TopicPartition(topic, 0, 0)])
    assert reader.poll(2) is None
    (wanted,) = samples(1)
    produce(region, topic, [wanted])
    (found,) = read(reader, 1)
    assert sample(found) == wanted


def test_an_unknown_topic_is_made_at_its_first_use(region: Region, name: Name) -> None:
    topic = name("automatic")
    producer = Producer({"bootstrap.servers": region.bootstrap})
    producer.produce(topic, b"first")
    assert producer.flush(WAIT_S) == 0
    reader = consumer(region, name("group"))
    reader.subscribe([topic])
    assert [m.value() for m in read(reader, 1)] == [b"first"]
    reader.close()


def test_groups_are_listed_described_and_deleted(
    region: Region, admin: AdminClient, topic: str, name: Name
) -> None:
    group = name("group")
    reader = consumer(region, group)
    reader.subscribe([topic])
    until(lambda: len(reader.assignment()) == 3, reader)
    assert group in [found.group_id for found in admin.list_consumer_groups().result(WAIT_S).valid]
    (described,) = done(admin.describe_consumer_groups([group]))
    (member,) = described.members
    assert sorted(p.partition for p in member.assignment.topic_partitions) == [0, 1, 2]
    reader.close()
    done(admin.delete_consumer_groups([group]))
    left = admin.list_consumer_groups().result(WAIT_S).valid
    assert group not in [found.group_id for found in left]
