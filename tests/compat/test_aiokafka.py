"""aiokafka with its default settings."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import wraps
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka import errors as aiokafka_errors
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.structs import TopicPartition

from tests.compat.conftest import Region
from tests.compat.samples import CODECS, Sample, by_partition, sample, samples

Name = Callable[[str], str]
WAIT_S = 60
ALREADY_EXISTS = 36


def run(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """A test that is a coroutine."""

    @wraps(test)
    def ran(**fixtures: Any) -> None:
        asyncio.run(asyncio.wait_for(test(**fixtures), 2 * WAIT_S))

    return ran


@asynccontextmanager
async def administration(region: Region) -> AsyncIterator[AIOKafkaAdminClient]:
    admin = AIOKafkaAdminClient(bootstrap_servers=region.bootstrap)
    await admin.start()
    try:
        yield admin
    finally:
        await admin.close()


@asynccontextmanager
async def consumer(
    region: Region, group: str | None, *topics: str, **settings: Any
) -> AsyncIterator[AIOKafkaConsumer]:
    settings = {"auto_offset_reset": "earliest", "group_id": group} | settings
    reader = AIOKafkaConsumer(*topics, bootstrap_servers=region.bootstrap, **settings)
    await reader.start()
    try:
        yield reader
    finally:
        await reader.stop()


@pytest.fixture
def topic(region: Region, name: Name) -> str:
    """A topic of three partitions."""

    async def create() -> str:
        async with administration(region) as admin:
            return await created(admin, name("aiokafka"), 3)

    return asyncio.run(create())


async def created(admin: AIOKafkaAdminClient, topic: str, partitions: int, **config: str) -> str:
    answer = await admin.create_topics([NewTopic(topic, partitions, 1, topic_configs=config)])
    assert [error[:2] for error in answer.topic_errors] == [(topic, 0)]
    await partitions_show(admin, topic, partitions)
    return topic


async def partitions_show(admin: AIOKafkaAdminClient, topic: str, partitions: int) -> None:
    """Apache Kafka answers a change before every broker knows of it."""
    async with asyncio.timeout(WAIT_S):
        while len((await admin.describe_topics([topic]))[0]["partitions"]) != partitions:
            await asyncio.sleep(0.05)


async def produce(region: Region, topic: str, wanted: list[Sample], **settings: Any) -> None:
    async with AIOKafkaProducer(bootstrap_servers=region.bootstrap, **settings) as producer:
        pending: list[Awaitable[Any]] = [
            await producer.send(
                topic,
                one.value,
                one.key,
                number % 3,
                timestamp_ms=one.timestamp_ms,
                headers=list(one.headers),
            )
            for number, one in enumerate(wanted)
        ]
        for number, stored in enumerate(pending):
            assert (await stored).offset == number // 3


async def read(reader: AIOKafkaConsumer, count: int) -> list[Any]:
    """The next `count` records."""
    found: list[Any] = []
    async with asyncio.timeout(WAIT_S):
        while len(found) < count:
            polled = await reader.getmany(timeout_ms=1000, max_records=count - len(found))
            found += [record for records in polled.values() for record in records]
    return found


@pytest.mark.parametrize("codec", CODECS)
@run
async def test_ten_thousand_records_come_back_as_they_were_sent(
    region: Region, topic: str, name: Name, codec: str
) -> None:
    wanted = samples(10_000)
    await produce(region, topic, wanted, compression_type=None if codec == "none" else codec)
    async with consumer(region, name("group"), topic) as reader:
        found = by_partition(await read(reader, len(wanted)))
    assert found == {partition: wanted[partition::3] for partition in range(3)}


@run
async def test_a_group_resumes_behind_what_it_committed(
    region: Region, topic: str, name: Name
) -> None:
    wanted, group = samples(900), name("group")
    await produce(region, topic, wanted)
    before = await read_and_commit(region, topic, group, 400)
    after = await read_and_commit(region, topic, group, 500)
    assert by_partition(before + after) == {n: wanted[n::3] for n in range(3)}


async def read_and_commit(region: Region, topic: str, group: str, count: int) -> list[Any]:
    async with consumer(region, group, topic, enable_auto_commit=False) as reader:
        found = await read(reader, count)
        await reader.commit()
    return found


@run
async def test_two_members_share_the_partitions_and_one_takes_over(
    region: Region, topic: str, name: Name
) -> None:
    group = name("group")
    everything = {TopicPartition(topic, partition) for partition in range(3)}
    async with consumer(region, group, topic) as second:
        await until(lambda: second.assignment() == everything)
        async with consumer(region, group, topic) as first:
            await until(lambda: bool(first.assignment()) and second.assignment() < everything)
            assert not first.assignment() & second.assignment()
            assert first.assignment() | second.assignment() == everything
        await until(lambda: second.assignment() == everything)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(WAIT_S):
        while not holds():
            await asyncio.sleep(0.05)


@run
async def test_topics_are_created_described_grown_and_deleted(region: Region, name: Name) -> None:
    async with administration(region) as admin:
        topic = await created(admin, name("admin"), 4)
        again = await admin.create_topics([NewTopic(topic, 4, 1)])
        assert [error[:2] for error in again.topic_errors] == [(topic, ALREADY_EXISTS)]
        await admin.create_partitions({topic: NewPartitions(6)})
        await partitions_show(admin, topic, 6)
        with pytest.raises(aiokafka_errors.InvalidPartitionsError):
            await admin.create_partitions({topic: NewPartitions(2)})
        await admin.delete_topics([topic])
        assert topic not in await admin.list_topics()


@run
async def test_settings_are_described_and_altered(region: Region, name: Name) -> None:
    """aiokafka knows only the AlterConfigs of old, which resets what it doesn't name."""
    async with administration(region) as admin:
        topic = await created(admin, name("settings"), 1, **{"retention.ms": "1234567"})
        assert await settings(admin, topic) == ("1234567", "1073741824")
        change = ConfigResource(ConfigResourceType.TOPIC, topic, {"segment.bytes": "2000000"})
        await admin.alter_configs([change])
        assert await settings(admin, topic) == ("604800000", "2000000")


async def settings(admin: AIOKafkaAdminClient, topic: str) -> tuple[str, str]:
    """retention.ms and segment.bytes."""
    names = {"retention.ms": None, "segment.bytes": None}
    (answer,) = await admin.describe_configs(
        [ConfigResource(ConfigResourceType.TOPIC, topic, names)]
    )
    (resource,) = answer.resources
    assert resource[0] == 0
    found = {entry[0]: entry[1] for entry in resource[4]}
    return found["retention.ms"], found["segment.bytes"]


@run
async def test_offsets_are_found_by_time(region: Region, topic: str) -> None:
    wanted = samples(300)
    await produce(region, topic, wanted)
    partition = TopicPartition(topic, 0)
    async with consumer(region, None, topic) as reader:
        for offset in (0, 1, 57, 99):
            time_ms = wanted[0::3][offset].timestamp_ms
            found = (await reader.offsets_for_times({partition: time_ms}))[partition]
            assert (found.offset, found.timestamp) == (offset, time_ms)
        late = {partition: wanted[-1].timestamp_ms + 1}
        assert (await reader.offsets_for_times(late))[partition] is None
        assert await reader.beginning_offsets([partition]) == {partition: 0}
        assert await reader.end_offsets([partition]) == {partition: 100}


@run
async def test_deleted_records_are_gone_and_the_others_stay(region: Region, topic: str) -> None:
    wanted, partition = samples(300), TopicPartition(topic, 1)
    await produce(region, topic, wanted)
    async with administration(region) as admin:
        gone = await admin.delete_records({partition: RecordsToDelete(before_offset=40)})
    assert gone == {partition: 40}
    async with consumer(region, None) as reader:
        reader.assign([partition])
        records = await read(reader, 60)
    assert [(r.offset, sample(r)) for r in records] == list(enumerate(wanted[1::3]))[40:]


@run
async def test_an_idempotent_producer_stores_each_record_once(region: Region, topic: str) -> None:
    wanted = samples(3000)
    await produce(region, topic, wanted, enable_idempotence=True)
    partitions = [TopicPartition(topic, n) for n in range(3)]
    async with consumer(region, None, topic) as reader:
        assert by_partition(await read(reader, 3000)) == {n: wanted[n::3] for n in range(3)}
        assert set((await reader.end_offsets(partitions)).values()) == {1000}


@pytest.mark.usefixtures("ours")
@run
async def test_a_transactional_producer_is_refused_clearly(region: Region, name: Name) -> None:
    producer = AIOKafkaProducer(
        bootstrap_servers=region.bootstrap, transactional_id=name("transactional")
    )
    with pytest.raises(aiokafka_errors.KafkaError):
        async with asyncio.timeout(WAIT_S):
            await producer.start()
    await producer.stop()


@pytest.mark.timeout(45)
@run
async def test_a_waiting_fetch_is_woken_by_a_record(region: Region, topic: str) -> None:
    """The fetch may wait for longer than this test may take: only a record ends it in time."""
    waits = {"fetch_max_wait_ms": 290_000, "request_timeout_ms": 300_000}
    reader = AIOKafkaConsumer(bootstrap_servers=region.bootstrap, **waits)
    await reader.start()
    reader.assign([TopicPartition(topic, 0)])
    await reader.seek_to_beginning()
    assert await reader.getmany(timeout_ms=2000) == {}
    wanted = samples(2)[1:]
    await produce(region, topic, wanted)
    assert [sample(record) for record in await read(reader, 1)] == wanted
    await reader.stop()


@run
async def test_groups_are_listed(region: Region, topic: str, name: Name) -> None:
    group = name("group")
    async with consumer(region, group, topic) as reader, administration(region) as admin:
        await until(lambda: len(reader.assignment()) == 3)
        assert group in [found[0] for found in await admin.list_consumer_groups()]
        await reader.commit({TopicPartition(topic, 1): (7, "noted")})
        stored = await admin.list_consumer_group_offsets(group)
        assert stored[TopicPartition(topic, 1)][:] == (7, "noted")
