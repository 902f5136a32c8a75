"""DeleteTopics (key 20). Versions 1-6: by name, from 6 also by topic id (KIP-516)."""

from brokers.api.context import Context
from brokers.effects import Effect, Reply
from brokers.errors import KafkaError, Refusal
from brokers.events import Request
from brokers.ids import NO_ID, Instant
from brokers.metadata.commands.topic_commands import DeleteTopics, TopicOutcome
from brokers.wire.messages.topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)

KEY = 20
VERSIONS = (1, 6)
IDS_FROM = 6


def handle(context: Context, request: Request, now: Instant) -> list[Effect]:
    message = request.message
    assert isinstance(message, DeleteTopicsRequest)
    asked = message.topics
    if request.api_version < IDS_FROM:
        asked = [DeleteTopicState(name=name) for name in message.topic_names]
    # A name beside an id is ambiguous; Kafka refuses the two together.
    refused = [item for item in asked if item.name is not None and item.topic_id != NO_ID]
    topics = tuple(
        item.topic_id if item.name is None else item.name for item in asked if item not in refused
    )

    def then(result: tuple[TopicOutcome, ...] | Refusal, now: Instant) -> list[Effect]:
        outcomes = _undecided(asked, result) if isinstance(result, Refusal) else result
        response = DeleteTopicsResponse(responses=[_ambiguous(item) for item in refused])
        response.responses += [
            DeletableTopicResult(
                name=outcome.name,
                topic_id=outcome.topic_id,
                error_code=outcome.error,
                error_message=outcome.because,
            )
            for outcome in outcomes
        ]
        return [Reply(request.ticket, response)]

    return context.propose(DeleteTopics(topics), then, now)


def _ambiguous(item: DeleteTopicState) -> DeletableTopicResult:
    return DeletableTopicResult(
        name=item.name,
        topic_id=item.topic_id,
        error_code=KafkaError.INVALID_REQUEST,
        error_message="give a name or an id, not both",
    )


def _undecided(asked: list[DeleteTopicState], refusal: Refusal) -> tuple[TopicOutcome, ...]:
    error, because = refusal.error, refusal.because
    return tuple(
        TopicOutcome(name=item.name, topic_id=item.topic_id, error=error, because=because)
        for item in asked
    )
