"""The APIs of groups on a coordinator, an image and a log in memory: one request in, the reply's message out.

Every reply is encoded at the version of its request and decoded again, so what a test sees is what a client sees.
"""

from typing import Any
from uuid import UUID

from brokers.api.context import Context
from brokers.config.broker_config import from_settings
from brokers.effects import Changed, Reply
from brokers.events import Request
from brokers.groups.effects import AppendRecords, GroupReply
from brokers.ids import OFFSETS_TOPIC
from brokers.metadata.commands.topic_commands import CreateTopics
from brokers.metadata.image.image import BrokerImage, Endpoint, Image, PartitionImage, TopicImage
from brokers.wire.codec import decode_response, encode_response
from tests.playbooks.groups.world import World

PARTITION = PartitionImage(1, 0, 0, (1,), (1,))
T_ID, U_ID = UUID(int=100), UUID(int=101)
NO_ID = UUID(int=0)


class MetadataPublisher:
    """Stands for the metadata plane: keeps what is proposed until the test decides it."""

    is_active = True

    def __init__(self) -> None:
        self.image = Image("cluster")
        self.proposed: list[tuple[Any, int]] = []

    def propose(self, command: Any, token: int, now: int) -> list[Any]:
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
        self.context = Context(
            config=config,
            cluster_id="cluster",
            plane=self.plane,  # type: ignore[arg-type]
            groups=self.world.coordinator,
            run_groups=self._run,
            run_plane=lambda effects, now: [],
        )
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
        return self.context.decided.pop(token)((), self.world.now)

    def ask(self, api: Any, version: int, message: Any, client_id: str | None = "client") -> Any:
        """The reply as the client reads it; None while it waits."""
        request = Request(1, api.KEY, version, client_id, "10.0.0.9", message)
        effects = api.handle(self.context, request, self.world.now)
        while self.world.in_flight:
            append = self.world.in_flight.popleft()
            effects += self._run(
                self.world.coordinator.committed(append.token, self.world.now), self.world.now
            )
        return self.read(api, version, effects)

    def wait(self, api: Any, version: int, milliseconds: int) -> Any:
        self.world.now += milliseconds
        effects = self._run(self.world.coordinator.on_time(self.world.now), self.world.now)
        return self.read(api, version, effects)

    def read(self, api: Any, version: int, effects: list[Any]) -> Any:
        messages = [effect.message for effect in effects if isinstance(effect, Reply)]
        assert len(messages) <= 1
        for message in messages:
            body = b"".join(encode_response(api.KEY, version, message))
            return decode_response(api.KEY, version, body, 0)
        return None

    def _run(self, effects: Any, now: int) -> list[Any]:
        out: list[Any] = []
        for effect in effects:
            match effect:
                case GroupReply():
                    out += self.context.replied(effect)
                case AppendRecords():
                    self.world.in_flight.append(effect)
                case Changed():
                    self.changes.append(effect)
        return out
