"""DeleteTopics (key 20). Versions 1-6: by name, from 6 also by topic id (KIP-516)."""

from collections.abc import Iterable

from brokers.api.controller_apis import ControllerApi
from brokers.errors import KafkaError, Refusal
from brokers.events import Request
from brokers.ids import NO_ID
from brokers.metadata.commands.topic_commands import DeleteTopics, TopicOutcome
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)

KEY = ApiKey.DELETE_TOPICS
VERSIONS = (1, 6)
IDS_FROM = 6


class DeleteTopicsHandler(ControllerApi):
    """Answers DeleteTopics requests."""

    def command(self, request: Request) -> DeleteTopics:
        return DeleteTopics(
            tuple(
                item.topic_id if item.name is None else item.name
                for item in _asked(request)
                if not _is_ambiguous(item)
            )
        )

    def response(self, request: Request, result: tuple[TopicOutcome, ...]) -> DeleteTopicsResponse:
        return _response(_asked(request), result)

    def refusal(self, request: Request, refusal: Refusal) -> DeleteTopicsResponse:
        asked, error, because = _asked(request), refusal.error, refusal.because
        outcomes = [
            TopicOutcome(name=item.name, topic_id=item.topic_id, error=error, because=because)
            for item in asked
            if not _is_ambiguous(item)
        ]
        return _response(asked, outcomes)


def _asked(request: Request) -> list[DeleteTopicState]:
    message = request.message
    assert isinstance(message, DeleteTopicsRequest)
    if request.api_version < IDS_FROM:
        return [DeleteTopicState(name=name) for name in message.topic_names]
    return message.topics


def _is_ambiguous(item: DeleteTopicState) -> bool:
    """A name beside an id: Kafka refuses the two together."""
    return item.name is not None and item.topic_id != NO_ID


def _response(
    asked: list[DeleteTopicState], outcomes: Iterable[TopicOutcome]
) -> DeleteTopicsResponse:
    response = DeleteTopicsResponse(
        responses=[_ambiguous(item) for item in asked if _is_ambiguous(item)]
    )
    response.responses += [
        DeletableTopicResult(
            name=outcome.name,
            topic_id=outcome.topic_id,
            error_code=outcome.error,
            error_message=outcome.because,
        )
        for outcome in outcomes
    ]
    return response


def _ambiguous(item: DeleteTopicState) -> DeletableTopicResult:
    return DeletableTopicResult(
        name=item.name,
        topic_id=item.topic_id,
        error_code=KafkaError.INVALID_REQUEST,
        error_message="give a name or an id, not both",
    )
