"""One node without sockets or logs: a request goes in as its bytes would, the answer comes out as a client reads it."""

from collections import deque
from collections.abc import Sequence
from types import ModuleType
from typing import Any, cast

from brokers.config.broker_config import BrokerConfig
from brokers.effects import Changed, Effect, Reply
from brokers.events import LogFailed
from brokers.ids import METADATA_PARTITION, Instant, TopicPartition
from brokers.log.log import Log
from brokers.log.segments import Segment
from brokers.metadata.commands.commands import Command
from brokers.metadata.configs.effective_configs import log_config
from brokers.metadata.controller.active_controller import CommandCompleted
from brokers.metadata.image.image import Image
from brokers.metadata.log.effects import MetadataEffect
from brokers.partition.replica import Replica
from brokers.ports import LogLevels
from brokers.wire.message import Message
from tests.kernel.requests import Requests
from tests.playbooks.metadata.host import NOW, STORAGE, Host
from tests.unit.brokers.wiring import Wiring


class Node:
    """`ask` and `do` run to the end; `start_asking` leaves the disk's work to `settle`."""

    def __init__(
        self, config: BrokerConfig | None = None, log_levels: LogLevels | None = None
    ) -> None:
        self.host = Host(config=config).start()
        self._requests = Requests()
        self.replies = self._requests.answers
        self.changes: list[Changed] = []
        self.wiring = Wiring(
            self.host.plane._config, self.host.plane, publish=self._run_plane, log_levels=log_levels
        )

    @property
    def image(self) -> Image:
        return self.wiring.image

    def ask(self, module: ModuleType, version: int, message: Message) -> Any:
        """The answer to a request, through its bytes both ways."""
        ticket = self.start_asking(module, version, message)
        self.settle()
        return self.replies.pop(ticket)

    def start_asking(self, module: ModuleType, version: int, message: Message) -> int:
        assert module.VERSIONS[0] <= version <= module.VERSIONS[1]
        request = self._requests.request(module.KEY, version, message)
        self._take(self.wiring.handle(request, NOW))
        return request.ticket

    def do(self, command: Command) -> Any:
        """The result of a command of the controller's."""
        results: list[Any] = []

        def then(result: Any, now: Instant) -> list[Effect]:
            results.append(result)
            return []

        self._take(self.wiring.controller.decide_once(command, then, NOW))
        self.settle()
        (result,) = results
        return result

    def settle(self, failing: str | None = None) -> None:
        """Let the disk do, or refuse, everything it was asked for."""
        while self.host.todo:
            effect = self.host.todo.popleft()
            refused = LogFailed(METADATA_PARTITION, failing or "")
            event = self.host.disk.perform(effect) if failing is None else refused
            if event is not None:
                self._take(self._run_plane(self.host.plane.on_event(event, NOW), NOW))

    def open(self, topic: str, partition: int = 0, size: int = 0, leader_epoch: int = 0) -> Replica:
        """Hold an open log of `size` bytes for a partition."""
        name = TopicPartition(topic, partition)
        config = log_config(self.image, self.wiring.config, topic)
        replica = Replica(
            name, topic_id=bytes(16), leader_epoch=leader_epoch, writer=None, config=config
        )
        segments = [Segment(0, size=size)]
        log = Log(name, bytes(16), segments=segments, log_start_offset=0, log_end_offset=0)
        replica.opened(log, NOW)
        self.wiring.partitions.all[name] = replica
        return replica

    def _run_plane(self, planned: Sequence[MetadataEffect], now: Instant) -> list[Effect]:
        effects: list[Effect] = []
        queue: deque[Any] = deque(planned)
        while queue:
            effect = queue.popleft()
            if isinstance(effect, CommandCompleted):
                effects += self.wiring.controller.decided(effect.token, effect.result, now)
            elif isinstance(effect, STORAGE):
                effects.append(cast(Effect, effect))
        return effects

    def _take(self, effects: list[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, Reply):
                self._requests.answered(effect)
            elif isinstance(effect, Changed):
                self.changes.append(effect)
            else:
                self.host.todo.append(effect)
