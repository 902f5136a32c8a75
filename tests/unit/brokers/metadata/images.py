"""An image of one live broker, with whatever topics a test asks for."""

import random
from uuid import UUID

from brokers.config import BrokerConfig, from_settings
from brokers.metadata.commands import Command, RegisterBroker
from brokers.metadata.controller import Controller
from brokers.metadata.decision import Decision
from brokers.metadata.image import Image, ImageDelta
from brokers.metadata.replay import replay

NODE = from_settings({"node.id": 1, "log.dirs": "data"})


class Region:
    """An image and the controller that changes it, without a log in between."""

    def __init__(self, config: BrokerConfig = NODE, brokers: int = 1) -> None:
        self.config = config
        self.image = Image("region-one")
        self.controller = Controller(config, random.Random(5))
        self.delta = ImageDelta()
        for broker_id in range(1, brokers + 1):
            self.register(broker_id)

    def register(self, broker_id: int) -> object:
        command = RegisterBroker(
            broker_id=broker_id,
            incarnation=UUID(int=broker_id + 100),
            directory=UUID(int=broker_id + 200),
            host="127.0.0.1",
            port=9091 + broker_id,
        )
        return self.do(command)

    def decide(self, command: Command) -> Decision:
        return self.controller.decide(self.image, command, self.image.next_offset)

    def do(self, command: Command) -> object:
        """Decide, replay, and return the result; `delta` is what changed."""
        decision = self.decide(command)
        end = self.image.next_offset + len(decision.records)
        self.delta = replay(self.image, decision.records, end)
        return decision.result
