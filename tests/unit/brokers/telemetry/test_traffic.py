"""What is counted is what clients did, by a whole broker's real answers."""

import pytest

from brokers.api import delete_topics, fetch, heartbeat, produce
from brokers.ids import TopicPartition
from brokers.telemetry.errors import error_codes
from brokers.telemetry.requests import TOPIC_COUNTERS
from brokers.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ReplicaState,
)
from brokers.wire.messages.groups import HeartbeatRequest
from brokers.wire.messages.metadata import (
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from brokers.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from brokers.wire.messages.topics import DeleteTopicsRequest
from tests.unit.brokers.partition.replicas import batch
from tests.unit.brokers.telemetry.counted import TOOK, Counted

TOPIC = "kafka_server_brokertopicmetrics_"
REQUEST = "kafka_network_requestmetrics_"


@pytest.fixture
def node() -> Counted:
    one = Counted()
    one.create("t", 2)
    return one


def put(
    node: Counted, *batches: bytearray, version: int = 9, acks: int = -1, topic: str = "t"
) -> None:
    """Batches for the topic's first partitions, one each."""
    naming = {"name": topic} if version < 13 else {"topic_id": node.topic_id(topic)}
    data = [PartitionProduceData(index=index, records=each) for index, each in enumerate(batches)]
    topics = [TopicProduceData(partition_data=data, **naming)]
    node.ask(produce, version, ProduceRequest(acks=acks, timeout_ms=1, topic_data=topics))


def take(node: Counted, version: int = 12, **fields: object) -> None:
    naming = {"topic": "t"} if version < 13 else {"topic_id": node.topic_id("t")}
    asked = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    topics = [FetchTopic(partitions=[asked], **naming)]
    node.ask(fetch, version, FetchRequest(topics=topics, max_bytes=1 << 20, **fields))


def follow(node: Counted, broker: int) -> None:
    """Let another broker hold the topic's first partition too."""
    parts = node.broker.parts
    partition = TopicPartition("t", 0)
    placed = parts.raft.image.partition(partition)
    assert placed is not None
    wider = placed._replace(
        replicas=(*placed.replicas, broker), partition_epoch=placed.partition_epoch + 1
    )
    parts.replication.apply_partition(parts.partitions.all[partition], wider, None, node.now)


@pytest.mark.parametrize("acks", [-1, 1, 0])
def test_what_producers_write_is_counted_by_topic_and_in_all(node: Counted, acks: int) -> None:
    node.create("u", 1)
    put(node, batch(3), batch(2), acks=acks)
    put(node, batch(1), version=13, acks=acks)  # names its topic by id
    put(node, batch(4), topic="u", acks=acks)
    sizes = {"t": len(batch(3)) + len(batch(2)) + len(batch(1)), "u": len(batch(4))}
    for topic, messages, partitions in (("t", 6, 3), ("u", 4, 1)):
        assert node.value(TOPIC + "bytesin_total", topic=topic) == sizes[topic]
        assert node.value(TOPIC + "messagesin_total", topic=topic) == messages
        assert node.value(TOPIC + "totalproducerequests_total", topic=topic) == partitions
    assert node.value(TOPIC + "bytesin_total") == sum(sizes.values())
    assert node.value(TOPIC + "messagesin_total") == 10
    assert node.value(TOPIC + "failedproducerequests_total") == 0
    assert node.value(REQUEST + "requests_total", request="Produce", version="9") == 2
    assert node.value(REQUEST + "requests_total", request="Produce", version="13") == 1
    heard = None if acks == 0 else 4
    assert node.value(REQUEST + "errors_total", request="Produce", error="NONE") == heard


def test_what_consumers_are_sent_is_counted_and_what_followers_are_apart(node: Counted) -> None:
    put(node, batch(3))
    size = len(batch(3))
    take(node)
    take(node, version=17)
    assert node.value(TOPIC + "bytesout_total", topic="t") == 2 * size
    assert node.value(TOPIC + "totalfetchrequests_total", topic="t") == 2
    assert node.value(REQUEST + "requests_total", request="FetchConsumer", version="17") == 1
    follow(node, broker=2)
    take(node, version=17, replica_state=ReplicaState(replica_id=2))
    assert node.value(TOPIC + "bytesout_total", topic="t") == 2 * size
    assert node.value(TOPIC + "replicationbytesout_total") == size
    assert node.value(REQUEST + "requests_total", request="FetchFollower", version="17") == 1
    assert node.value(REQUEST + "requests_total", request="Fetch", version="17") == 2


def test_what_is_refused_is_an_error_and_no_bytes(node: Counted) -> None:
    damaged = batch(3)
    damaged[-1] ^= 1
    put(node, damaged)
    assert node.value(REQUEST + "errors_total", request="Produce", error="CORRUPT_MESSAGE") == 1
    assert node.value(TOPIC + "bytesin_total", topic="t") == 0
    # Kafka's metric speaks of the broker's failures: a client's damaged batch is none, a record it won't take is.
    assert node.value(TOPIC + "failedproducerequests_total", topic="t") == 0
    put(node, batch(1) + batch(1))
    assert node.value(REQUEST + "errors_total", request="Produce", error="INVALID_RECORD") == 1
    assert node.value(TOPIC + "failedproducerequests_total", topic="t") == 1
    assert node.value(TOPIC + "totalproducerequests_total", topic="t") == 2


def test_a_topic_that_is_none_leaves_no_trace(node: Counted) -> None:
    put(node, batch(1), topic="nonsense")
    unknown = "UNKNOWN_TOPIC_OR_PARTITION"
    assert node.value(REQUEST + "errors_total", request="Produce", error=unknown) == 1
    assert node.value(TOPIC + "totalproducerequests_total") == 0
    assert "nonsense" not in node.page()


@pytest.mark.parametrize("topic", ["t", "nonsense"])
@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"acks": 7}, "INVALID_REQUIRED_ACKS"),
        ({"acks": -1, "transactional_id": "x"}, "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"),
    ],
)
def test_what_is_refused_before_its_topic_was_looked_at_is_no_topics(
    node: Counted, topic: str, fields: dict[str, object], error: str
) -> None:
    data = PartitionProduceData(index=0, records=batch(1))
    topics = [TopicProduceData(name=topic, partition_data=[data])]
    node.ask(produce, 9, ProduceRequest(topic_data=topics, timeout_ms=1000, **fields))
    assert node.value(REQUEST + "errors_total", request="Produce", error=error) == 1
    assert node.value(TOPIC + "totalproducerequests_total") == 0
    assert node.value(TOPIC + "failedproducerequests_total") == 0


@pytest.mark.parametrize("version", [9, 13])
def test_a_deleted_topic_stays_in_the_totals_alone(node: Counted, version: int) -> None:
    put(node, batch(3), version=version)
    before = node.value(TOPIC + "bytesin_total")
    deletion = DeleteTopicsRequest(topic_names=["t"], timeout_ms=1000)
    assert node.ask(delete_topics, 5, deletion).responses[0].error_code == 0
    for _ in range(2):
        assert node.value(TOPIC + "bytesin_total", topic="t") is None
        assert node.value(TOPIC + "bytesin_total") == before
    node.create("t", 1)
    assert node.value(TOPIC + "bytesin_total", topic="t") is None
    put(node, batch(1), version=version)
    assert node.value(TOPIC + "bytesin_total", topic="t") == len(batch(1))
    assert node.value(TOPIC + "bytesin_total") == before + len(batch(1))


def test_requests_of_every_kind_have_their_times_and_errors(node: Counted) -> None:
    node.ask(heartbeat, 4, HeartbeatRequest(group_id="g", member_id="m", generation_id=1))
    count = node.value(REQUEST + "totaltimems_count", request="Heartbeat")
    total = node.value(REQUEST + "totaltimems_sum", request="Heartbeat")
    assert (count, total) == (1, TOOK * 1000)
    for quantile in ("0.50", "0.75", "0.95", "0.98", "0.99", "0.999"):
        told = node.value(REQUEST + "totaltimems", request="Heartbeat", quantile=quantile)
        assert told == pytest.approx(TOOK * 1000, rel=0.1)
    parts = {
        part: node.value(f"{REQUEST}{part}timems_sum", request="Heartbeat")
        for part in ("requestqueue", "local", "remote", "responsequeue", "responsesend")
    }
    assert list(parts.values()) == [0, 1, 2.5, 0, 0.5]
    assert node.value(REQUEST + "remotetimems_count", request="Heartbeat") == 1
    assert node.value(REQUEST + "requestqueuetimems", request="Heartbeat", quantile="0.99") == 0
    errors = [key for key in node.samples() if key[0] == REQUEST + "errors_total"]
    assert ("request", "Heartbeat") in {label for _, labels in errors for label in labels}


def test_a_connection_closed_instead_of_an_answer_counts_as_a_request(node: Counted) -> None:
    damaged = batch(3)
    damaged[-1] ^= 1
    put(node, damaged, acks=0)
    assert node.value(REQUEST + "requests_total", request="Produce", version="9") == 1
    assert node.value(TOPIC + "bytesin_total") == 0


def test_every_error_code_of_an_answer_is_found_wherever_it_stands() -> None:
    answer = MetadataResponse(
        error_code=9,
        topics=[
            MetadataResponseTopic(
                error_code=1, partitions=[MetadataResponsePartition(error_code=2)]
            ),
            MetadataResponseTopic(error_code=3),
        ],
    )
    assert sorted(error_codes(answer)) == [1, 2, 3, 9]


def test_every_topic_counter_says_what_it_counts(node: Counted) -> None:
    put(node, batch(1))
    page = node.page()
    for name, (_, about) in TOPIC_COUNTERS.items():
        assert f"# HELP {TOPIC}{name}_total {about}\n" in page
