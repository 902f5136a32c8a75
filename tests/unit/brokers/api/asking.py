"""One node without sockets or logs: a request goes in as its bytes would, the answer comes out as a client reads it."""

from collections import deque
from types import ModuleType
from typing import Any, cast

from brokers.api.context import Context
from brokers.config.broker_config import BrokerConfig
from brokers.effects import Changed, Effect, Reply
from brokers.events import LogFailed, Request
from brokers.groups.group_coordinator import GroupCoordinator
from brokers.ids import METADATA_PARTITION, Instant, TopicPartition
from brokers.log.log import Log
from brokers.log.segments import Segment
from brokers.metadata.commands.commands import Command
from brokers.metadata.configs.effective_configs import log_config
from brokers.metadata.controller.active_controller import CommandCompleted
from brokers.metadata.log.effects import MetadataEffect
from brokers.partition.replica import Replica
from brokers.wire import codec
from brokers.wire.message import Message
from tests.playbooks.metadata.host import NOW, STORAGE, Host


class Node:
    """`ask` and `do` run to the end; `start_asking` leaves the disk's work to `settle`."""

    def __init__(self, config: BrokerConfig | None = None) -> None:
        self.host = Host(config=config).start()
        self.replies: dict[int, Any] = {}
        self.changes: list[Changed] = []
        self._versions: dict[int, tuple[int, int]] = {}
        self._tickets = 0
        self.context = Context(
            config=self.host.plane._config,
            cluster_id="region-one",
            plane=self.host.plane,
            groups=cast(GroupCoordinator, None),
            run_groups=lambda effects, now: [],
            run_plane=self._run_plane,
        )

    def ask(self, module: ModuleType, version: int, message: Message) -> Any:
        """The answer to a request, through its bytes both ways."""
        ticket = self.start_asking(module, version, message)
        self.settle()
        return self.replies.pop(ticket)

    def start_asking(self, module: ModuleType, version: int, message: Message) -> int:
        assert module.VERSIONS[0] <= version <= module.VERSIONS[1]
        self._tickets += 1
        body = b"".join(codec.encode_request(module.KEY, version, message))
        decoded = codec.decode_request(module.KEY, version, body, 0)
        self._versions[self._tickets] = (module.KEY, version)
        request = Request(self._tickets, module.KEY, version, "client", "127.0.0.1", decoded)
        self._take(module.handle(self.context, request, NOW))
        return self._tickets

    def do(self, command: Command) -> Any:
        """The result of a command of the controller's."""
        results: list[Any] = []

        def then(result: Any, now: Instant) -> list[Effect]:
            results.append(result)
            return []

        self._take(self.context.propose(command, then, NOW))
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
        config = log_config(self.context.image, self.context.config, topic)
        replica = Replica(
            name, topic_id=bytes(16), leader_epoch=leader_epoch, writer=None, config=config
        )
        segments = [Segment(0, size=size)]
        log = Log(name, bytes(16), segments=segments, log_start_offset=0, log_end_offset=0)
        replica.opened(log, NOW)
        self.context.partitions[name] = replica
        return replica

    def _run_plane(self, planned: list[MetadataEffect], now: Instant) -> list[Effect]:
        effects: list[Effect] = []
        queue: deque[Any] = deque(planned)
        while queue:
            effect = queue.popleft()
            if isinstance(effect, CommandCompleted):
                effects += self.context.decided.pop(effect.token)(effect.result, now)
            elif isinstance(effect, STORAGE):
                effects.append(cast(Effect, effect))
        return effects

    def _take(self, effects: list[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, Reply):
                assert effect.ticket not in self.replies, "answered twice"
                self.replies[effect.ticket] = self._as_read(effect)
            elif isinstance(effect, Changed):
                self.changes.append(effect)
            else:
                self.host.todo.append(effect)

    def _as_read(self, reply: Reply) -> Message:
        key, version = self._versions[reply.ticket]
        assert isinstance(reply.message, Message)
        body = b"".join(map(bytes, codec.encode_response(key, version, reply.message)))
        return codec.decode_response(key, version, body, 0)
