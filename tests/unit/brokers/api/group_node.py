"""The APIs of groups on a coordinator, an image and a log in memory: one request in, the reply's message out.

Every reply is encoded at the version of its request and decoded again, so what a test sees is what a client sees.
"""

from collections import deque
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from brokers.config.broker_config import from_settings
from brokers.coordinator.partition_writer import PartitionWriter
from brokers.effects import Changed, Effect, Reply
from brokers.errors import KafkaError
from brokers.events import Request
from brokers.ids import OFFSETS_TOPIC, TopicPartition
from brokers.metadata.commands.topic_commands import CreateTopics
from brokers.metadata.image.image import BrokerImage, Endpoint, Image, PartitionImage, TopicImage
from brokers.partition.delayed_operations import OnComplete
from tests.kernel.requests import as_read
from tests.playbooks.groups.world import World
from tests.unit.brokers.wiring import Wiring

PARTITION = PartitionImage(1, 0, 0, (1,), (1,))
T_ID, U_ID = UUID(int=100), UUID(int=101)
NO_ID = UUID(int=0)


class MetadataPublisher:
    """Stands for the metadata plane: keeps what is proposed until the test decides it."""

    is_active = True

    def __init__(self) -> None:
        self.image = Image("cluster")
        self.proposed: list[tuple[Any, int]] = []

    def propose(self, command: Any, token: int, now: int, origin: Any = None) -> list[Any]:
        self.proposed.append((command, token))
        return []


class GroupNode:
    """Broker 1 at `here:9092`, topics `t` (2 partitions) and `u`, `__consumer_offsets` where asked for."""

    def __init__(self, *, has_offsets_topic: bool = True, loaded: bool = True) -> None:
        self.world = World(loaded=loaded)
        self.plane = MetadataPublisher()
        self.changes: list[Changed] = []
        config = from_settings(
            {"node.id": 1, "log.dirs": "data", "offsets.topic.num.partitions": 3}
        )
        self.writer = HeldWriter()
        self.wiring = Wiring(config, self.plane)
        self.groups = self.wiring.with_groups(self.world.coordinator, self.writer)
        self.plane.image.brokers[1] = BrokerImage(
            1, 0, NO_ID, (Endpoint("PLAINTEXT", "here", 9092),), fenced=False
        )
        self.add_topic("t", 2, T_ID)
        self.add_topic("u", 1, U_ID)
        if has_offsets_topic:
            self.add_topic(OFFSETS_TOPIC, 3, UUID(int=102))

    def add_topic(self, name: str, partitions: int, topic_id: UUID) -> None:
        topic = TopicImage(name, topic_id, (PARTITION,) * partitions)
        self.plane.image.topics_by_name[name] = topic
        self.plane.image.topics_by_id[topic_id] = topic

    def decide(self) -> list[Any]:
        """The oldest proposal, which creates `__consumer_offsets`, takes force."""
        command, token = self.plane.proposed.pop(0)
        assert isinstance(command, CreateTopics)
        if OFFSETS_TOPIC not in self.plane.image.topics_by_name:
            self.add_topic(OFFSETS_TOPIC, command.items[0].partition_count, UUID(int=102))
        return self.wiring.controller.decided(token, (), self.world.now)

    def ask(self, api: Any, version: int, message: Any, client_id: str | None = "client") -> Any:
        """The reply as the client reads it; None while it waits."""
        request = Request(1, api.KEY, version, client_id, "10.0.0.9", message)
        effects = self.wiring.handle(request, self.world.now)
        effects += self.writer.commit(self.world.now)
        return self.read(api, version, effects)

    def wait(self, api: Any, version: int, milliseconds: int) -> Any:
        self.world.now += milliseconds
        effects = self.groups.run(self.world.coordinator.on_time(self.world.now), self.world.now)
        return self.read(api, version, effects)

    def read(self, api: Any, version: int, effects: list[Any]) -> Any:
        self.changes += [effect for effect in effects if isinstance(effect, Changed)]
        messages = [effect.message for effect in effects if isinstance(effect, Reply)]
        assert len(messages) <= 1
        return as_read(api.KEY, version, messages[0]) if messages else None


class HeldWriter(PartitionWriter):
    """Keeps what is appended until the test has it committed."""

    def __init__(self) -> None:
        self.in_flight: deque[OnComplete] = deque()

    def append(
        self, partition: TopicPartition, records: Sequence[Any], placed: OnComplete, now: int
    ) -> list[Effect]:
        self.in_flight.append(placed)
        return []

    def commit(self, now: int) -> list[Effect]:
        """Everything that is in flight, and what follows from it."""
        effects: list[Effect] = []
        while self.in_flight:
            effects += self.in_flight.popleft()(KafkaError.NONE, now)
        return effects
