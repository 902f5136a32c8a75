"""An operator of a region: makes the topic; under faults makes and deletes others, adds partitions, deletes
records, elects, moves.

Whoever is told that something is done finds it so for ever; what was answered by nobody may be done or not.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

from brokers.errors import KafkaError
from brokers.ids import OFFSETS_TOPIC, BrokerId, TopicPartition
from brokers.wire.message import Message
from brokers.wire.messages.configs import (
    IncrementalAlterableConfig,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResource,
)
from brokers.wire.messages.partition_offsets import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from brokers.wire.messages.replication import (
    AlterPartitionReassignmentsRequest,
    ElectLeadersRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from brokers.wire.messages.topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
    CreateTopicsRequest,
    DeleteTopicsRequest,
)
from tests.sim.regions.cluster import TOPIC, Cluster
from tests.sim.regions.racks import far_brokers, near_brokers, placement_of
from tests.sim.regions.routes import Routes

CREATE_TOPICS, DELETE_TOPICS, DELETE_RECORDS, CREATE_PARTITIONS = 19, 20, 21, 37
ELECT_LEADERS, INCREMENTAL_ALTER_CONFIGS, REASSIGN = 43, 44, 45
ANSWER_MS = 40_000  # a region without a controller answers after 30 s


class Admin:
    """One person."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._world = cluster.world
        self._scenario = cluster.scenario
        self._statements = cluster.statements
        self._rng = cluster.world.rng(cluster.name("admin"))
        self._routes = Routes(cluster, cluster.name("admin"))
        self._placement = placement_of(self._scenario)
        self._count = 0
        self.is_idle = True

    # --- the beginning ---

    async def prepare(self) -> None:
        """The topic of all clients; asks until it is there."""
        await self.make(TOPIC, self._scenario.partitions)

    async def make(self, name: str, partitions: int) -> None:
        """Asks until the topic is there."""
        while name not in self._statements.made:
            await self._create(name, partitions)
            await self._world.sleep(100)

    async def meddle(self) -> None:
        """One thing after the other, until clients are to stop."""
        acts = [self._make_one, self._make_one, self._drop_one, self._grow, self._elect, self._move]
        acts += [self._trim] * 3 if self._scenario.trims else []
        await self._go_on(acts)

    async def move_about(self) -> None:
        """The same with replicas only: topics are somebody else's."""
        await self._go_on([self._elect, self._move])

    async def _go_on(self, acts: Sequence[Callable[[], Awaitable[None]]]) -> None:
        while not self._cluster.stopping:
            self.is_idle = False
            await self._rng.choice(acts)()
            self.is_idle = True
            await self._world.sleep(self._rng.randrange(200, 3_000))

    async def _ask(self, what: str, key: int, request: Message) -> Any:
        answer = await self._routes.ask_anyone(key, request, timeout_ms=ANSWER_MS)
        self._world.note("admin", f"{what}: {'no answer' if answer is None else brief(answer)}")
        return answer

    # --- topics ---

    async def _create(self, name: str, partitions: int) -> None:
        topic = CreatableTopic(
            name=name,
            num_partitions=partitions,
            replication_factor=self._scenario.replication if self._placement is None else -1,
            configs=[
                CreatableTopicConfig(name=key, value=value) for key, value in self._settings()
            ],
        )
        request = CreateTopicsRequest(topics=[topic], timeout_ms=20_000)
        answer = await self._ask(f"create {name}", CREATE_TOPICS, request)
        error = None if answer is None else KafkaError(answer.topics[0].error_code)
        if error in (KafkaError.NONE, KafkaError.TOPIC_ALREADY_EXISTS):
            self._statements.made[name] = partitions

    def _settings(self) -> Iterator[tuple[str, str]]:
        yield "internal.segment.bytes", str(self._scenario.segment_bytes)
        yield "min.insync.replicas", str(self._scenario.min_insync)
        if self._scenario.compaction is not None:
            yield from self._scenario.compaction.of_topic()
        if self._placement is not None:
            yield "confluent.placement.constraints", self._placement

    async def expire(self, retention_ms: int) -> None:
        """Records of the topic of all clients are deleted once they are so old."""
        while not await self._set(TOPIC, "retention.ms", str(retention_ms)):
            pass

    async def _set(self, topic: str, name: str, value: str) -> bool:
        change = IncrementalAlterableConfig(name=name, config_operation=0, value=value)
        resource = IncrementalAlterConfigsResource(
            resource_type=2, resource_name=topic, configs=[change]
        )
        request = IncrementalAlterConfigsRequest(resources=[resource])
        answer = await self._ask(name, INCREMENTAL_ALTER_CONFIGS, request)
        return answer is not None and not answer.responses[0].error_code

    async def roll_offsets(self, segment_bytes: int) -> None:
        """`__consumer_offsets` has small segments, once it is there: all but the last can be compacted."""
        while not self._cluster.stopping:
            if await self._set(OFFSETS_TOPIC, "internal.segment.bytes", str(segment_bytes)):
                return
            await self._world.sleep(500)

    async def _make_one(self) -> None:
        self._count += 1
        await self._create(f"extra{self._count}", self._rng.randrange(1, 4))

    async def _drop_one(self) -> None:
        names = [name for name in self._statements.made if name != TOPIC]
        names = [name for name in names if name not in self._statements.dropped]
        if not names:
            return
        name = self._rng.choice(names)
        self._statements.doubtful[name] = None
        request = DeleteTopicsRequest(topic_names=[name], timeout_ms=20_000)
        answer = await self._ask(f"delete {name}", DELETE_TOPICS, request)
        error = None if answer is None else KafkaError(answer.responses[0].error_code)
        if error in (KafkaError.NONE, KafkaError.UNKNOWN_TOPIC_OR_PARTITION):
            self._statements.dropped[name] = None

    async def _grow(self) -> None:
        count = self._statements.made[TOPIC] + 1
        if count <= 5:
            await self.grow_to(count)

    async def grow_to(self, count: int) -> None:
        topic = CreatePartitionsTopic(name=TOPIC, count=count, assignments=None)
        request = CreatePartitionsRequest(topics=[topic], timeout_ms=20_000)
        answer = await self._ask(f"grow to {count}", CREATE_PARTITIONS, request)
        if answer is not None and not answer.results[0].error_code:
            self._statements.made[TOPIC] = count

    async def _trim(self) -> None:
        """Delete records up to somewhere below what is known to be committed; what becomes of it shows on the disks."""
        partition = self._rng.choice(self._cluster.partitions())
        marks = self._statements.marks.get(partition, {})
        offset = self._rng.randrange(0, max(marks.values(), default=0) + 1)
        self._statements.tries_trim(partition, offset)
        asked = DeleteRecordsPartition(partition_index=partition.partition, offset=offset)
        topic = DeleteRecordsTopic(name=partition.topic, partitions=[asked])
        request = DeleteRecordsRequest(topics=[topic], timeout_ms=2_000)
        answer = await self._routes.ask_leader(partition, DELETE_RECORDS, request)
        said = "no answer" if answer is None else brief(answer)
        self._world.note("admin", f"delete {partition} up to {offset}: {said}")
        if said != "done":
            await self._routes.refresh(partition.topic)

    # --- replicas ---

    async def _elect(self) -> None:
        """Preferred leaders, everywhere."""
        request = ElectLeadersRequest(election_type=0, topic_partitions=None, timeout_ms=20_000)
        await self._ask("elect", ELECT_LEADERS, request)

    async def _move(self) -> None:
        """A partition to other brokers, or back."""
        partitions = self._cluster.partitions()
        if not partitions:
            return
        partition = self._rng.choice(partitions)
        chosen = self._rng.sample(near_brokers(self._scenario), self._scenario.replication)
        chosen += self._rng.sample(far_brokers(self._scenario), self._scenario.observers)
        await self._reassign(partition, chosen)

    async def place(self, partition: TopicPartition, broker_id: BrokerId) -> None:
        """Of one replica; until it is there, and leads."""
        while self._led_by(partition) != broker_id:
            await self._reassign(partition, [broker_id])
            await self._world.sleep(200)

    def _led_by(self, partition: TopicPartition) -> BrokerId | None:
        """In the newest metadata that any broker has."""
        images = [node.broker.view.image for node in self._cluster.nodes.values() if node.life]
        placed = max(images, key=lambda image: image.next_offset).partition(partition)
        return None if placed is None or placed.removing else placed.leader

    async def _reassign(self, partition: TopicPartition, chosen: list[BrokerId]) -> None:
        wanted = ReassignablePartition(partition_index=partition.partition, replicas=chosen)
        topic = ReassignableTopic(name=partition.topic, partitions=[wanted])
        request = AlterPartitionReassignmentsRequest(topics=[topic], timeout_ms=20_000)
        await self._ask(f"move {partition} to {chosen}", REASSIGN, request)


def brief(answer: Any) -> str:
    """Every error that it holds, and what is said about it."""
    found: list[str] = []
    parts = [answer]
    while parts:
        part = parts.pop()
        if getattr(part, "error_code", 0):
            because = getattr(part, "error_message", None)
            found.append(f"{KafkaError(part.error_code).name} {because or ''}")
        values = (getattr(part, name) for name in part.__slots__)
        parts += [each for value in values if isinstance(value, list) for each in value]
        parts = [each for each in parts if isinstance(each, Message)]
    return "; ".join(found) or "done"
