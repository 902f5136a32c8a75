"""Somebody who writes to a mirror as if it were a topic like any other, and asks for its records to be deleted (P4)."""

from typing import Any

from brokers.ids import TopicPartition
from brokers.records.builder import NewRecord, build_batch
from brokers.wire.messages.partition_offsets import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from brokers.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.sim.linked.federation import Region
from tests.sim.regions.cluster import TOPIC
from tests.sim.regions.routes import Routes

PRODUCE, DELETE_RECORDS = 0, 21
LOOK_MS = 20


class ForeignWriter:
    """In the region of a mirror, until it is told to stop. What it is granted contradicts P4; what is written all the
    same is found as any record that is not the source's."""

    def __init__(self, region: Region, topic: str = TOPIC) -> None:
        self.granted = self.refused = 0
        self._region = region
        self._world = region.world
        self._topic = topic
        self._name = f"foreign writer in {region.region}"
        self._name += "" if topic == TOPIC else f" of {topic}"
        self._rng = region.world.rng(self._name)
        self._routes = Routes(region, self._name)
        self._stops = self._has_stopped = False

    async def run(self) -> None:
        while not (self._stops or self._region.stopping):
            everything = self._region.partitions()
            if partitions := [each for each in everything if each.topic == self._topic]:
                await self._try(self._rng.choice(partitions))
            await self._world.sleep(self._rng.randrange(50, 1_000))
        self._has_stopped = True

    async def stop(self) -> None:
        """When it returns, nothing of it is under way."""
        self._stops = True
        while not self._has_stopped:
            await self._world.sleep(LOOK_MS)

    async def _try(self, partition: TopicPartition) -> None:
        if self._rng.random() < 0.2:
            code = await self._delete(partition)
        else:
            code = await self._write(partition)
        if code is None:
            return
        self.refused += bool(code)
        if not code:
            self.granted += 1
            self._region.statements.contradicts("P4", f"{self._name} changed {partition}")

    async def _write(self, partition: TopicPartition) -> int | None:
        value = b"foreign:%d:" % self._rng.randrange(1 << 30)
        records = build_batch([NewRecord(key=None, value=value)], timestamp=self._world.now)
        data = PartitionProduceData(index=partition.partition, records=records)
        topic = TopicProduceData(name=partition.topic, partition_data=[data])
        request = ProduceRequest(acks=-1, timeout_ms=1_000, topic_data=[topic])
        answer: Any = await self._routes.ask_leader(partition, PRODUCE, request)
        return None if answer is None else answer.responses[0].partition_responses[0].error_code

    async def _delete(self, partition: TopicPartition) -> int | None:
        asked = DeleteRecordsPartition(partition_index=partition.partition, offset=-1)
        topic = DeleteRecordsTopic(name=partition.topic, partitions=[asked])
        request = DeleteRecordsRequest(topics=[topic], timeout_ms=1_000)
        answer: Any = await self._routes.ask_leader(partition, DELETE_RECORDS, request)
        return None if answer is None else answer.topics[0].partitions[0].error_code
