"""Counts the requests of clients and other nodes, at each response: about a microsecond each."""

from collections import defaultdict

from brokers.events import Request
from brokers.telemetry.errors import error_codes
from brokers.telemetry.request_times import RequestTimes
from brokers.telemetry.topics import TopicsTraffic
from brokers.wire.codec import API_NAMES
from brokers.wire.message import Message
from brokers.wire.messages.fetch import FetchRequest
from brokers.wire.messages.produce import ProduceRequest

FETCH, FETCH_CONSUMER, FETCH_FOLLOWER = "Fetch", "FetchConsumer", "FetchFollower"


class Api:
    """The counts of one kind of request: requests by version, errors by code, times."""

    __slots__ = ("errors", "times", "versions")

    def __init__(self, now: float) -> None:
        self.versions: defaultdict[int, int] = defaultdict(int)
        self.errors: defaultdict[int, int] = defaultdict(int)
        self.times = RequestTimes(now)


class Traffic:
    """All times are in seconds, of any clock that never runs backwards."""

    def __init__(self) -> None:
        self.topics = TopicsTraffic()
        self.apis: dict[str, Api] = {}  # by Kafka's name of the API

    def answered(self, request: Request, answer: object | None, now: float) -> Api:
        """Counts a request, whose times are counted later. `answer` None: a request with acks=0 succeeded."""
        message = request.message
        kind = type(message)
        api = self._count(request, message, now)
        if kind is ProduceRequest:
            if answer is None:
                self.topics.produced_without_acks(message)  # type: ignore[arg-type]  # seen above
            else:
                self.topics.produced(message, answer, api.errors)  # type: ignore[arg-type]
        elif kind is FetchRequest:
            by_follower = _is_follower(message)  # type: ignore[arg-type]
            self.topics.fetched(answer, api.errors, by_follower=by_follower)  # type: ignore[arg-type]
        elif isinstance(answer, Message):
            for code in error_codes(answer):
                api.errors[code] += 1
        return api

    def hung_up(self, request: Request, now: float) -> Api:
        """Counts a request whose connection was closed instead of a response."""
        return self._count(request, request.message, now)

    def _count(self, request: Request, message: object, now: float) -> Api:
        name = API_NAMES[request.api_key]
        if name == FETCH:
            name = FETCH_FOLLOWER if _is_follower(message) else FETCH_CONSUMER  # type: ignore[arg-type]
        api = self.apis.get(name)
        if api is None:
            api = self.apis[name] = Api(now)
        api.versions[request.api_version] += 1
        return api


def _is_follower(message: FetchRequest) -> bool:
    """Whether the fetch is a follower's; newer versions have the replica id in `replica_state` (KIP-903)."""
    state = message.replica_state
    return message.replica_id >= 0 or (state is not None and state.replica_id >= 0)
