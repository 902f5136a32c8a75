"""Readers: follow every partition from its start, at its leader or at any replica, and remember what lay where.

One asks with the leader epoch that it knows, so an answer comes from a leader of that epoch or from a replica that
follows it; now and then it asks a leader for the end, which none but a leader tells, and none that does not know of
everything that was committed before (KIP-207). What comes with a fetch may be behind for a moment after an election.
"""

from brokers.errors import KafkaError
from brokers.ids import Offset, TopicPartition
from brokers.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    PartitionData,
)
from brokers.wire.messages.partition_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from tests.sim.evidence import parse
from tests.sim.regions.cluster import TOPIC, Cluster
from tests.sim.regions.routes import Led, Routes

FETCH, LIST_OFFSETS = 1, 2
LATEST = -1
SESSIONLESS = -1
FETCH_VERSIONS, LIST_OFFSETS_VERSION = (11, 12, 17), 7  # which know leader epochs


class Reader:
    """One consumer without a group."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self.name = name
        self._cluster = cluster
        self._world = cluster.world
        self._testimony = cluster.testimony
        self._rng = cluster.world.rng(name)
        self._routes = Routes(cluster, name)
        self._anywhere = self._rng.random() < 0.5  # reads from followers too
        self._isolation = self._rng.randrange(0, 2)
        self.positions: dict[TopicPartition, Offset] = {}

    async def run(self) -> None:
        """Until the end of the world."""
        while True:
            for partition in self._cluster.partitions():
                self.positions.setdefault(partition, 0)
                if not self._cluster.stopping and self._rng.random() < 0.01:
                    self.positions[partition] = 0
                await self._visit(partition)
            await self._world.sleep(self._rng.randrange(10, 200))

    async def _visit(self, partition: TopicPartition) -> None:
        led = self._routes.led(partition)
        if led is None or led.leader < 0 or self._rng.random() < 0.02:
            await self._routes.refresh(TOPIC)
        elif self._rng.random() < 0.1:
            await self._ask_end(partition, led)
        else:
            await self._fetch(partition, led)

    async def _fetch(self, partition: TopicPartition, led: Led) -> None:
        where = self._rng.choice(led.replicas) if self._anywhere else led.leader
        before = self._testimony.mark_of(partition, led.leader_epoch)
        version = self._rng.choice(FETCH_VERSIONS)
        request = self._request(partition, led)
        answer = await self._routes.ask(where, FETCH, request, version=version)
        if answer is None or not answer.responses:
            await self._routes.refresh(TOPIC)
            return
        data = answer.responses[0].partitions[0]
        if data.error_code:
            await self._on_error(partition, where == led.leader, KafkaError(data.error_code))
            return
        if where == led.leader:
            mark = data.high_watermark
            self._testimony.told_mark(partition, led.leader_epoch, mark, before)
        self._read(partition, data)

    def _request(self, partition: TopicPartition, led: Led) -> FetchRequest:
        asked = FetchPartition(
            partition=partition.partition,
            current_leader_epoch=led.leader_epoch,
            fetch_offset=self.positions[partition],
            partition_max_bytes=self._rng.choice((1, 300, 5_000)),
        )
        topic_id = self._routes.topic_id(partition.topic)
        return FetchRequest(
            max_wait_ms=self._rng.choice((0, 100, 500)),
            min_bytes=1,
            max_bytes=1 << 20,
            isolation_level=self._isolation,
            session_epoch=SESSIONLESS,
            topics=[FetchTopic(topic=partition.topic, topic_id=topic_id, partitions=[asked])],
        )

    async def _on_error(self, partition: TopicPartition, leads: bool, error: KafkaError) -> None:
        if error is KafkaError.OFFSET_OUT_OF_RANGE and leads:
            stood = f"{self.name} stood at {self.positions[partition]} of {partition}"
            self._testimony.contradicts("P3", f"{stood}, which its leader says is out of range")
        self._world.note(self.name, f"refused at {partition}: {error.name}")
        await self._world.sleep(self._rng.randrange(20, 100))
        await self._routes.refresh(TOPIC)

    def _read(self, partition: TopicPartition, data: PartitionData) -> None:
        bound = data.last_stable_offset if self._isolation else data.high_watermark
        for batch in parse(bytes(data.records or b"")):
            for offset, value in batch.values():
                if offset < self.positions[partition]:
                    continue  # the batch that holds our position begins before it
                if offset >= bound:
                    told = f"{partition}@{offset} was read, above the bound {bound}"
                    self._testimony.contradicts("P3", told)
                self._testimony.was_read(partition, offset, value)
            self.positions[partition] = max(self.positions[partition], batch.next_offset)

    async def _ask_end(self, partition: TopicPartition, led: Led) -> None:
        before = self._testimony.mark_before(partition, led.leader_epoch)
        asked = ListOffsetsPartition(
            partition_index=partition.partition,
            current_leader_epoch=led.leader_epoch,
            timestamp=LATEST,
        )
        topic = ListOffsetsTopic(name=partition.topic, partitions=[asked])
        request = ListOffsetsRequest(replica_id=-1, topics=[topic])
        version = LIST_OFFSETS_VERSION
        answer = await self._routes.ask(led.leader, LIST_OFFSETS, request, version=version)
        if answer is None:
            await self._routes.refresh(TOPIC)
            return
        told = answer.topics[0].partitions[0]
        if told.error_code:
            await self._on_error(partition, False, KafkaError(told.error_code))
            return
        self._testimony.has_led(partition, led.leader_epoch, led.leader)
        self._testimony.told_mark(partition, led.leader_epoch, told.offset, before)
