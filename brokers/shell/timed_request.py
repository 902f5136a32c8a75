"""One request and the times at which it got on, of `time.perf_counter`."""

from typing import NamedTuple

from brokers.events import Request
from brokers.security.principal import KafkaPrincipal
from brokers.telemetry.traffic import Api

NOT_YET = -1.0


class RequestContext(NamedTuple):
    """A request without its message, whose bytes are freed before its answer is sent (Kafka's RequestContext)."""

    api_key: int
    api_version: int
    client_id: str | None
    client_host: str
    principal: KafkaPrincipal
    listener_name: str


class TimedRequest:
    """`request` is None once it is answered, which frees its bytes; then `api` is set, and `asked` for the slow log."""

    __slots__ = ("answered", "api", "arrived", "asked", "request", "taken_up", "worked_on")

    def __init__(self, request: Request, now: float) -> None:
        self.request: Request | None = request
        self.arrived = self.taken_up = now
        self.worked_on = NOT_YET
        self.answered: float
        self.api: Api
        self.asked: RequestContext | None = None
