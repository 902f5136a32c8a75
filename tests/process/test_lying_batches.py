"""Whole frames in parts whose batch lies: nothing of it reaches the log, and the mirror says why."""

import asyncio
import struct
from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

import pytest
from confluent_kafka import TopicCollection
from confluent_kafka.admin import AdminClient

from brokers.records.batch import renew_crc
from brokers.records.builder import NewRecord, build_batch
from linker.frames import (
    Agreed,
    Chunk,
    OffsetBounds,
    RewatchTopics,
    Subscribe,
    TopicState,
    WatchTopics,
)
from linker.wire import frames, parts
from tests.process.lied_to import LARGEST, LIED, MIB, TIMEOUT_S, Regions, started
from tests.process.lying_ends import LIAR, heard, source, told

TOPIC = "doubted"
BOUNDS = OffsetBounds(0, 1, 1)
CONFIGS = {"max.message.bytes": str(LARGEST)}
# Where the fields of a RecordBatch are.
BASE_OFFSET, LENGTH, MAGIC, CRC, LAST_OFFSET_DELTA, COUNT = 0, 8, 16, 17, 23, 57


def lying(position: int, form: str, value: int) -> bytes:
    """A batch of 8 MiB of which one field is another."""
    batch = build_batch([NewRecord(None, bytes(8 * MIB))], timestamp=1, leader_epoch=0)
    struct.pack_into(form, batch, position, value)
    if position > CRC:
        renew_crc(batch, 0, len(batch))
    return bytes(batch)


LIES = {
    "its offset": lying(BASE_OFFSET, ">q", 1 << 62),
    "a negative offset": lying(BASE_OFFSET, ">q", -5),
    "its length": lying(LENGTH, ">i", 2**31 - 1),
    "a short length": lying(LENGTH, ">i", 60),
    "a negative length": lying(LENGTH, ">i", -1),
    "its magic": lying(MAGIC, ">b", 9),
    "its checksum": lying(CRC, ">I", 5),
    "its last offset": lying(LAST_OFFSET_DELTA, ">i", 2**31 - 1),
    "how many records": lying(COUNT, ">i", 2**31 - 1),
}


@pytest.fixture(scope="module")
def regions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Regions]:
    yield from started(tmp_path_factory.mktemp("lied"))


def topic_id(regions: Regions) -> bytes:
    admin = AdminClient({"bootstrap.servers": regions.west.address})
    found = admin.describe_topics(TopicCollection([TOPIC]))[TOPIC].result(TIMEOUT_S)
    high, low = (
        part & (1 << 64) - 1
        for part in (
            found.topic_id.get_most_significant_bits(),
            found.topic_id.get_least_significant_bits(),
        )
    )
    return UUID(int=high << 64 | low).bytes


async def serve(call: Any, identity: bytes, lies: Iterable[bytes]) -> None:
    """Describes the topic whenever it is asked for. Each subscription gets a lie; returns when one is left without."""
    left = list(lies)
    while True:
        frame = await heard(call, WatchTopics | RewatchTopics | Subscribe)
        if isinstance(frame, Subscribe):
            if not left:
                return
            await agree(call, frame.subscription, left.pop(0))
        elif TOPIC in (frame.topics if isinstance(frame, WatchTopics) else frame.added):
            state = TopicState(TOPIC, identity, 1, CONFIGS, (0,), (), (LIAR,))
            await call.write(frames.encode(state))


async def agree(call: Any, subscription: int, batch: bytes) -> None:
    """The batch follows, as if it were what does."""
    await call.write(frames.encode(Agreed(subscription, 0, 0, BOUNDS, 1)))
    chunk = Chunk(subscription, 0, 1, 0, False, BOUNDS, 1, batch)
    assert await told(call, parts.split(frames.encode(chunk)))


def test_batches_that_lie_are_refused_and_the_honest_ones_come_later(regions: Regions) -> None:
    regions.create(TOPIC)
    identity = topic_id(regions)

    async def scene() -> None:
        async with source(regions.lied) as call:
            serving = asyncio.create_task(serve(call, identity, LIES.values()))
            await asyncio.to_thread(regions.at_east, "mirror", "create", TOPIC, "--link", LIED)
            await serving
            described = await asyncio.to_thread(regions.at_east, "mirror", "describe", TOPIC)
            (mirror,) = described["mirror_lags"]
            assert mirror["local_log_end_offset"] == 0
            assert mirror["partition_state"].startswith("RETRYING: "), mirror
            await asyncio.to_thread(regions.serves)

    asyncio.run(scene())
    regions.recovers(TOPIC)
