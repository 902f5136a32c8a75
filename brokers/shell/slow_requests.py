"""The log of slow requests (`slow.request.log.ms`): one line each, with what it was, whose, and where the time went."""

import logging
from typing import Final

from brokers.api import fetch, heartbeat, join_group, sync_group
from brokers.events import Request
from brokers.shell.node import ONE_LINE
from brokers.shell.timed_request import RequestContext
from brokers.telemetry.request_times import RequestParts
from brokers.wire.codec import API_NAMES

logger = logging.getLogger(__name__)
LINES_MAX: Final = 10  # in a second
# Requests that wait on purpose, for records or for other members of a group: their waiting does not count.
_WAITING: Final = frozenset((fetch.KEY, join_group.KEY, sync_group.KEY, heartbeat.KEY))


class SlowRequests:
    """What is left out of the log for the number of lines is counted in the next one."""

    def __init__(self, milliseconds: int) -> None:
        self._seconds = milliseconds / 1000
        self._second = 0  # of the last line
        self._lines = 0
        self._left_out = 0

    def asked(self, request: Request) -> RequestContext:
        """What a line says of it."""
        return RequestContext(
            request.api_key,
            request.api_version,
            request.client_id,
            request.client_host,
            request.principal,
            request.listener_name,
        )

    def took(self, request: RequestContext, parts: RequestParts, now: float) -> None:
        counted = sum(parts)
        if request.api_key in _WAITING:
            counted -= parts.remote
        if counted >= self._seconds:
            self._log(request, parts, int(now))

    def _log(self, request: RequestContext, parts: RequestParts, second: int) -> None:
        if second != self._second:
            self._second, self._lines = second, 0
        if self._lines >= LINES_MAX:
            self._left_out += 1
            return
        self._lines += 1
        left_out, self._left_out = self._left_out, 0
        logger.warning("%s", _line(request, parts, left_out).translate(ONE_LINE))


def _line(request: RequestContext, parts: RequestParts, left_out: int) -> str:
    times = ", ".join(
        f"{name.replace('_', ' ')} {seconds * 1000:.1f}"
        for name, seconds in zip(RequestParts._fields, parts, strict=True)
    )
    more = f"; {left_out} more were slow and have no line" if left_out else ""
    return (
        f"slow request: {API_NAMES[request.api_key]} version {request.api_version} of {request.principal},"
        f" client {request.client_id!r} at {request.client_host}, listener {request.listener_name}:"
        f" {sum(parts) * 1000:.1f} ms ({times}){more}"
    )
