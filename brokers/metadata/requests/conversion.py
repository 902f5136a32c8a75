"""The parts of the conversion of a command, and the conversion of a `Refusal` of a whole command."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from brokers.errors import KafkaError, Refusal, error_from_code
from brokers.ids import LeaderEpoch, Offset
from brokers.wire.message import Message
from brokers.wire.messages.links import DocumentVersion, PartitionLeaderEpoch

CommandT = TypeVar("CommandT")
ResultT = TypeVar("ResultT")
RequestT = TypeVar("RequestT", bound=Message)
ResponseT = TypeVar("ResponseT")
KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")
Versions: TypeAlias = Mapping[tuple[str, str], Offset]  # of documents, by (kind, name)


class ErrorResponse(Protocol):
    """The response of an API that is not Kafka's: its first two fields are the error of the whole command."""

    error_code: int
    error_message: str | None


OwnResponseT = TypeVar("OwnResponseT", bound=ErrorResponse)


@dataclass(frozen=True, slots=True)
class Conversion(Generic[CommandT, ResultT, RequestT, ResponseT]):
    """One command and the API that carries it. `to_command` raises `Refusal` for a value that no command can have."""

    api_key: int
    command: type[CommandT]
    to_request: Callable[[CommandT], RequestT]
    to_command: Callable[[RequestT], CommandT]
    to_response: Callable[[CommandT, ResultT | Refusal], ResponseT]
    to_result: Callable[[ResponseT], ResultT | Refusal]


AnyConversion: TypeAlias = Conversion[Any, Any, Any, Any]


def with_error(
    empty: Callable[[], OwnResponseT], to_response: Callable[[ResultT], OwnResponseT]
) -> Callable[[object, ResultT | Refusal], OwnResponseT]:
    """`Conversion.to_response` of an API that is not Kafka's, from the conversion of results and an empty response."""

    def convert(command: object, outcome: ResultT | Refusal) -> OwnResponseT:
        if not isinstance(outcome, Refusal):
            return to_response(outcome)
        response = empty()
        response.error_code, response.error_message = outcome.error, outcome.because or None
        return response

    return convert


def unless_error(
    to_result: Callable[[OwnResponseT], ResultT],
) -> Callable[[OwnResponseT], ResultT | Refusal]:
    """`Conversion.to_result` of an API that is not Kafka's, from the conversion of responses that carry no error."""

    def convert(response: OwnResponseT) -> ResultT | Refusal:
        if response.error_code:
            return Refusal(error_from_code(response.error_code), response.error_message or "")
        return to_result(response)

    return convert


def leader_epochs_to_wire(epochs: Mapping[int, LeaderEpoch]) -> list[PartitionLeaderEpoch]:
    return [
        PartitionLeaderEpoch(partition_index=index, leader_epoch=leader_epoch)
        for index, leader_epoch in epochs.items()
    ]


def leader_epochs_from_wire(epochs: Iterable[PartitionLeaderEpoch]) -> dict[int, LeaderEpoch]:
    """Raises `Refusal` INVALID_REQUEST for a partition that appears twice."""
    return unique((each.partition_index, each.leader_epoch) for each in epochs)


def versions_to_wire(versions: Versions) -> list[DocumentVersion]:
    return [
        DocumentVersion(kind=kind, name=name, version=version)
        for (kind, name), version in versions.items()
    ]


def versions_from_wire(versions: Iterable[DocumentVersion]) -> Versions:
    """Raises `Refusal` INVALID_REQUEST for a document that appears twice."""
    return unique(((each.kind, each.name), each.version) for each in versions)


def unique(pairs: Iterable[tuple[KeyT, ValueT]]) -> dict[KeyT, ValueT]:
    """Raises `Refusal` INVALID_REQUEST for a key that appears twice."""
    found: dict[KeyT, ValueT] = {}
    for key, value in pairs:
        if key in found:
            raise Refusal(KafkaError.INVALID_REQUEST, f"{key} appears twice in one request")
        found[key] = value
    return found
