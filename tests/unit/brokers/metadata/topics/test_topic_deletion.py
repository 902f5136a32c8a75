"""What DeleteTopics takes and refuses."""

from uuid import UUID

from brokers.config.broker_config import from_settings
from brokers.errors import KafkaError
from brokers.ids import NO_ID
from brokers.metadata.commands.mirror_commands import CreateMirrorTopic
from brokers.metadata.commands.topic_commands import (
    CreateTopics,
    DeleteTopics,
    NewTopic,
    TopicOutcome,
)
from tests.unit.brokers.metadata.images import Region


def region_with(*names: str) -> Region:
    region = Region()
    region.do(
        CreateTopics(tuple(NewTopic(name=name, configs={"retention.ms": "5"}) for name in names))
    )
    return region


def delete(region: Region, *topics: str | UUID, writer: str | None = None) -> list[TopicOutcome]:
    result = region.do(DeleteTopics(topics, writer))
    assert isinstance(result, tuple)
    return list(result)


def test_a_topic_goes_with_its_settings_and_frees_its_name() -> None:
    region = region_with("a.b")
    topic_id = region.image.topics_by_name["a.b"].id
    (outcome,) = delete(region, "a.b")
    assert (outcome.error, outcome.topic_id) == (KafkaError.NONE, topic_id)
    assert region.delta.topics_deleted == ("a.b",)
    assert not region.image.topics_by_name and not region.image.topics_by_id
    assert not region.image.config((2, "a.b"))
    (made,) = region.do(CreateTopics((NewTopic(name="a_b"),)))  # type: ignore[misc]
    assert made.error is KafkaError.NONE and made.topic_id != topic_id


def test_a_topic_is_deleted_by_id() -> None:
    region = region_with("a", "b")
    topic_id = region.image.topics_by_name["a"].id
    (outcome,) = delete(region, topic_id)
    assert (outcome.name, outcome.error) == ("a", KafkaError.NONE)
    assert list(region.image.topics_by_name) == ["b"]


def test_what_does_not_exist_is_said_by_name_or_by_id() -> None:
    outcomes = delete(region_with(), "nope", UUID(int=77), NO_ID)
    assert [outcome.error for outcome in outcomes] == [
        KafkaError.UNKNOWN_TOPIC_OR_PARTITION,
        KafkaError.UNKNOWN_TOPIC_ID,
        KafkaError.INVALID_REQUEST,
    ]
    assert [outcome.name for outcome in outcomes] == ["nope", None, None]
    assert outcomes[1].topic_id == UUID(int=77)


def test_a_topic_named_twice_is_refused() -> None:
    region = region_with("a", "b")
    (outcome,) = delete(region, "a", "a")
    assert outcome.error is KafkaError.INVALID_REQUEST and "a" in region.image.topics_by_name
    first, second = delete(region, "b", region.image.topics_by_name["b"].id)
    assert (first.error, second.error) == (KafkaError.NONE, KafkaError.INVALID_REQUEST)


def test_a_coordinators_topic_stays() -> None:
    (outcome,) = delete(region_with("__transaction_state"), "__transaction_state")
    assert outcome.error is KafkaError.POLICY_VIOLATION


def test_a_mirror_is_deleted_by_its_link_alone() -> None:
    region = region_with("plain")
    region.do(CreateMirrorTopic(name="m", partition_count=1, writer="east"))
    for writer in (None, "west"):
        (outcome,) = delete(region, "m", writer=writer)
        assert outcome.error is KafkaError.POLICY_VIOLATION
        assert outcome.because is not None and "link east" in outcome.because
    (outcome,) = delete(region, "plain", writer="east")
    assert outcome.error is KafkaError.POLICY_VIOLATION
    (outcome,) = delete(region, "m", writer="east")
    assert outcome.error is KafkaError.NONE


def test_nothing_is_deleted_where_the_controllers_settings_forbid_it() -> None:
    region = Region(from_settings({"node.id": 1, "log.dirs": "d", "delete.topic.enable": False}))
    region.do(CreateTopics((NewTopic(name="a"),)))
    (outcome,) = delete(region, "a")
    assert outcome.error is KafkaError.TOPIC_DELETION_DISABLED
    assert "delete.topic.enable" in str(outcome.because) and "a" in region.image.topics_by_name
