"""What CreateTopics takes and refuses."""

from uuid import UUID

import pytest

from brokers.config.broker_config import from_settings
from brokers.errors import KafkaError
from brokers.ids import NO_ID
from brokers.metadata.commands.topic_commands import CreateTopics, NewTopic, TopicOutcome
from brokers.metadata.topics.topic_creation import internal_topic, new_topic_id
from tests.unit.brokers.metadata.images import NODE, Region


def create(
    region: Region, *items: NewTopic, validate_only: bool = False
) -> tuple[TopicOutcome, ...]:
    result = region.do(CreateTopics(items, validate_only))
    assert isinstance(result, tuple)
    return result


@pytest.mark.parametrize(
    ("item", "error"),
    [
        (NewTopic(name=""), KafkaError.INVALID_TOPIC_EXCEPTION),
        (NewTopic(name="a b"), KafkaError.INVALID_TOPIC_EXCEPTION),
        (NewTopic(name="__cluster_metadata"), KafkaError.INVALID_REQUEST),
        (NewTopic(name="old"), KafkaError.TOPIC_ALREADY_EXISTS),
        (NewTopic(name="o.d"), KafkaError.NONE),
        (NewTopic(name="with_dots"), KafkaError.INVALID_TOPIC_EXCEPTION),
        (NewTopic(name="t", partition_count=0), KafkaError.INVALID_PARTITIONS),
        (NewTopic(name="t", partition_count=-2), KafkaError.INVALID_PARTITIONS),
        (NewTopic(name="t", partition_count=10_001), KafkaError.POLICY_VIOLATION),
        (NewTopic(name="t", partition_count=2**31 - 1), KafkaError.POLICY_VIOLATION),
        (NewTopic(name="t", replication_factor=0), KafkaError.INVALID_REPLICATION_FACTOR),
        (NewTopic(name="t", replication_factor=-2), KafkaError.INVALID_REPLICATION_FACTOR),
        (NewTopic(name="t", replication_factor=2), KafkaError.INVALID_REPLICATION_FACTOR),
        (
            NewTopic(name="t", partition_count=1, assignments=((0, (1,)),)),
            KafkaError.INVALID_REQUEST,
        ),
        (
            NewTopic(name="t", replication_factor=1, assignments=((0, (1,)),)),
            KafkaError.INVALID_REQUEST,
        ),
        (NewTopic(name="t", assignments=((1, (1,)),)), KafkaError.INVALID_REPLICA_ASSIGNMENT),
        (
            NewTopic(name="t", assignments=((0, (1,)), (0, (1,)))),
            KafkaError.INVALID_REPLICA_ASSIGNMENT,
        ),
        (
            NewTopic(name="t", assignments=((0, (1,)), (2, (1,)))),
            KafkaError.INVALID_REPLICA_ASSIGNMENT,
        ),
        (
            NewTopic(name="t", assignments=((-1, (1,)), (0, (1,)))),
            KafkaError.INVALID_REPLICA_ASSIGNMENT,
        ),
        (NewTopic(name="t", assignments=((0, (7,)),)), KafkaError.INVALID_REPLICA_ASSIGNMENT),
        (NewTopic(name="t", assignments=((0, ()),)), KafkaError.INVALID_REPLICA_ASSIGNMENT),
        (NewTopic(name="t", assignments=((0, (1, 1)),)), KafkaError.INVALID_REPLICA_ASSIGNMENT),
        (NewTopic(name="t", configs={"retention.ms": None}), KafkaError.INVALID_CONFIG),
        (NewTopic(name="t", configs={"retention.ms": "soon"}), KafkaError.INVALID_CONFIG),
        (NewTopic(name="t", configs={"no.such.key": "1"}), KafkaError.INVALID_CONFIG),
        (NewTopic(name="t", configs={"cleanup.policy": "compacted"}), KafkaError.INVALID_CONFIG),
        (NewTopic(name="t", configs={"cleanup.policy": "compact,delete"}), KafkaError.NONE),
        (NewTopic(name="t", assignments=((1, (1,)), (0, (1,)))), KafkaError.NONE),
        (NewTopic(name="t" * 249), KafkaError.NONE),
    ],
)
def test_each_flaw_of_a_new_topic_has_its_error(item: NewTopic, error: KafkaError) -> None:
    region = Region()
    create(region, NewTopic(name="old"), NewTopic(name="with.dots"))
    (outcome,) = create(region, item)
    assert outcome.error is error
    assert outcome.name == item.name
    assert (item.name in region.image.topics_by_name) == (
        error is KafkaError.NONE or item.name == "old"
    )
    if error:
        assert outcome.because and outcome.topic_id == NO_ID


def test_defaults_come_from_the_node() -> None:
    region = Region(from_settings({"node.id": 1, "log.dirs": "data", "num.partitions": 4}))
    (outcome,) = create(region, NewTopic(name="t"))
    assert (outcome.partition_count, outcome.replication_factor) == (4, 1)
    topic = region.image.topics_by_name["t"]
    assert len(topic.partitions) == 4
    assert {(p.leader, p.leader_epoch, p.replicas, p.isr) for p in topic.partitions} == {
        (1, 0, (1,), (1,))
    }


def test_one_bad_topic_does_not_spoil_the_others() -> None:
    region = Region()
    outcomes = create(region, NewTopic(name="good"), NewTopic(name="b d"), NewTopic(name="fine"))
    assert [outcome.error for outcome in outcomes] == [0, KafkaError.INVALID_TOPIC_EXCEPTION, 0]
    assert sorted(region.image.topics_by_name) == ["fine", "good"]


def test_a_name_given_twice_is_refused_once() -> None:
    region = Region()
    outcomes = create(region, NewTopic(name="t"), NewTopic(name="u"), NewTopic(name="t"))
    assert [(outcome.name, outcome.error) for outcome in outcomes] == [
        ("t", KafkaError.INVALID_REQUEST),
        ("u", KafkaError.NONE),
    ]


def test_names_of_one_request_collide_too() -> None:
    outcomes = create(Region(), NewTopic(name="a.b"), NewTopic(name="a_b"))
    assert [outcome.error for outcome in outcomes] == [0, KafkaError.INVALID_TOPIC_EXCEPTION]


def test_topics_of_one_request_are_led_by_different_brokers() -> None:
    region = Region(brokers=3)
    create(region, *(NewTopic(name=f"t{n}", replication_factor=3) for n in range(6)))
    leaders = [topic.partitions[0].leader for topic in region.image.topics_by_name.values()]
    assert sorted(leaders) == [1, 1, 2, 2, 3, 3]


def test_a_refused_topic_leaves_its_name_to_others() -> None:
    outcomes = create(Region(), NewTopic(name="a.b", partition_count=0), NewTopic(name="a_b"))
    assert [outcome.error for outcome in outcomes] == [KafkaError.INVALID_PARTITIONS, 0]


def test_validation_only_changes_nothing_and_says_what_would_be() -> None:
    region = Region()
    before = region.image.next_offset
    (outcome,) = create(region, NewTopic(name="t", partition_count=3), validate_only=True)
    assert (outcome.error, outcome.partition_count) == (KafkaError.NONE, 3)
    assert "t" not in region.image.topics_by_name and region.image.next_offset == before


def test_the_limit_of_a_request_is_shared_by_its_topics() -> None:
    region = Region()
    outcomes = create(region, *(NewTopic(name=f"t{n}", partition_count=4_000) for n in range(3)))
    assert [outcome.error for outcome in outcomes] == [0, 0, KafkaError.POLICY_VIOLATION]


def test_topic_ids_are_random_and_never_reserved() -> None:
    class Zeros:
        """Random bytes that spell a reserved id first."""

        def __init__(self) -> None:
            self.calls = 0

        def random(self) -> float:
            return 0.0

        def randrange(self, start: int, stop: int, /) -> int:
            return start

        def randbytes(self, n: int, /) -> bytes:
            self.calls += 1
            return bytes(n - 1) + bytes([self.calls])

    topic_id = new_topic_id(Zeros())
    assert topic_id.version == 4 and topic_id not in (UUID(int=0), UUID(int=1))
    region = Region()
    ids = {
        outcome.topic_id for outcome in create(region, *(NewTopic(name=f"t{n}") for n in range(50)))
    }
    assert len(ids) == 50


def test_a_coordinators_topic_is_compacted_and_has_the_configured_partitions() -> None:
    item = internal_topic("__consumer_offsets", NODE)
    region = Region()
    (outcome,) = create(region, item)
    assert outcome.error is KafkaError.NONE and outcome.partition_count == 50
    assert region.image.topics_by_name["__consumer_offsets"].is_internal
    assert region.image.config((2, "__consumer_offsets"))["cleanup.policy"] == "compact"


def test_the_segments_of_a_coordinators_topic_are_as_large_as_configured() -> None:
    config = from_settings(
        {"node.id": 1, "log.dirs": "data", "offsets.topic.segment.bytes": 2 << 20}
    )
    assert internal_topic("__consumer_offsets", config).configs["segment.bytes"] == "2097152"
    assert internal_topic("__consumer_offsets", NODE).configs["segment.bytes"] == "104857600"
