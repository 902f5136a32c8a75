"""How a client of a region finds whom to ask: connections to all nodes, and who leads as far as anyone said."""

from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from brokers.errors import KafkaError
from brokers.ids import BrokerId, LeaderEpoch, TopicPartition
from brokers.wire.message import Message
from brokers.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from brokers.wire.messages.produce import LeaderIdAndEpoch
from tests.sim.clients import Client
from tests.sim.regions.cluster import Cluster

METADATA = 3
CONNECT_MS = 1_000
NOT_TOLD = UUID(int=0)  # by versions that know no topic ids


@dataclass(frozen=True, slots=True)
class Led:
    """Who leads a partition, in which epoch, and where else it lies."""

    leader: BrokerId
    leader_epoch: LeaderEpoch
    replicas: tuple[BrokerId, ...]
    in_sync: tuple[BrokerId, ...]


class Routes:
    """One client's view. News of an older leader epoch than is known are no news (KIP-320)."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self._cluster = cluster
        self._world = cluster.world
        self._name = name
        self._rng = cluster.world.rng(f"routes {name}")
        self._clients = {
            number: Client(cluster.world, cluster.network, name) for number in cluster.brokers
        }
        self._led: dict[TopicPartition, Led] = {}
        self._topic_ids: dict[str, UUID] = {}

    @property
    def partitions(self) -> list[TopicPartition]:
        """As last heard."""
        return list(self._led)

    def topic_id(self, topic: str) -> UUID:
        return self._topic_ids[topic]

    def led(self, partition: TopicPartition) -> Led | None:
        return self._led.get(partition)

    def drop(self, number: BrokerId) -> None:
        """End the connection: answers that come late must not be taken for others'."""
        self._clients[number].close()

    async def connected(self, number: BrokerId) -> Client | None:
        client = self._clients[number]
        if not client.connected and not await client.connect(self._cluster.node(number)):
            return None
        return client

    async def ask(self, number: BrokerId, key: int, request: Message, **options: Any) -> Any:
        client = await self.connected(number)
        return None if client is None else await client.ask(key, request, **options)

    async def ask_anyone(self, key: int, request: Message, **options: Any) -> Any:
        return await self.ask(self._rng.choice(self._cluster.brokers), key, request, **options)

    async def ask_leader(self, partition: TopicPartition, key: int, request: Message) -> Any:
        """None, too, where nobody is known to lead; who leads is asked anew then."""
        led = self._led.get(partition)
        if led is None or led.leader < 0:
            await self.refresh(partition.topic)
            return None
        return await self.ask(led.leader, key, request)

    # --- who leads ---

    def hinted(self, partition: TopicPartition, hint: LeaderIdAndEpoch | None) -> None:
        """What a leader said of the one after it (KIP-951)."""
        known = self._led.get(partition)
        if hint is None or known is None or hint.leader_epoch <= known.leader_epoch:
            return
        self._world.note(self._name, f"is told that {hint.leader_id} leads {partition} next")
        self._led[partition] = replace(known, leader=hint.leader_id, leader_epoch=hint.leader_epoch)

    async def refresh(self, topic: str) -> bool:
        """Ask some node; whether it knew the topic."""
        request = metadata_of(topic)
        answer = await self.ask_anyone(METADATA, request)
        if answer is None:
            await self._world.sleep(self._rng.randrange(20, 150))
            return False
        return self._take(answer)

    def _take(self, answer: MetadataResponse) -> bool:
        known = False
        for topic in answer.topics:
            if not topic.error_code and topic.name is not None:
                known = True
                self._learn(topic.name, topic)
        return known

    def _learn(self, name: str, topic: MetadataResponseTopic) -> None:
        known_id = self._topic_ids.setdefault(name, topic.topic_id)
        if topic.topic_id not in (known_id, NOT_TOLD):
            self._topic_ids[name] = topic.topic_id
            if known_id != NOT_TOLD:
                self._led = {each: led for each, led in self._led.items() if each.topic != name}
        for placed in topic.partitions:
            partition = TopicPartition(name, placed.partition_index)
            self._cluster.statements.told_in_sync(partition, placed.isr_nodes)
            known = self._led.get(partition)
            if known is None or placed.leader_epoch >= known.leader_epoch:
                self._hear(partition, known, _led(placed))

    def _hear(self, partition: TopicPartition, known: Led | None, led: Led) -> None:
        self._led[partition] = led
        if known is None or known.in_sync != led.in_sync:
            self._world.note(self._name, f"hears that {partition} is in sync on {led.in_sync}")


def _led(placed: MetadataResponsePartition) -> Led:
    leader = -1 if placed.error_code == KafkaError.LEADER_NOT_AVAILABLE else placed.leader_id
    in_sync = tuple(sorted(placed.isr_nodes))
    return Led(leader, placed.leader_epoch, tuple(placed.replica_nodes), in_sync)


def metadata_of(topic: str) -> MetadataRequest:
    return MetadataRequest(
        topics=[MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False
    )
