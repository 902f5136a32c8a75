"""CreatePartitions (key 37): topics grow, they never shrink (KIP-195). Versions 0-3. Every topic asked is answered."""

from brokers.api.context import Context
from brokers.api.create_topics import shortcomings
from brokers.effects import Effect, Reply
from brokers.errors import Refusal
from brokers.events import Request
from brokers.ids import Instant
from brokers.metadata.commands.topic_commands import CreatePartitions, NewPartitions, TopicOutcome
from brokers.wire.messages.topics import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)

KEY = 37
VERSIONS = (0, 3)


def handle(context: Context, request: Request, now: Instant) -> list[Effect]:
    message = request.message
    assert isinstance(message, CreatePartitionsRequest)
    command = CreatePartitions(tuple(map(_growth, message.topics)), message.validate_only)

    def then(result: tuple[TopicOutcome, ...] | Refusal, now: Instant) -> list[Effect]:
        if isinstance(result, Refusal):
            error, because = result.error, result.because
            names = dict.fromkeys(item.name for item in command.items)
            result = tuple(TopicOutcome(name=name, error=error, because=because) for name in names)
        results = [
            CreatePartitionsTopicResult(
                name=outcome.name or "", error_code=outcome.error, error_message=outcome.because
            )
            for outcome in result
        ]
        reply = Reply(request.ticket, CreatePartitionsResponse(results=results))
        return [*shortcomings(result), reply]

    return context.propose(command, then, now)


def _growth(asked: CreatePartitionsTopic) -> NewPartitions:
    assignments = None
    if asked.assignments is not None:
        assignments = tuple(tuple(item.broker_ids) for item in asked.assignments)
    return NewPartitions(name=asked.name, count=asked.count, assignments=assignments)
