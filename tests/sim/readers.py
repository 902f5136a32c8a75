"""Readers: follow every partition of a region from its start, and remember what lay where.

A reader is at the source or at the mirror, reads committed or uncommitted, and now and then begins again.
"""

from brokers.errors import KafkaError
from brokers.ids import Offset, TopicPartition
from brokers.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from brokers.wire.messages.partition_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from tests.sim.clients import Client
from tests.sim.evidence import parse
from tests.sim.federation import TOPIC, Federation
from tests.sim.nodes import Node
from tests.sim.statements import Place

FETCH, LIST_OFFSETS = 1, 2
EARLIEST = -2
SESSIONLESS = -1


def fetch_request(
    positions: dict[TopicPartition, Offset], isolation: int, size_max: int, wait_ms: int
) -> FetchRequest:
    topic = FetchTopic(
        topic=TOPIC,
        partitions=[
            FetchPartition(
                partition=partition.partition, fetch_offset=offset, partition_max_bytes=size_max
            )
            for partition, offset in positions.items()
        ],
    )
    return FetchRequest(
        max_wait_ms=wait_ms,
        min_bytes=1,
        max_bytes=1 << 20,
        isolation_level=isolation,
        session_epoch=SESSIONLESS,
        topics=[topic],
    )


async def earliest(client: Client, partition: TopicPartition) -> Offset | None:
    """Where a partition begins now; None if nobody says."""
    asked = ListOffsetsPartition(partition_index=partition.partition, timestamp=EARLIEST)
    topic = ListOffsetsTopic(name=partition.topic, partitions=[asked])
    answer = await client.ask(LIST_OFFSETS, ListOffsetsRequest(replica_id=-1, topics=[topic]))
    if answer is None or answer.topics[0].partitions[0].error_code:
        return None
    return int(answer.topics[0].partitions[0].offset)


class Reader:
    """One consumer without a group, of one region."""

    def __init__(self, federation: Federation, name: str, node: Node) -> None:
        self.name = name
        self._federation = federation
        self._world = federation.world
        self._statements = federation.statements
        self._rng = federation.world.rng(name)
        self._client = Client(federation.world, federation.network, name)
        self.node = node
        self._isolation = self._rng.randrange(0, 2)
        self.positions: dict[TopicPartition, Offset] = {}

    async def run(self) -> None:
        """Until the end of the world."""
        while True:
            if not self._client.connected and not await self._client.connect(self.node):
                await self._world.sleep(300)
                continue
            for partition in self._federation.partitions():
                self.positions.setdefault(partition, 0)
            if not self._federation.stopping and self._rng.random() < 0.02:
                self.positions = dict.fromkeys(self.positions, 0)
            size_max = self._rng.choice((1, 300, 5_000))
            wait_ms = self._rng.choice((0, 100, 500))
            answer = await self._client.ask(
                FETCH, fetch_request(self.positions, self._isolation, size_max, wait_ms)
            )
            if answer is not None:
                await self._take(answer)
            await self._world.sleep(self._rng.randrange(10, 200))

    async def _take(self, answer: FetchResponse) -> None:
        for topic in answer.responses:
            for data in topic.partitions:
                partition = TopicPartition(TOPIC, data.partition_index)
                if data.error_code == KafkaError.OFFSET_OUT_OF_RANGE:
                    await self._begin_anew(partition)
                elif data.error_code == KafkaError.NONE:
                    self._read(partition, data)
                else:
                    await self._world.sleep(100)

    async def _begin_anew(self, partition: TopicPartition) -> None:
        """What we stood at was trimmed away. That it was never there is for the disks to tell, at the end."""
        start = await earliest(self._client, partition)
        if start is None:
            return
        if start < self.positions[partition] and self._federation.evidence.durable:
            stood = f"{self.name} stood at {self.positions[partition]} of {partition} in {self.node.region}"
            self._statements.contradicts("P3", f"{stood}, which is out of range and above {start}")
        self.positions[partition] = start

    def _read(self, partition: TopicPartition, data: PartitionData) -> None:
        bound = data.last_stable_offset if self._isolation else data.high_watermark
        for batch in parse(bytes(data.records or b"")):
            for offset, value in batch.values():
                if offset < self.positions[partition]:
                    continue  # the batch that holds our position begins before it
                place = Place(self.node.region, partition, offset)
                if offset >= bound:
                    self._statements.contradicts("P3", f"{place} was read, above the bound {bound}")
                self._statements.was_read(place, value)
            self.positions[partition] = max(self.positions[partition], batch.next_offset)
