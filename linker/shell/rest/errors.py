"""A refusal of the administration as an HTTP status and an `error_code` of Kafka REST v3."""

from typing import Any, Final, NamedTuple

from linker.shell.rest.schemas import ErrorData


class _Code(NamedTuple):
    status: int
    error_code: int


_REFUSED: Final = _Code(400, 40002)
_CODES: Final = {
    "UNKNOWN_TOPIC_OR_PARTITION": _Code(404, 40403),
    "CLUSTER_LINK_NOT_FOUND": _Code(404, 40404),
    "REMOTE_MIRROR_NOT_FOUND_ERROR": _Code(404, 40404),
    "CLUSTER_LINK_EXISTS": _Code(409, 40902),
    "CLUSTER_LINK_IN_USE": _Code(409, 40902),
    "CONSUMER_GROUP_IN_USE_ERROR": _Code(409, 40902),
    "TOPIC_ALREADY_EXISTS": _Code(409, 40902),
    "INVALID_UPDATE_VERSION": _Code(409, 40902),
    "UNKNOWN_SERVER_ERROR": _Code(500, 50002),
    # Retriable, as Kafka has them.
    "CLUSTER_LINK_UNAVAILABLE": _Code(503, 50003),
    "COORDINATOR_NOT_AVAILABLE": _Code(503, 50003),
    "KAFKA_STORAGE_ERROR": _Code(503, 50003),
    "NOT_CONTROLLER": _Code(503, 50003),
    "NOT_COORDINATOR": _Code(503, 50003),
    "REQUEST_TIMED_OUT": _Code(503, 50003),
    "TIMEOUT_ERROR": _Code(503, 50003),
}


class RequestRefused(Exception):
    """Becomes the reply to a request."""

    def __init__(self, status: int, data: ErrorData) -> None:
        super().__init__(data.message)
        self.status = status
        self.data = data


def error_code_of(code: str) -> int:
    """Of a refusal by its name."""
    return _CODES.get(code, _REFUSED).error_code


def refusal(error: Any) -> RequestRefused:
    """`error` is the administration's (admin.proto)."""
    status, error_code = _CODES.get(error.code, _REFUSED)
    data = ErrorData(
        error_code=error_code,
        message=error.message,
        error=error.code,
        hint=error.hint,
        problems=list(error.problems),
    )
    return RequestRefused(status, data)


def bad_request(because: str, hint: str = "", problems: tuple[str, ...] = ()) -> RequestRefused:
    data = ErrorData(
        error_code=400, message=because, error="INVALID_REQUEST", hint=hint, problems=[*problems]
    )
    return RequestRefused(400, data)


def not_found(because: str, hint: str = "") -> RequestRefused:
    data = ErrorData(error_code=404, message=because, error="NOT_FOUND", hint=hint)
    return RequestRefused(404, data)


def unavailable(because: str) -> RequestRefused:
    data = ErrorData(
        error_code=50003, message=because, error="COORDINATOR_NOT_AVAILABLE", hint="ask again"
    )
    return RequestRefused(503, data)
