"""Producers: for each partition they follow its leader, and retry until they are told that a batch is stored.

What one is told with acks=all is remembered. An idempotent producer keeps its sequences through every change of leader;
so a leader that refuses them has forgotten what the region acknowledged.
"""

from collections.abc import Iterator

from brokers.errors import KafkaError
from brokers.ids import Offset, TopicPartition
from brokers.records.builder import NewRecord, build_batch
from brokers.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from brokers.wire.messages.producers import InitProducerIdRequest
from tests.sim.clients import ANSWER_MS
from tests.sim.producers import RESTARTS_SEQUENCES, Sending, Unacknowledged
from tests.sim.regions import compaction
from tests.sim.regions.cluster import TOPIC, Cluster
from tests.sim.regions.routes import Routes
from tests.sim.world import Promise

PRODUCE, INIT_PRODUCER_ID = 0, 22
PENDING_MAX = 12
ALL, LEADER = -1, 1
MOVED = (
    KafkaError.NOT_LEADER_OR_FOLLOWER,
    KafkaError.FENCED_LEADER_EPOCH,
    KafkaError.UNKNOWN_TOPIC_OR_PARTITION,
    KafkaError.KAFKA_STORAGE_ERROR,
)
# An answer of a region where the topic is a mirror, or was taken over by another one.
READ_ONLY = (KafkaError.POLICY_VIOLATION,)


class Producer:
    """Writes to every partition of the topic, each by a `_Sender` of its own.

    Where its topic is read-only it looks in the next of `follows`, regions that the topic may move to. With `restarts`
    that may have lost something: then it goes on with another producer id, as clients do. `most`: records to a
    partition, after which it falls silent.
    """

    def __init__(
        self,
        cluster: Cluster,
        name: str,
        *,
        idempotent: bool,
        acks: int,
        follows: tuple[Cluster, ...] = (),
        restarts: bool = False,
        most: int = 1 << 62,
    ) -> None:
        self.name = name
        self.cluster = cluster
        self.idempotent = idempotent
        self.acks = acks
        self.follows = (cluster, *follows)
        self.restarts = restarts
        self.most = most
        self._senders: dict[TopicPartition, _Sender] = {}
        cluster.statements.idempotent[name] = idempotent

    @property
    def drained(self) -> bool:
        return all(sender.drained for sender in self._senders.values())

    async def run(self) -> None:
        while not self.cluster.stopping:
            for partition in self.cluster.partitions():
                if partition not in self._senders:
                    sender = self._senders[partition] = _Sender(self, partition)
                    self.cluster.world.spawn(sender.run())
            await self.cluster.world.sleep(500)


class _Sender:
    """What one producer has for one partition, oldest first."""

    def __init__(self, producer: Producer, partition: TopicPartition) -> None:
        self._producer = producer
        self._partition = partition
        self._cluster = producer.cluster  # where it looks for the topic
        self._world = producer.cluster.world
        self._name = f"{producer.name}-{partition.partition}"
        self._rng = self._world.rng(self._name)
        self._ways = {each: Routes(each, self._name) for each in producer.follows}
        self._routes = self._ways[self._cluster]
        self._sending = Sending()
        self._count = 0
        self._is_lost = True  # it must ask who leads

    @property
    def drained(self) -> bool:
        return not self._sending.pending

    async def run(self) -> None:
        while not (self._producer.cluster.stopping and self.drained):
            if not self._producer.cluster.stopping:
                self._invent()
            if self._sending.pending and await self._ready():
                await self._round()
            await self._world.sleep(self._rng.randrange(10, 350))

    def _invent(self) -> None:
        if len(self._sending.pending) >= PENDING_MAX or self._rng.random() < 0.4:
            return
        if self._count >= min(self._producer.most, self._cluster.scenario.records_max):
            return
        values = []
        for filling in self._fillings(self._rng.choice((1, 1, 2, 4))):
            self._count += 1
            name, index = self._producer.name.encode(), self._partition.partition
            values.append(b"%s:%d.%d:%s" % (name, index, self._count, filling))
            self._cluster.statements.sent[values[-1]] = None
        batch = Unacknowledged(values, -1)
        self._sending.number(batch)
        self._sending.pending.append(batch)

    def _fillings(self, count: int) -> Iterator[bytes]:
        compacted = self._cluster.scenario.compaction
        longest = self._cluster.scenario.filling_max
        if compacted is None:
            yield from (b"x" * self._rng.randrange(longest) for _ in range(count))
            return
        deletes = self._rng.random() < compacted.markers
        for key in compaction.keys(self._rng, count):
            yield key + (b":deleted" if deletes else b":" + b"x" * self._rng.randrange(longest))

    async def _ready(self) -> bool:
        """Who leads is known and connected, and there is a producer id if one is needed."""
        if self._is_lost:
            self._is_lost = not await self._routes.refresh(TOPIC)
        led = self._routes.led(self._partition)
        if led is None or led.leader < 0 or await self._routes.connected(led.leader) is None:
            self._is_lost = True
            return False
        if self._producer.idempotent and self._sending.producer_id < 0:
            return await self._identify()
        return True

    async def _identify(self) -> bool:
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)
        answer = await self._routes.ask_anyone(INIT_PRODUCER_ID, request)
        if answer is None or answer.error_code:
            return False
        self._sending.become(answer.producer_id)
        return True

    # --- one round: everything that may be in flight, then its answers ---

    async def _round(self) -> None:
        led = self._routes.led(self._partition)
        assert led is not None
        routes, leader = self._routes, led.leader
        client = await routes.connected(leader)
        if client is None:
            return
        flights: list[tuple[Unacknowledged, Promise]] = []
        for batch in list(self._sending.pending)[: self._sending.window]:
            promise = client.send(PRODUCE, self._request(batch))
            flights.append((batch, self._world.within(ANSWER_MS, promise)))
        brief = " ".join(f"{batch.sequence}+{len(batch.values)}" for batch, _ in flights)
        self._world.note(self._name, f"sends {brief} to {leader}")
        failed = False
        for batch, promise in flights:
            answer = await promise
            if answer is None:
                routes.drop(leader)
                self._is_lost = True
                return
            item = answer.responses[0].partition_responses[0]
            # What came behind a failure was refused for it, or is a duplicate of the next round.
            if not failed:
                failed = not self._account(batch, KafkaError(item.error_code), item.base_offset)
            if not failed:
                self._routes.hinted(self._partition, item.current_leader)

    def _request(self, batch: Unacknowledged) -> ProduceRequest:
        data = PartitionProduceData(index=self._partition.partition, records=self._encode(batch))
        topic = TopicProduceData(name=self._partition.topic, partition_data=[data])
        return ProduceRequest(acks=self._producer.acks, timeout_ms=3_000, topic_data=[topic])

    def _encode(self, batch: Unacknowledged) -> bytearray:
        is_keyed = self._cluster.scenario.compaction is not None
        records = [
            compaction.keyed(value) if is_keyed else NewRecord(key=None, value=value)
            for value in batch.values
        ]
        if not self._producer.idempotent:
            return build_batch(records, timestamp=self._world.now)
        return build_batch(
            records,
            timestamp=self._world.now,
            producer_id=self._sending.producer_id,
            producer_epoch=0,
            base_sequence=batch.sequence,
        )

    def _account(self, batch: Unacknowledged, error: KafkaError, base_offset: Offset) -> bool:
        """Whether the batch is done with."""
        if error is KafkaError.NONE:
            self._sending.pending.popleft()
            self._sending.known = True
            self._world.note(self._name, f"has stored {batch.sequence} at {base_offset}")
            if self._producer.acks == ALL:
                for delta, value in enumerate(batch.values):
                    self._cluster.statements.was_stored(self._partition, base_offset + delta, value)
            return True
        self._world.note(self._name, f"refused: {error.name}")
        self._is_lost = self._is_lost or error in MOVED
        if error in READ_ONLY and len(self._ways) > 1:
            self._follow()
        elif error in READ_ONLY and self._producer.restarts:
            # One at a time: what is sent just behind a refusal might be taken as the first of an unknown producer.
            self._sending.known = False
        elif error in RESTARTS_SEQUENCES and self._producer.restarts:
            self._sending.producer_id = -1
        elif error in RESTARTS_SEQUENCES:
            self._cluster.statements.contradicts(
                "P10", f"{self._name}: sequence {batch.sequence} refused: {error.name}"
            )
        return False

    def _follow(self) -> None:
        """To the next region. What was sent keeps its sequences: it may be there."""
        regions = list(self._ways)
        self._cluster = regions[(regions.index(self._cluster) + 1) % len(regions)]
        self._routes = self._ways[self._cluster]
        self._sending.known, self._is_lost = False, True
        self._world.note(self._name, f"looks in {self._cluster.region}")
