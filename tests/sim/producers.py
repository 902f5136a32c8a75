"""Producers: numbered unique values, several batches in flight, and a retry for every answer that did not come.

An idempotent one retries with the same sequence, also in the region that it is moved to. What it is told is remembered,
what it is not told it keeps sending until it is.
"""

from collections import deque
from dataclasses import dataclass, field

from brokers.errors import KafkaError
from brokers.ids import Offset, TopicPartition
from brokers.records.builder import NewRecord, build_batch
from brokers.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from brokers.wire.messages.producers import InitProducerIdRequest
from tests.sim.clients import ANSWER_MS, Client
from tests.sim.federation import Federation
from tests.sim.testimony import Acknowledged, Place
from tests.sim.world import Promise

PRODUCE, INIT_PRODUCER_ID = 0, 22
IN_FLIGHT_MAX = 5  # what an idempotent producer may have, by the protocol
PENDING_MAX = 20
RESTARTS_SEQUENCES = (KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER, KafkaError.UNKNOWN_PRODUCER_ID)


@dataclass
class Unacknowledged:
    """A batch on its way. Its sequence is its own for as long as the producer id lasts."""

    values: list[bytes]
    sequence: int


@dataclass
class Sending:
    """What one partition still has to get, oldest first."""

    pending: deque[Unacknowledged] = field(default_factory=deque)
    next_sequence: int = 0


class Producer:
    """One producer of one topic, with acks=all."""

    def __init__(self, federation: Federation, name: str, *, idempotent: bool) -> None:
        self.name = name
        self._federation = federation
        self._world = federation.world
        self._rng = federation.world.rng(name)
        self._client = Client(federation.world, federation.network, name)
        self._node = federation.source
        self._idempotent = idempotent
        self._producer_id = -1
        self._sending = {partition: Sending() for partition in federation.first_partitions()}
        self._count = 0
        federation.testimony.idempotent[name] = idempotent

    @property
    def drained(self) -> bool:
        return not any(sending.pending for sending in self._sending.values())

    async def run(self) -> None:
        while not (self._federation.stopping and self.drained):
            if not self._federation.stopping:
                self._invent()
            if await self._ready():
                await self._round()
            await self._world.sleep(self._rng.randrange(5, 150))

    async def _ready(self) -> bool:
        """Connected to where clients live now, with a producer id if one is needed."""
        if self._node is not self._federation.home or not self._client.connected:
            self._node = self._federation.home
            if not await self._client.connect(self._node):
                await self._world.sleep(200)
                return False
        if self._idempotent and self._producer_id < 0:
            await self._take_producer_id()
        return not self._idempotent or self._producer_id >= 0

    async def _take_producer_id(self) -> None:
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)
        answer = await self._client.ask(INIT_PRODUCER_ID, request)
        if answer is None or answer.error_code:
            return
        self._producer_id = answer.producer_id
        for sending in self._sending.values():
            sending.next_sequence = 0
            for batch in sending.pending:
                self._number(sending, batch)

    def _number(self, sending: Sending, batch: Unacknowledged) -> None:
        batch.sequence = sending.next_sequence
        sending.next_sequence += len(batch.values)

    def _invent(self) -> None:
        for sending in self._sending.values():
            if len(sending.pending) >= PENDING_MAX or self._rng.random() < 0.3:
                continue
            values = []
            for _ in range(self._rng.choice((1, 1, 2, 5))):
                self._count += 1
                values.append(b"%s:%d:%s" % (self.name.encode(), self._count, b"x" * self._rng.randrange(80)))
                self._federation.testimony.sent[values[-1]] = None
            batch = Unacknowledged(values, -1)
            self._number(sending, batch)
            sending.pending.append(batch)

    # --- one round: everything that may be in flight, then its answers ---

    async def _round(self) -> None:
        flights: list[tuple[list[tuple[TopicPartition, Unacknowledged]], Promise]] = []
        for depth in range(IN_FLIGHT_MAX):
            load = [
                (partition, sending.pending[depth])
                for partition, sending in self._sending.items()
                if depth < len(sending.pending)
            ]
            if load:
                promise = self._client.send(PRODUCE, self._request(load))
                flights.append((load, self._world.within(ANSWER_MS, promise)))
        failed: dict[TopicPartition, None] = {}
        for load, promise in flights:
            answer = await promise
            if answer is None:
                self._client.close()
                return
            self._account(load, answer, failed)

    def _request(self, load: list[tuple[TopicPartition, Unacknowledged]]) -> ProduceRequest:
        topic = TopicProduceData(name=load[0][0].topic)
        for partition, batch in load:
            data = PartitionProduceData(index=partition.partition, records=self._encode(batch))
            topic.partition_data.append(data)
        return ProduceRequest(acks=-1, timeout_ms=ANSWER_MS, topic_data=[topic])

    def _encode(self, batch: Unacknowledged) -> bytearray:
        records = [NewRecord(key=None, value=value) for value in batch.values]
        if not self._idempotent:
            return build_batch(records, timestamp=self._world.now)
        return build_batch(
            records,
            timestamp=self._world.now,
            producer_id=self._producer_id,
            producer_epoch=0,
            base_sequence=batch.sequence,
        )

    def _account(
        self,
        load: list[tuple[TopicPartition, Unacknowledged]],
        answer: ProduceResponse,
        failed: dict[TopicPartition, None],
    ) -> None:
        items = {item.index: item for topic in answer.responses for item in topic.partition_responses}
        for partition, batch in load:
            item = items[partition.partition]
            if partition in failed:
                continue  # what came behind a failure was refused for it, or is a duplicate of the next round
            if item.error_code == KafkaError.NONE:
                self._sending[partition].pending.popleft()
                self._remember(partition, batch, item.base_offset)
            else:
                failed[partition] = None
                self._on_refused(partition, batch, item)

    def _remember(self, partition: TopicPartition, batch: Unacknowledged, base_offset: Offset) -> None:
        for delta, value in enumerate(batch.values):
            place = Place(self._node.region, partition, base_offset + delta)
            self._federation.testimony.acknowledged.append(Acknowledged(value, place))

    def _on_refused(
        self, partition: TopicPartition, batch: Unacknowledged, item: PartitionProduceResponse
    ) -> None:
        error = KafkaError(item.error_code)
        self._world.note(self.name, f"refused at {partition}: {error.name}")
        if error not in RESTARTS_SEQUENCES:
            return
        # The region has lost what came before this batch: after a cut, or a power cut without syncs, that is the deal.
        if self._federation.evidence.durable and not self._federation.testimony.moved:
            what = f"{self.name}: sequence {batch.sequence} of {partition} refused: {error.name}"
            self._federation.testimony.contradictions.append(what)
        self._producer_id = -1
