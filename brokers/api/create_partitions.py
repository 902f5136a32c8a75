"""CreatePartitions (key 37): topics grow, they never shrink (KIP-195). Versions 0-3. Every topic asked is answered."""

from collections.abc import Iterable

from brokers.api.controller_apis import ControllerApi
from brokers.api.create_topics import shortcomings
from brokers.effects import Effect
from brokers.errors import Refusal
from brokers.events import Request
from brokers.metadata.commands.topic_commands import CreatePartitions, NewPartitions, TopicOutcome
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.topics import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)

KEY = ApiKey.CREATE_PARTITIONS
VERSIONS = (0, 3)


class CreatePartitionsHandler(ControllerApi):
    """Answers CreatePartitions requests."""

    def command(self, request: Request) -> CreatePartitions:
        message = request.message
        assert isinstance(message, CreatePartitionsRequest)
        return CreatePartitions(tuple(map(_growth, message.topics)), message.validate_only)

    def response(
        self, request: Request, result: tuple[TopicOutcome, ...]
    ) -> CreatePartitionsResponse:
        return _response(result)

    def changes(self, result: tuple[TopicOutcome, ...]) -> list[Effect]:
        return shortcomings(result)

    def refusal(self, request: Request, refusal: Refusal) -> CreatePartitionsResponse:
        message = request.message
        assert isinstance(message, CreatePartitionsRequest)
        error, because = refusal.error, refusal.because
        names = dict.fromkeys(item.name for item in message.topics)
        return _response(TopicOutcome(name=name, error=error, because=because) for name in names)


def _response(outcomes: Iterable[TopicOutcome]) -> CreatePartitionsResponse:
    return CreatePartitionsResponse(
        results=[
            CreatePartitionsTopicResult(
                name=outcome.name or "", error_code=outcome.error, error_message=outcome.because
            )
            for outcome in outcomes
        ]
    )


def _growth(asked: CreatePartitionsTopic) -> NewPartitions:
    assignments = None
    if asked.assignments is not None:
        assignments = tuple(tuple(item.broker_ids) for item in asked.assignments)
    return NewPartitions(name=asked.name, count=asked.count, assignments=assignments)
