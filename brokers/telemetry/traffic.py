"""Counts the requests of clients and other nodes, at each response: about a microsecond each."""

from collections import defaultdict

from brokers.events import Request
from brokers.telemetry.errors import error_codes
from brokers.telemetry.request_times import RequestTimes
from brokers.telemetry.topics import TopicsTraffic
from brokers.wire.codec import API_NAMES
from brokers.wire.message import Message
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.fetch import FetchRequest

FETCH, FETCH_CONSUMER, FETCH_FOLLOWER = "Fetch", "FetchConsumer", "FetchFollower"
PRODUCE_KEY, FETCH_KEY = int(ApiKey.PRODUCE), int(ApiKey.FETCH)


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
        self._by_key: dict[int, Api] = {}  # a follower's fetches have the key less than 0

    def answered(self, request: Request, answer: object | None, now: float) -> Api:
        """Counts a request, whose times are counted later. `answer` None: a request with acks=0 succeeded."""
        message, key = request.message, request.api_key
        by_follower = key == FETCH_KEY and _is_follower(message)  # type: ignore[arg-type]
        api = self._by_key.get(-key if by_follower else key)
        if api is None:
            api = self._begin(key, now, by_follower=by_follower)
        api.versions[request.api_version] += 1
        if key == PRODUCE_KEY:
            if answer is None:
                self.topics.produced_without_acks(message)  # type: ignore[arg-type]  # by its key
            else:
                self.topics.produced(message, answer, api.errors)  # type: ignore[arg-type]
        elif key == FETCH_KEY:
            self.topics.fetched(answer, api.errors, by_follower=by_follower)  # type: ignore[arg-type]
        elif isinstance(answer, Message):
            for code in error_codes(answer):
                api.errors[code] += 1
        return api

    def hung_up(self, request: Request, now: float) -> Api:
        """Counts a request whose connection was closed instead of a response."""
        message, key = request.message, request.api_key
        by_follower = key == FETCH_KEY and _is_follower(message)  # type: ignore[arg-type]
        api = self._by_key.get(-key if by_follower else key)
        if api is None:
            api = self._begin(key, now, by_follower=by_follower)
        api.versions[request.api_version] += 1
        return api

    def _begin(self, key: int, now: float, *, by_follower: bool) -> Api:
        name = API_NAMES[key]
        if key == FETCH_KEY:
            name = FETCH_FOLLOWER if by_follower else FETCH_CONSUMER
        api = self.apis[name] = self._by_key[-key if by_follower else key] = Api(now)
        return api


def _is_follower(message: FetchRequest) -> bool:
    """Whether the fetch is a follower's; newer versions have the replica id in `replica_state` (KIP-903)."""
    state = message.replica_state
    return message.replica_id >= 0 or (state is not None and state.replica_id >= 0)
