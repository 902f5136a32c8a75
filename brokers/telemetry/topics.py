"""What was produced to and fetched from each topic.

What is no topic of this region makes no entry, so a client that asks for nonsense costs no memory; what is none any
more loses its own, and the totals keep what it had.
"""

from struct import Struct
from typing import Final, TypeAlias
from uuid import UUID

from brokers.errors import KafkaError
from brokers.ids import Buffer
from brokers.metadata.image.image import Image
from brokers.wire.message import Records
from brokers.wire.messages.fetch import FetchResponse
from brokers.wire.messages.produce import ProduceRequest, ProduceResponse

TopicKey: TypeAlias = (
    str | int
)  # as the request named it; an id as a number, which is hashed faster
_RECORD_COUNT: Final = Struct(">57xi")  # where it stands in a batch's header
_NO_TOPIC: Final = frozenset(
    {
        KafkaError.UNKNOWN_TOPIC_OR_PARTITION,
        KafkaError.UNKNOWN_TOPIC_ID,
        KafkaError.INVALID_TOPIC_EXCEPTION,
    }
)
# A produce request refused before anybody looked whether there is such a topic; Kafka counts none of these.
_PRODUCE_NO_TOPIC: Final = _NO_TOPIC | {
    KafkaError.INVALID_REQUIRED_ACKS,
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
}
# The batch is in the log, whatever else the answer has to say.
_APPENDED: Final = frozenset(
    {
        KafkaError.NONE,
        KafkaError.REQUEST_TIMED_OUT,
        KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    }
)
# Errors after which a client looks again, or that are its own: to Kafka these are no failures of the broker.
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
    """Records, bytes, and partitions that requests named (which is what Kafka's counts of requests are)."""

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

    def placed(self, records: Buffer | None) -> None:
        """A producer's batch is in the log."""
        assert records is not None
        self.bytes_in += len(records)
        self.messages_in += _RECORD_COUNT.unpack_from(records)[0]


class TopicsTraffic:
    """`produced` and `fetched` count; `by_name` reads."""

    def __init__(self) -> None:
        self.replication_bytes_out = 0
        self._topics: dict[TopicKey, TopicTraffic] = {}
        self._bygone = TopicTraffic()

    def produced(
        self, asked: ProduceRequest, answer: ProduceResponse, errors: dict[int, int]
    ) -> None:
        """Answers stand in the order of what was asked. Notes what they say in `errors`, by code."""
        topics = self._topics
        for topic, told in zip(asked.topic_data, answer.responses, strict=False):
            key = topic.name or topic.topic_id.int
            for data, item in zip(topic.partition_data, told.partition_responses, strict=False):
                error = item.error_code
                errors[error] += 1
                if error and error in _PRODUCE_NO_TOPIC:
                    continue
                traffic = topics.get(key) or self._begin(key)
                traffic.produces += 1
                if not error or error in _APPENDED:
                    traffic.placed(data.records)
                elif error not in _PRODUCE_EXPECTED:
                    traffic.failed_produces += 1

    def produced_unheard(self, asked: ProduceRequest) -> None:
        """All went well, and the producer did not want to hear it (acks=0)."""
        for topic in asked.topic_data:
            key = topic.name or topic.topic_id.int
            traffic = self._topics.get(key) or self._begin(key)
            for data in topic.partition_data:
                traffic.produces += 1
                traffic.placed(data.records)

    def fetched(self, answer: FetchResponse, errors: dict[int, int], *, by_follower: bool) -> None:
        """Notes what the answer says in `errors`, by code."""
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
                elif item.records:
                    self._sent(traffic, item.records, by_follower)

    def _sent(self, traffic: TopicTraffic, records: Records, by_follower: bool) -> None:
        size = sum(map(len, records)) if isinstance(records, list | tuple) else len(records)
        if by_follower:
            self.replication_bytes_out += size
        else:
            traffic.bytes_out += size

    def _begin(self, key: TopicKey) -> TopicTraffic:
        traffic = self._topics[key] = TopicTraffic()
        return traffic

    def by_name(self, image: Image) -> tuple[TopicTraffic, dict[str, TopicTraffic]]:
        """(all topics that ever were, each that is): newer requests name a topic by its id, older ones by its name."""
        names: dict[str, TopicTraffic] = {}
        for key, traffic in list(self._topics.items()):
            name = _name(image, key)
            if name is None:
                self._bygone.add(self._topics.pop(key))
            else:
                names.setdefault(name, TopicTraffic()).add(traffic)
        total = TopicTraffic()
        for traffic in (self._bygone, *names.values()):
            total.add(traffic)
        return total, names


def _name(image: Image, key: TopicKey) -> str | None:
    if isinstance(key, str):
        return key if key in image.topics_by_name else None
    topic = image.topics_by_id.get(UUID(int=key))
    return None if topic is None else topic.name
