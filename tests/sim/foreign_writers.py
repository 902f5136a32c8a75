"""Writes to the mirror as if it were a topic like any other, and asks for its records to be deleted."""

from brokers.ids import TopicPartition
from brokers.records.builder import NewRecord, build_batch
from brokers.wire.messages.partition_offsets import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from brokers.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.sim.clients import Client
from tests.sim.evidence import Region
from tests.sim.federation import DESTINATION, TOPIC, Federation

PRODUCE, DELETE_RECORDS = 0, 21
NAME = "intruder"


class ForeignWriter:
    """At the destination, for as long as the topic there may be a mirror."""

    def __init__(self, federation: Federation) -> None:
        self._federation = federation
        self._world = federation.world
        self._rng = federation.world.rng(NAME)
        self._client = Client(federation.world, federation.network, NAME)
        self._count = 0

    async def run(self) -> None:
        statements = self._federation.statements
        while not statements.ending_asked:
            if not self._client.connected and not await self._client.connect(
                self._federation.destination
            ):
                await self._world.sleep(500)
                continue
            partition = self._rng.choice(self._federation.partitions())
            if self._rng.random() < 0.2:
                await self._delete(partition)
            else:
                await self._write(partition)
            await self._world.sleep(self._rng.randrange(50, 1_000))

    async def _write(self, partition: TopicPartition) -> None:
        self._count += 1
        value = b"%s:%d:" % (NAME.encode(), self._count)
        data = PartitionProduceData(
            index=partition.partition,
            records=build_batch([NewRecord(key=None, value=value)], timestamp=self._world.now),
        )
        topic = TopicProduceData(name=TOPIC, partition_data=[data])
        answer = await self._client.ask(
            PRODUCE, ProduceRequest(acks=-1, timeout_ms=1_000, topic_data=[topic])
        )
        if answer is None or self._federation.statements.ending_asked:
            return
        if not answer.responses[0].partition_responses[0].error_code:
            self._federation.statements.foreign_writes.append(f"{value!r} into {partition}")

    async def _delete(self, partition: TopicPartition) -> None:
        asked = DeleteRecordsPartition(partition_index=partition.partition, offset=-1)
        topic = DeleteRecordsTopic(name=TOPIC, partitions=[asked])
        answer = await self._client.ask(
            DELETE_RECORDS, DeleteRecordsRequest(topics=[topic], timeout_ms=1_000)
        )
        if self._federation.statements.ending_asked:
            self._may_have_deleted(partition)
            return
        if answer is not None and not answer.topics[0].partitions[0].error_code:
            self._federation.statements.foreign_writes.append(f"records of {partition} deleted")

    def _may_have_deleted(self, partition: TopicPartition) -> None:
        """The request may have met a topic that was no mirror any more."""
        end = Region(DESTINATION, self._federation.destination.disk).end(partition)
        self._federation.statements.tries_trim(DESTINATION, partition, end)
