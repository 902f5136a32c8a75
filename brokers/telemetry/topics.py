"""Counts of what was produced to and fetched from each topic.

Unknown topics get no entry, so that requests for them cost no memory. The entry of a deleted topic is removed, and its
counts stay in the totals.
"""

from struct import Struct
from typing import Final, TypeAlias
from uuid import UUID

from brokers.errors import KafkaError
from brokers.ids import Buffer
from brokers.metadata.image.image import Image
from brokers.wire.messages.fetch import FetchResponse
from brokers.wire.messages.produce import ProduceRequest, ProduceResponse

# As the request named it; an id as a number, which is hashed faster.
TopicKey: TypeAlias = str | int
_record_count: Final = Struct(">57xi").unpack_from  # at its position in a batch's header
_pairs: Final = zip  # without its argument `strict`, which costs half as much again for one item
_NO_TOPIC: Final = frozenset(
    {
        KafkaError.UNKNOWN_TOPIC_OR_PARTITION,
        KafkaError.UNKNOWN_TOPIC_ID,
        KafkaError.INVALID_TOPIC_EXCEPTION,
    }
)
# Also errors of produce requests that are refused before topics are looked up; Kafka does not count them.
_PRODUCE_NO_TOPIC: Final = _NO_TOPIC | {
    KafkaError.INVALID_REQUIRED_ACKS,
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
}
# Responses after which the batch is in the log.
_APPENDED: Final = frozenset(
    {
        KafkaError.NONE,
        KafkaError.REQUEST_TIMED_OUT,
        KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    }
)
# Errors that redirect a client, or that are its own: as in Kafka, these are no failures of the broker.
_PRODUCE_EXPECTED: Final = _APPENDED | {
    KafkaError.NOT_LEADER_OR_FOLLOWER,
    KafkaError.MESSAGE_TOO_LARGE,
    KafkaError.RECORD_LIST_TOO_LARGE,
    KafkaError.CORRUPT_MESSAGE,
    KafkaError.KAFKA_STORAGE_ERROR,
}
_FETCH_EXPECTED: Final = frozenset(
    {
        KafkaError.NONE,
        KafkaError.NOT_LEADER_OR_FOLLOWER,
        KafkaError.UNKNOWN_LEADER_EPOCH,
        KafkaError.FENCED_LEADER_EPOCH,
        KafkaError.REPLICA_NOT_AVAILABLE,
        KafkaError.KAFKA_STORAGE_ERROR,
        KafkaError.OFFSET_OUT_OF_RANGE,
        KafkaError.INCONSISTENT_TOPIC_ID,
    }
)


class TopicTraffic:
    """Records, bytes, and requests, which count once for each partition in them, as in Kafka."""

    __slots__ = (
        "bytes_in",
        "bytes_out",
        "failed_fetches",
        "failed_produces",
        "fetches",
        "messages_in",
        "produces",
    )

    def __init__(self) -> None:
        self.bytes_in = 0
        self.bytes_out = 0
        self.failed_fetches = 0
        self.failed_produces = 0
        self.fetches = 0
        self.messages_in = 0
        self.produces = 0

    def add(self, other: "TopicTraffic") -> None:
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def appended(self, records: Buffer | None) -> None:
        """Counts a batch that was appended."""
        assert records is not None
        self.bytes_in += len(records)
        self.messages_in += _record_count(records)[0]


class TopicsTraffic:
    """Counts by topic: `produced` and `fetched` add, `by_name` reads."""

    def __init__(self) -> None:
        self.replication_bytes_out = 0
        self._topics: dict[TopicKey, TopicTraffic] = {}
        self._deleted = TopicTraffic()

    def produced(
        self, request: ProduceRequest, answer: ProduceResponse, errors: dict[int, int]
    ) -> None:
        """Counts a request and its response, which have partitions in the same order. Adds error codes to `errors`."""
        topics = self._topics
        for topic, response in _pairs(request.topic_data, answer.responses):
            key = topic.name or topic.topic_id.int
            for data, item in _pairs(topic.partition_data, response.partition_responses):
                error = item.error_code
                errors[error] += 1
                if error and error in _PRODUCE_NO_TOPIC:
                    continue
                traffic = topics.get(key) or self._begin(key)
                traffic.produces += 1
                if not error or error in _APPENDED:
                    records = data.records
                    traffic.bytes_in += len(records)  # type: ignore[arg-type]  # it was appended
                    traffic.messages_in += _record_count(records)[0]  # type: ignore[arg-type]
                elif error not in _PRODUCE_EXPECTED:
                    traffic.failed_produces += 1

    def produced_without_acks(self, request: ProduceRequest) -> None:
        """Counts a request with acks=0 that succeeded."""
        for topic in request.topic_data:
            key = topic.name or topic.topic_id.int
            traffic = self._topics.get(key) or self._begin(key)
            for data in topic.partition_data:
                traffic.produces += 1
                traffic.appended(data.records)

    def fetched(self, answer: FetchResponse, errors: dict[int, int], *, by_follower: bool) -> None:
        """Counts a response. Adds error codes to `errors`."""
        errors[answer.error_code] += 1
        topics = self._topics
        for topic in answer.responses:
            key = topic.topic or topic.topic_id.int
            for item in topic.partitions:
                error = item.error_code
                errors[error] += 1
                if error and error in _NO_TOPIC:
                    continue
                traffic = topics.get(key) or self._begin(key)
                traffic.fetches += 1
                if error and error not in _FETCH_EXPECTED:
                    traffic.failed_fetches += 1
                elif records := item.records:
                    if isinstance(records, list | tuple):
                        size = sum(map(len, records))
                    else:
                        size = len(records)
                    if by_follower:
                        self.replication_bytes_out += size
                    else:
                        traffic.bytes_out += size

    def _begin(self, key: TopicKey) -> TopicTraffic:
        traffic = self._topics[key] = TopicTraffic()
        return traffic

    def by_name(self, image: Image) -> tuple[TopicTraffic, dict[str, TopicTraffic]]:
        """The counts of all topics, deleted ones too, and of each topic; requests name topics by id or by name."""
        names: dict[str, TopicTraffic] = {}
        for key, traffic in list(self._topics.items()):
            name = _name(image, key)
            if name is None:
                self._deleted.add(self._topics.pop(key))
            else:
                names.setdefault(name, TopicTraffic()).add(traffic)
        total = TopicTraffic()
        for traffic in (self._deleted, *names.values()):
            total.add(traffic)
        return total, names


def _name(image: Image, key: TopicKey) -> str | None:
    if isinstance(key, str):
        return key if key in image.topics_by_name else None
    topic = image.topics_by_id.get(UUID(int=key))
    return None if topic is None else topic.name
