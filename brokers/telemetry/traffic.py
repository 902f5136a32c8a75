"""What clients and other nodes asked and were told, counted at each answer: about a microsecond each."""

from collections import defaultdict

from brokers.events import Request
from brokers.telemetry.durations import Durations
from brokers.telemetry.errors import error_codes
from brokers.telemetry.topics import TopicsTraffic
from brokers.wire.codec import API_NAMES
from brokers.wire.message import Message
from brokers.wire.messages.fetch import FetchRequest
from brokers.wire.messages.produce import ProduceRequest

FETCH, FETCH_CONSUMER, FETCH_FOLLOWER = "Fetch", "FetchConsumer", "FetchFollower"


class Api:
    """What was counted of one kind of request: how often by version, errors of the answers by code, times."""

    __slots__ = ("durations", "errors", "versions")

    def __init__(self, now: float) -> None:
        self.versions: defaultdict[int, int] = defaultdict(int)
        self.errors: defaultdict[int, int] = defaultdict(int)
        self.durations = Durations(now)


class Traffic:
    """`answered` counts; the rest reads. Seconds, from any clock that never runs backwards."""

    def __init__(self) -> None:
        self.topics = TopicsTraffic()
        self.apis: dict[str, Api] = {}  # by Kafka's name of the request

    def answered(self, request: Request, answer: object | None, seconds: float, now: float) -> None:
        """`answer` None: all went well, and the client did not want to hear it (acks=0)."""
        asked = request.message
        kind = type(asked)
        api = self._noted(request, asked, seconds, now)
        if kind is ProduceRequest:
            if answer is None:
                self.topics.produced_unheard(asked)  # type: ignore[arg-type]  # seen above
            else:
                self.topics.produced(asked, answer, api.errors)  # type: ignore[arg-type]
        elif kind is FetchRequest:
            by_follower = _is_followers(asked)  # type: ignore[arg-type]
            self.topics.fetched(answer, api.errors, by_follower=by_follower)  # type: ignore[arg-type]
        elif isinstance(answer, Message):
            for code in error_codes(answer):
                api.errors[code] += 1

    def hung_up(self, request: Request, seconds: float, now: float) -> None:
        """The connection was closed instead of an answer."""
        self._noted(request, request.message, seconds, now)

    def _noted(self, request: Request, asked: object, seconds: float, now: float) -> Api:
        name = API_NAMES[request.api_key]
        if name == FETCH:
            name = FETCH_FOLLOWER if _is_followers(asked) else FETCH_CONSUMER  # type: ignore[arg-type]
        api = self.apis.get(name)
        if api is None:
            api = self.apis[name] = Api(now)
        api.versions[request.api_version] += 1
        api.durations.add(seconds, now)
        return api


def _is_followers(asked: FetchRequest) -> bool:
    """Whether a replica asks; newer versions say so in a field of their own (KIP-903)."""
    state = asked.replica_state
    return asked.replica_id >= 0 or (state is not None and state.replica_id >= 0)
