"""A whole broker over a disk in memory: requests go in as bytes, answers come out as a client reads them."""

import random
from types import ModuleType
from typing import Any

from brokers.api import create_topics
from brokers.config.broker_config import from_settings
from brokers.effects import Changed, Hangup, Reply
from brokers.events import Request, Started, TimeReached
from brokers.ids import Instant
from brokers.membership.log_dirs import OwnDirectories
from brokers.node.broker import Broker
from brokers.ports import LogLevels
from brokers.region import Ready
from brokers.storage.log_manager import LogManager
from brokers.storage.storage import Storage
from brokers.wire.message import Message
from brokers.wire.messages.topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from tests.kernel.process import Process
from tests.kernel.requests import Requests
from tests.sim.files import SimFiles

NOW: Instant = 1_700_000_000_000
HUNG_UP = "hung up"


class Whole:
    """Time stands still unless a test moves `now`."""

    log_levels: LogLevels | None = None

    def __init__(self, **settings: object) -> None:
        named = {key.replace("_", "."): value for key, value in settings.items()}
        config = from_settings({"node.id": 1, "log.dirs": "data", **named})
        self.storage, own = self.make_directories()
        self.broker = Broker(
            config, "A" * 22, random.Random(1), directories=own, log_levels=self.log_levels
        )
        self.now = NOW
        self._requests = Requests()
        self.answers = self._requests.answers
        self.is_ready = False
        self.process = Process(self.broker, self.storage, self._take, lambda: self.now)
        self.feed(Started())
        assert self.is_ready

    def make_directories(self) -> tuple[Storage | LogManager, OwnDirectories | None]:
        """What it stores in; None: it has one directory."""
        return Storage(SimFiles()), None

    def feed(self, event: Any) -> None:
        self.process.feed(event)

    def _take(self, effect: Any) -> bool:
        match effect:
            case Reply():
                self._requests.answered(effect)
            case Hangup(ticket):
                self.answers[ticket] = HUNG_UP
            case Ready():
                self.is_ready = True
            case Changed():
                pass
            case _:
                return False
        return True

    def start(self, api: ModuleType, version: int, message: Message) -> int:
        """Ask; the ticket under which `answers` has the answer once there is one."""
        request = self.requested(api, version, message)
        self.feed(request)
        return request.ticket

    def requested(self, api: ModuleType, version: int, message: Message) -> Request:
        """A request that has arrived, and is not fed yet."""
        return self._requests.request(api.KEY, version, message)

    def ask(self, api: ModuleType, version: int, message: Message) -> Any:
        return self.answers[self.start(api, version, message)]

    def wait(self, milliseconds: int) -> None:
        """Let virtual time pass."""
        self.now += milliseconds
        if self.broker.deadline is not None and self.broker.deadline <= self.now:
            self.feed(TimeReached())

    def create(self, topic: str, partitions: int = 1, **configs: str) -> None:
        settings = [
            CreatableTopicConfig(name=name.replace("_", "."), value=value)
            for name, value in configs.items()
        ]
        wanted = CreatableTopic(
            name=topic, num_partitions=partitions, replication_factor=1, configs=settings
        )
        answer = self.ask(create_topics, 7, CreateTopicsRequest(topics=[wanted], timeout_ms=1000))
        assert answer.topics[0].error_code == 0, answer

    def topic_id(self, topic: str) -> Any:
        return self.broker.view.image.topics_by_name[topic].id
