"""Readers: follow every partition from its start, at its leader or at any replica, and remember what lay where.

One asks with the leader epoch that it knows, so an answer comes from a leader of that epoch or from a replica that
follows it; now and then it asks a leader for the end, which none but a leader tells, and none that does not know of
everything that was committed before (KIP-207). What comes with a fetch may be behind for a moment after an election.
"""

from brokers.errors import KafkaError
from brokers.ids import BrokerId, Offset, TopicPartition
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
from tests.sim.evidence import parse, said_by
from tests.sim.regions.cluster import Cluster
from tests.sim.regions.racks import far_brokers, near_brokers, rack_of
from tests.sim.regions.routes import Led, Routes

FETCH, LIST_OFFSETS = 1, 2
LATEST = -1
SESSIONLESS = -1
FETCH_VERSIONS, LIST_OFFSETS_VERSION = (11, 12, 17), 7  # which know leader epochs


class Reader:
    """One consumer without a group."""

    versions: tuple[int, ...] = FETCH_VERSIONS

    def __init__(self, cluster: Cluster, name: str) -> None:
        self.name = name
        self._cluster = cluster
        self._world = cluster.world
        self._statements = cluster.statements
        self._rng = cluster.world.rng(name)
        self._routes = Routes(cluster, name)
        self._anywhere = self._rng.random() < 0.5  # reads from followers too
        brokers = near_brokers(cluster.scenario) + far_brokers(cluster.scenario)
        self._rack = rack_of(self._rng.choice(brokers), cluster.scenario)
        self._closest: dict[TopicPartition, BrokerId] = {}  # where leaders sent it
        self._isolation = self._rng.randrange(0, 2)
        self.positions: dict[TopicPartition, Offset] = {}

    async def run(self) -> None:
        """Until the end of the world."""
        while True:
            for partition in self._cluster.partitions():
                self.positions.setdefault(partition, 0)
                if not self._cluster.stopping and self._rng.random() < 0.01:
                    self.positions[partition] = 0
                await self.visit(partition)
            await self._world.sleep(self._rng.randrange(10, 400))

    async def visit(self, partition: TopicPartition) -> None:
        """One question about it."""
        led = self._routes.led(partition)
        if led is None or led.leader < 0 or self._rng.random() < 0.02:
            await self._routes.refresh(partition.topic)
        elif self._rng.random() < 0.1:
            await self._ask_end(partition, led)
        else:
            await self._fetch(partition, led)

    async def _fetch(self, partition: TopicPartition, led: Led) -> None:
        where = self._closest.get(partition, led.leader)
        if self._anywhere and self._rng.random() < 0.7:
            where = self._rng.choice(led.replicas)
        before = self._statements.mark_of(partition, led.leader_epoch)
        version = self._rng.choice(self.versions)
        request = self._request(partition, led)
        answer = await self._routes.ask(where, FETCH, request, version=version)
        if answer is None or not answer.responses:
            self._closest.pop(partition, None)
            await self._routes.refresh(partition.topic)
            return
        data = answer.responses[0].partitions[0]
        self._statements.told_start(partition, data.log_start_offset)
        if data.error_code:
            self._closest.pop(partition, None)
            error = KafkaError(data.error_code)
            if error is KafkaError.OFFSET_OUT_OF_RANGE and where == led.leader:
                self._on_out_of_range(partition, data.log_start_offset)
            await self._on_error(partition, error)
            return
        if where == led.leader:
            mark = data.high_watermark
            self._statements.told_mark(partition, led.leader_epoch, mark, before)
        if data.preferred_read_replica >= 0:
            self._is_sent(partition, data.preferred_read_replica)
        self._take(partition, data, is_leader=where == led.leader)

    def _is_sent(self, partition: TopicPartition, closest: BrokerId) -> None:
        """A leader knows of a replica that is closer (KIP-392); the first error leads back to the leader."""
        if self._rack is None or rack_of(closest, self._cluster.scenario) != self._rack:
            told = f"{self.name} in rack {self._rack} was sent to broker {closest} for {partition}"
            self._statements.contradicts("closest", told)
        if self._closest.get(partition) != closest:
            self._world.note(self.name, f"is sent to {closest} for {partition}")
        self._closest[partition] = closest

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
            rack_id=self._rack or "",
            topics=[FetchTopic(topic=partition.topic, topic_id=topic_id, partitions=[asked])],
        )

    def _on_out_of_range(self, partition: TopicPartition, log_start_offset: Offset) -> None:
        """Records were deleted, or else the leader lacks what was read."""
        position = self.positions[partition]
        if position >= log_start_offset:
            stood = f"{self.name} stood at {position} of {partition}"
            self._statements.contradicts("P3", f"{stood}, which its leader says is out of range")
        self.positions[partition] = log_start_offset

    async def _on_error(self, partition: TopicPartition, error: KafkaError) -> None:
        self._world.note(self.name, f"refused at {partition}: {error.name}")
        await self._world.sleep(self._rng.randrange(20, 100))
        await self._routes.refresh(partition.topic)

    def _take(self, partition: TopicPartition, data: PartitionData, *, is_leader: bool) -> None:
        """An answer without an error."""
        self._read(partition, data)

    def _read(self, partition: TopicPartition, data: PartitionData) -> None:
        bound = data.last_stable_offset if self._isolation else data.high_watermark
        for batch in parse(bytes(data.records or b"")):
            self._statements.on_batch_read(partition, batch)
            for record in batch.records():
                offset, value = record.offset, said_by(record)
                if offset < self.positions[partition]:
                    continue  # the batch that holds our position begins before it
                if offset >= bound:
                    told = f"{partition}@{offset} was read, above the bound {bound}"
                    self._statements.contradicts("P3", told)
                self._statements.was_read(partition, offset, value)
                if record.key is not None:
                    who = self.name, partition, record.key
                    self._statements.was_consumed(*who, offset, value)
            self.positions[partition] = max(self.positions[partition], batch.next_offset)
        self._statements.has_reached(self.name, partition, self.positions[partition])

    async def _ask_end(self, partition: TopicPartition, led: Led) -> None:
        before = self._statements.marks_before(partition, led.leader_epoch)
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
            await self._routes.refresh(partition.topic)
            return
        told = answer.topics[0].partitions[0]
        if told.error_code:
            await self._on_error(partition, KafkaError(told.error_code))
            return
        self._statements.has_led(partition, led.leader_epoch, led.leader)
        self._statements.told_mark(partition, led.leader_epoch, told.offset, before)
