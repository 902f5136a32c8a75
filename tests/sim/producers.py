"""Producers: numbered unique values, several batches in flight, and a retry for every answer that did not come.

An idempotent one retries with the same sequence, also in the region that it is moved to. What it is told is remembered,
what it is not told it keeps sending until it is.

A partition that does not know a producer takes any sequence as its first, as Kafka's does; so the first batch that a
region gets of a producer id goes alone, or a refusal of it and not of the next would put them in the wrong order. So
does the first after a reconnect where the region may have lost with its power what it acknowledged.
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
from tests.sim.statements import Acknowledged, Place
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
    producer_id: int = -1
    next_sequence: int = 0
    known: bool = False  # the region has taken a batch of this producer id

    @property
    def window(self) -> int:
        return IN_FLIGHT_MAX if self.known else 1

    def number(self, batch: Unacknowledged) -> None:
        batch.sequence = self.next_sequence
        self.next_sequence += len(batch.values)

    def become(self, producer_id: int) -> None:
        """Everything from now on has sequences of this producer id."""
        self.producer_id, self.next_sequence, self.known = producer_id, 0, False
        for batch in self.pending:
            self.number(batch)


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
        self._sending: dict[TopicPartition, Sending] = {}
        self._count = 0
        federation.statements.idempotent[name] = idempotent

    @property
    def drained(self) -> bool:
        return not any(sending.pending for sending in self._sending.values())

    async def run(self) -> None:
        while not (self._federation.stopping and self.drained):
            if not self._federation.holding:
                self._invent()
            if await self._ready():
                await self._round()
            await self._world.sleep(self._rng.randrange(5, 150))

    async def _ready(self) -> bool:
        """Connected to where clients live now, with the producer ids that are needed."""
        if self._node is not self._federation.home or not self._client.connected:
            if self._node is not self._federation.home or not self._federation.evidence.durable:
                self._node = self._federation.home
                for sending in self._sending.values():
                    sending.known = False  # another region, or one that may have lost power
            if not await self._client.connect(self._node):
                await self._world.sleep(200)
                return False
        return not self._idempotent or await self._identify()

    async def _identify(self) -> bool:
        """One new producer id for every partition that has none."""
        nameless = [sending for sending in self._sending.values() if sending.producer_id < 0]
        if not nameless:
            return True
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)
        answer = await self._client.ask(INIT_PRODUCER_ID, request)
        if answer is None or answer.error_code:
            return False
        for sending in nameless:
            sending.become(answer.producer_id)
        return True

    def _invent(self) -> None:
        for partition in self._federation.partitions():
            self._sending.setdefault(partition, Sending())
        for sending in self._sending.values():
            if len(sending.pending) >= PENDING_MAX or self._rng.random() < 0.3:
                continue
            values = []
            for _ in range(self._rng.choice((1, 1, 2, 5))):
                self._count += 1
                values.append(
                    b"%s:%d:%s" % (self.name.encode(), self._count, b"x" * self._rng.randrange(80))
                )
                self._federation.statements.sent[values[-1]] = None
            batch = Unacknowledged(values, -1)
            sending.number(batch)
            sending.pending.append(batch)

    # --- one round: everything that may be in flight, then its answers ---

    async def _round(self) -> None:
        flights: list[tuple[list[tuple[TopicPartition, Unacknowledged]], Promise]] = []
        for depth in range(IN_FLIGHT_MAX):
            load = [
                (partition, sending.pending[depth])
                for partition, sending in self._sending.items()
                if depth < min(len(sending.pending), sending.window)
            ]
            if load:
                self._world.note(self.name, f"sends {_brief(load)}")
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
            data = PartitionProduceData(
                index=partition.partition, records=self._encode(partition, batch)
            )
            topic.partition_data.append(data)
        return ProduceRequest(acks=-1, timeout_ms=ANSWER_MS, topic_data=[topic])

    def _encode(self, partition: TopicPartition, batch: Unacknowledged) -> bytearray:
        records = [NewRecord(key=None, value=value) for value in batch.values]
        if not self._idempotent:
            return build_batch(records, timestamp=self._world.now)
        return build_batch(
            records,
            timestamp=self._world.now,
            producer_id=self._sending[partition].producer_id,
            producer_epoch=0,
            base_sequence=batch.sequence,
        )

    def _account(
        self,
        load: list[tuple[TopicPartition, Unacknowledged]],
        answer: ProduceResponse,
        failed: dict[TopicPartition, None],
    ) -> None:
        items = {
            item.index: item for topic in answer.responses for item in topic.partition_responses
        }
        for partition, batch in load:
            item = items[partition.partition]
            if partition in failed:
                continue  # what came behind a failure was refused for it, or is a duplicate of the next round
            if item.error_code == KafkaError.NONE:
                self._sending[partition].pending.popleft()
                self._sending[partition].known = True
                self._remember(partition, batch, item.base_offset)
                stored = f"{batch.sequence}+{len(batch.values)} at {partition}@{item.base_offset}"
                self._world.note(self.name, f"has stored {stored}")
            else:
                failed[partition] = None
                self._on_refused(partition, batch, item)

    def _remember(
        self, partition: TopicPartition, batch: Unacknowledged, base_offset: Offset
    ) -> None:
        for delta, value in enumerate(batch.values):
            place = Place(self._node.region, partition, base_offset + delta)
            self._federation.statements.acknowledged.append(Acknowledged(value, place))

    def _on_refused(
        self, partition: TopicPartition, batch: Unacknowledged, item: PartitionProduceResponse
    ) -> None:
        error = KafkaError(item.error_code)
        self._world.note(self.name, f"refused at {partition}: {error.name}")
        if error not in RESTARTS_SEQUENCES:
            return
        # The region has lost what came before this batch: after a cut, or a power cut without syncs, that is the deal.
        evidence, sending = self._federation.evidence, self._sending[partition]
        statements = evidence.statements
        if not evidence.durable or (
            statements.moved and evidence.in_a_hole(partition, batch.values[0])
        ):
            # What came after it may be there, of the producer id that is given up here: a mirror has what its source
            # lost, and what follows a hole without what lay in it.
            statements.renamed |= {value: None for each in sending.pending for value in each.values}
        elif not statements.moved:
            what = f"{self.name}: sequence {batch.sequence} of {partition} refused: {error.name}"
            statements.contradicts("P10", what)
        sending.producer_id = -1


def _brief(load: list[tuple[TopicPartition, Unacknowledged]]) -> str:
    return " ".join(
        f"{partition}:{batch.sequence}+{len(batch.values)}" for partition, batch in load
    )
