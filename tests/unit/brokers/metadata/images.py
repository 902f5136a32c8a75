"""An image of live brokers, with whatever topics a test asks for."""

import random
from typing import Any
from uuid import UUID

from brokers.config.broker_config import BrokerConfig, from_settings
from brokers.ids import TopicPartition
from brokers.metadata.commands.broker_commands import BrokerHeartbeat, FenceBroker, RegisterBroker
from brokers.metadata.commands.commands import Command
from brokers.metadata.commands.controller_result import ControllerResult
from brokers.metadata.commands.topic_commands import CreateTopics, NewTopic
from brokers.metadata.controller.controller import Controller
from brokers.metadata.image.image import Image, ImageDelta, PartitionImage
from brokers.metadata.image.replay import replay

NODE = from_settings({"node.id": 1, "log.dirs": "data"})


class Region:
    """An image and the controller that changes it, without a log in between."""

    def __init__(self, config: BrokerConfig = NODE, brokers: int = 1) -> None:
        self.config = config
        self.now = 0
        self.image = Image("region-one")
        self.controller = Controller(config, random.Random(5))
        self.delta = ImageDelta()
        self._lives = 0
        for broker_id in range(1, brokers + 1):
            self.register(broker_id)

    def register(self, broker_id: int, **more: Any) -> object:
        """A new life of a broker; unfenced at once unless it `starts_fenced`."""
        self.controller.heartbeats.remove(broker_id)
        return self.do(self.registration(broker_id, **more))

    def registration(self, broker_id: int, **more: Any) -> RegisterBroker:
        self._lives += 1
        told = {
            "incarnation": UUID(int=self._lives + 1000),
            "directory": UUID(int=broker_id + 200),
            "endpoints": (("PLAINTEXT", "127.0.0.1", 9091 + broker_id),),
        }
        return RegisterBroker(broker_id=broker_id, **(told | more))

    def decide(self, command: Command) -> ControllerResult:
        return self.controller.decide(self.image, command, self.image.next_offset, self.now)

    def do(self, command: Command) -> object:
        """Decide, replay, and return the result; `delta` is what changed."""
        decision = self.decide(command)
        end = self.image.next_offset + len(decision.records)
        self.delta = replay(self.image, decision.records, end)
        return decision.result

    # --- shorthands for regions of several brokers ---

    def topic(self, name: str, *assignments: tuple[int, ...], **configs: str) -> None:
        """A topic whose partitions have these replicas."""
        settings = {key.replace("_", "."): value for key, value in configs.items()}
        numbered = tuple(enumerate(assignments))
        (outcome,) = self.do(  # type: ignore[misc]
            CreateTopics((NewTopic(name=name, assignments=numbered, configs=settings),))
        )
        assert not outcome.error, outcome

    def partition(self, name: str, index: int = 0) -> PartitionImage:
        partition = self.image.partition(TopicPartition(name, index))
        assert partition is not None
        return partition

    def fence(self, *broker_ids: int) -> None:
        for broker_id in broker_ids:
            self.do(self.fencing(broker_id))

    def fencing(self, broker_id: int) -> FenceBroker:
        return FenceBroker(broker_id, self.image.brokers[broker_id].broker_epoch)

    def beat(self, broker_id: int, **wants: Any) -> Any:
        return self.do(self.heartbeat(broker_id, **wants))

    def heartbeat(self, broker_id: int, **wants: Any) -> BrokerHeartbeat:
        """A heartbeat of a broker that knows everything."""
        return BrokerHeartbeat(
            broker_id=broker_id,
            broker_epoch=self.image.brokers[broker_id].broker_epoch,
            metadata_offset=self.image.next_offset - 1,
            **wants,
        )
