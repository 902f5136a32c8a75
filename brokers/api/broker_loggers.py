"""Levels of a node's loggers, as configurations of Kafka's resource type BROKER_LOGGER (KIP-412).

They are the node's own, not the region's: DescribeConfigs and IncrementalAlterConfigs are asked of the node itself,
the metadata log has nothing of them but who changed them, and a restart forgets them. Loggers have Python's names,
levels Kafka's.
"""

from collections.abc import Iterator
from typing import Final

from brokers.api.ports import Handle
from brokers.effects import Changed, Effect, Reply
from brokers.errors import KafkaError, Refusal
from brokers.events import Request
from brokers.ids import BrokerId, Instant
from brokers.membership.operation_recorder import OperationRecorder
from brokers.metadata.commands.config_commands import ConfigOperation, ResourceType
from brokers.metadata.requests.configs import config_operation
from brokers.ports import ROOT_LOGGER, LogLevels
from brokers.wire.messages.configs import (
    DescribeConfigsResourceResult,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResource,
    IncrementalAlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)

LEVELS: Final = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
DYNAMIC_LOGGER: Final = 6  # Kafka's DYNAMIC_BROKER_LOGGER_CONFIG, a source of configurations
_STRING: Final = 2  # the type of a configuration


class BrokerLoggers:
    """`log_levels` None: a node without loggers."""

    def __init__(
        self, node_id: BrokerId, log_levels: LogLevels | None, recorder: OperationRecorder
    ) -> None:
        self._node_id = node_id
        self._log_levels = log_levels
        self._recorder = recorder

    def describe(self, node: str) -> Iterator[DescribeConfigsResourceResult]:
        """Each logger with the level in effect. Raises Refusal."""
        self._check_node(node)
        for name, level in sorted(self._levels().items()):
            yield DescribeConfigsResourceResult(
                name=name, value=level, config_source=DYNAMIC_LOGGER, config_type=_STRING
            )

    def or_else(self, handle: Handle) -> Handle:
        """The handler of IncrementalAlterConfigs: requests about loggers are answered here, all others by `handle`.

        A request about both is `handle`'s, which refuses the loggers in it: Kafka's clients send them by themselves.
        """

        def route(request: Request, now: Instant) -> list[Effect]:
            message = request.message
            assert isinstance(message, IncrementalAlterConfigsRequest)
            kinds = {each.resource_type for each in message.resources}
            return (
                self._alter(request, message)
                if kinds == {ResourceType.BROKER_LOGGER}
                else handle(request, now)
            )

        return route

    def _alter(self, request: Request, message: IncrementalAlterConfigsRequest) -> list[Effect]:
        effects: list[Effect] = []
        responses = []
        told: list[str] = []
        for asked in message.resources:
            response = IncrementalAlterConfigsResourceResponse(
                resource_type=asked.resource_type,
                resource_name=asked.resource_name,
                error_message=None,
            )
            responses.append(response)
            try:
                changes = self._changes(asked)
            except Refusal as refusal:
                response.error_code, response.error_message = refusal.error, refusal.because
                continue
            if not message.validate_only:
                effects += self._set(changes)
                told += (f"{name}={level or 'default'}" for name, level in changes.items())
        this = [("broker-logger", str(self._node_id))] if told else []
        self._recorder.record(request, "IncrementalAlterConfigs", this, told)
        return [
            *effects,
            Reply(request.ticket, IncrementalAlterConfigsResponse(responses=responses)),
        ]

    def _changes(self, asked: IncrementalAlterConfigsResource) -> dict[str, str | None]:
        """The level of each logger, None for that of its parent; all are valid. Raises Refusal."""
        self._check_node(asked.resource_name)
        known = self._levels()
        changes: dict[str, str | None] = {}
        for item in asked.configs:
            if item.name in changes:
                raise Refusal(
                    KafkaError.INVALID_REQUEST, f"{item.name} appears twice for one resource"
                )
            if item.name not in known:
                because = (
                    f"there is no logger {item.name}; DescribeConfigs lists those that there are"
                )
                raise Refusal(KafkaError.INVALID_CONFIG, because)
            operation = config_operation(item.config_operation, item.name)
            changes[item.name] = _level(item.name, operation, item.value)
        return changes

    def _set(self, changes: dict[str, str | None]) -> list[Effect]:
        assert self._log_levels is not None
        effects: list[Effect] = []
        for name, level in changes.items():
            self._log_levels.set_level(name, level)
            to = "the level of its parent" if level is None else level
            effects.append(Changed(f"logger {name}", to, "asked for"))
        return effects

    def _levels(self) -> dict[str, str]:
        return {} if self._log_levels is None else dict(self._log_levels.levels())

    def _check_node(self, node: str) -> None:
        if node != str(self._node_id):
            because = f"broker {node} is not this one ({self._node_id}): ask it"
            raise Refusal(KafkaError.INVALID_REQUEST, because)


def _level(name: str, operation: ConfigOperation, value: str | None) -> str | None:
    if operation is ConfigOperation.DELETE:
        if name == ROOT_LOGGER:
            raise Refusal(
                KafkaError.INVALID_REQUEST, "the root logger has no parent: set its level"
            )
        return None
    if operation is not ConfigOperation.SET:
        raise Refusal(
            KafkaError.INVALID_REQUEST, f"{name}: a level is set or deleted, nothing else"
        )
    if value not in LEVELS:
        because = f"{name}={value}: a level is one of {', '.join(LEVELS)}"
        raise Refusal(KafkaError.INVALID_CONFIG, because)
    return value
