"""What may be changed, by whom, and what each operation does to what is set."""

import json

import pytest

from brokers.errors import KafkaError
from brokers.metadata.commands.config_commands import (
    AlterConfigs,
    ConfigChange,
    ConfigOperation,
    ConfigOutcome,
)
from brokers.metadata.commands.mirror_commands import CreateMirrorTopic
from brokers.metadata.commands.topic_commands import CreateTopics, NewTopic
from brokers.metadata.configs.config_keys import INDEPENDENT_OF_SOURCE, TOPIC_KEYS
from tests.unit.brokers.metadata.images import Region

SET, DELETE = ConfigOperation.SET, ConfigOperation.DELETE
APPEND, SUBTRACT = ConfigOperation.APPEND, ConfigOperation.SUBTRACT
T = (2, "t")


def region_with_t() -> Region:
    region = Region()
    configs = {"retention.ms": "5", "segment.ms": "6"}
    region.do(CreateTopics((NewTopic(name="t", configs=configs), NewTopic(name="u"))))
    region.do(CreateMirrorTopic(name="m", partition_count=1, writer="east"))
    return region


def alter(region: Region, *items: ConfigChange, **more: object) -> list[ConfigOutcome]:
    result = region.do(AlterConfigs(items, **more))  # type: ignore[arg-type]
    assert isinstance(result, tuple)
    return list(result)


def test_set_and_delete_touch_what_they_name() -> None:
    region = region_with_t()
    change = ConfigChange(T, {"retention.ms": (SET, "9"), "segment.ms": (DELETE, None)})
    assert alter(region, change)[0].error is KafkaError.NONE
    assert region.image.config(T) == {"retention.ms": "9"}
    assert region.delta.topic_configs_changed == ("t",)


def test_the_whole_set_drops_what_it_does_not_name() -> None:
    region = region_with_t()
    assert alter(region, ConfigChange(T, {"retention.ms": (SET, "9")}, replace=True))[0].error == 0
    assert region.image.config(T) == {"retention.ms": "9"}
    alter(region, ConfigChange(T, {}, replace=True))
    assert region.image.config(T) == {} and T not in region.image.configs


def test_what_is_as_asked_already_writes_nothing() -> None:
    change = ConfigChange(T, {"retention.ms": (SET, "5"), "flush.ms": (DELETE, None)})
    assert region_with_t().decide(AlterConfigs((change,))).records == ()


@pytest.mark.parametrize(
    ("operation", "value", "expected"),
    [
        (APPEND, "delete", {}),  # it is there by default
        (SUBTRACT, "compact", {}),
    ],
)
def test_lists_begin_as_what_is_in_force(
    operation: ConfigOperation, value: str, expected: dict[str, str]
) -> None:
    region = region_with_t()
    change = ConfigChange((2, "u"), {"cleanup.policy": (operation, value)})
    assert alter(region, change)[0].error is KafkaError.NONE
    assert region.image.config((2, "u")).get("cleanup.policy", "delete") == "delete"


def test_a_list_grows_and_is_refused_when_emptied() -> None:
    region = region_with_t()
    (outcome,) = alter(region, ConfigChange(T, {"cleanup.policy": (SUBTRACT, "delete")}))
    assert outcome.error is KafkaError.INVALID_CONFIG
    (outcome,) = alter(region, ConfigChange(T, {"cleanup.policy": (APPEND, "compact")}))
    assert outcome.error is KafkaError.NONE
    assert region.image.config(T)["cleanup.policy"] == "delete,compact"


@pytest.mark.parametrize(
    ("resource", "changes", "error"),
    [
        (T, {"retention.ms": (SET, "x")}, KafkaError.INVALID_CONFIG),
        (T, {"retention.ms": (SET, None)}, KafkaError.INVALID_REQUEST),
        (T, {"retention.ms": (APPEND, "1")}, KafkaError.INVALID_CONFIG),
        (T, {"nope": (SET, "1")}, KafkaError.INVALID_CONFIG),
        (T, {"nope": (SUBTRACT, "1")}, KafkaError.INVALID_CONFIG),
        ((2, "nope"), {"retention.ms": (SET, "1")}, KafkaError.UNKNOWN_TOPIC_OR_PARTITION),
        ((2, "nope"), {}, KafkaError.UNKNOWN_TOPIC_OR_PARTITION),
        ((2, "a b"), {}, KafkaError.INVALID_TOPIC_EXCEPTION),
        ((2, ""), {}, KafkaError.INVALID_TOPIC_EXCEPTION),
        ((4, "1"), {"num.partitions": (SET, "3")}, KafkaError.INVALID_REQUEST),
        ((4, "1"), {"log.retention.ms": (SET, "soon")}, KafkaError.INVALID_CONFIG),
        ((4, "2"), {"log.retention.ms": (SET, "1")}, KafkaError.INVALID_REQUEST),
        ((4, "x"), {}, KafkaError.INVALID_REQUEST),
        ((4, "1"), {"min.insync.replicas": (SET, "2")}, KafkaError.INVALID_CONFIG),
        ((4, ""), {"min.insync.replicas": (SET, "2")}, KafkaError.NONE),
        ((4, "1"), {"leader.replication.throttled.rate": (SET, "5")}, KafkaError.NONE),
        ((4, "1"), {"leader.replication.throttled.rate": (SET, "-5")}, KafkaError.INVALID_CONFIG),
        ((8, "1"), {}, KafkaError.INVALID_REQUEST),
        ((0, ""), {}, KafkaError.INVALID_REQUEST),
        ((4, "1"), {"log.retention.ms": (SET, "7")}, KafkaError.NONE),
        ((4, ""), {"log.retention.ms": (DELETE, None)}, KafkaError.NONE),
        (T, {"nope": (DELETE, None)}, KafkaError.NONE),
    ],
)
def test_each_flaw_has_its_error(
    resource: tuple[int, str],
    changes: dict[str, tuple[ConfigOperation, str | None]],
    error: KafkaError,
) -> None:
    region = region_with_t()
    before = {key: dict(value) for key, value in region.image.configs.items()}
    (outcome,) = alter(region, ConfigChange(resource, changes))
    assert outcome.error is error and outcome.resource == resource
    if error:
        assert outcome.because
        assert {key: dict(value) for key, value in region.image.configs.items()} == before


def test_a_placement_that_is_taken_can_be_read_when_a_broker_goes() -> None:
    """A blank that JSON does not know is dropped when the value is checked, but stored with it."""
    region = Region(brokers=0)
    for broker_id in (1, 2):
        region.register(broker_id, rack="a")
    region.topic("t", (1, 2))
    placement = '\f{"version": 1, "replicas": [{"count": 2, "constraints": {"rack": "a"}}]}\v'
    change = ConfigChange(T, {"confluent.placement.constraints": (SET, placement)})
    assert alter(region, change)[0].error is KafkaError.NONE
    region.fence(1)
    assert region.partition("t").leader == 2


def test_one_bad_key_spoils_its_resource_and_no_other() -> None:
    region = region_with_t()
    bad = ConfigChange(T, {"retention.ms": (SET, "1"), "segment.ms": (SET, "x")})
    good = ConfigChange((2, "u"), {"retention.ms": (SET, "1")})
    first, second = alter(region, bad, good)
    assert (first.error, second.error) == (KafkaError.INVALID_CONFIG, KafkaError.NONE)
    assert region.image.config(T)["retention.ms"] == "5"
    assert region.image.config((2, "u")) == {"retention.ms": "1"}


def test_a_resource_given_twice_is_refused_and_validation_changes_nothing() -> None:
    region = region_with_t()
    change = ConfigChange(T, {"retention.ms": (SET, "1")})
    (outcome,) = alter(region, change, change)
    assert outcome.error is KafkaError.INVALID_REQUEST
    (outcome,) = alter(region, change, validate_only=True)
    assert outcome.error is KafkaError.NONE and region.image.config(T)["retention.ms"] == "5"


def test_every_registered_broker_can_be_told() -> None:
    region = Region(brokers=2)
    rate = {"follower.replication.throttled.rate": (SET, "5")}
    (outcome,) = alter(region, ConfigChange((4, "2"), rate))
    assert outcome.error is KafkaError.NONE and region.image.configs[4, "2"]


def test_a_brokers_setting_concerns_every_topic() -> None:
    region = region_with_t()
    alter(region, ConfigChange((4, ""), {"log.retention.ms": (SET, "1")}))
    assert sorted(region.delta.topic_configs_changed) == ["m", "t", "u"]


@pytest.mark.parametrize(
    ("writer", "name", "error"),
    [
        (None, "retention.ms", KafkaError.POLICY_VIOLATION),
        ("west", "retention.ms", KafkaError.POLICY_VIOLATION),
        ("east", "retention.ms", KafkaError.NONE),
        (None, "flush.messages", KafkaError.NONE),
        ("west", "flush.messages", KafkaError.POLICY_VIOLATION),
    ],
)
def test_a_mirrors_settings_follow_its_source(
    writer: str | None, name: str, error: KafkaError
) -> None:
    change = ConfigChange((2, "m"), {name: (SET, "1")})
    (outcome,) = alter(region_with_t(), change, writer=writer)
    assert outcome.error is error


@pytest.mark.parametrize("name", INDEPENDENT_OF_SOURCE)
def test_what_concerns_only_this_region_may_be_set_of_a_mirror(name: str) -> None:
    change = ConfigChange((2, "m"), {name: (SET, TOPIC_KEYS[name].default)})
    (outcome,) = alter(region_with_t(), change)
    assert outcome.error is KafkaError.NONE, outcome.because


def test_who_may_not_set_a_mirrors_setting_is_told_where_to() -> None:
    own_and_not = {"file.delete.delay.ms": (SET, "1"), "segment.jitter.ms": (SET, "1")}
    (outcome,) = alter(region_with_t(), ConfigChange((2, "m"), own_and_not))
    assert outcome.error is KafkaError.POLICY_VIOLATION
    assert "segment.jitter.ms" in outcome.because and "source" in outcome.because
    assert "file.delete.delay.ms" not in outcome.because


def test_a_mirrors_settings_cannot_be_dropped_either() -> None:
    region = region_with_t()
    alter(region, ConfigChange((2, "m"), {"retention.ms": (SET, "1")}), writer="east")
    for change in (
        ConfigChange((2, "m"), {}, replace=True),
        ConfigChange((2, "m"), {"retention.ms": (DELETE, None)}),
    ):
        assert alter(region, change)[0].error is KafkaError.POLICY_VIOLATION
    assert region.image.config((2, "m")) == {"retention.ms": "1"}


def test_what_a_broker_does_not_know_may_be_removed_but_not_what_its_file_sets() -> None:
    """Kafka's tools remove every throttle that there might be."""
    region = region_with_t()
    unknown = ConfigChange((4, "1"), {"replica.some.io.max.bytes.per.second": (DELETE, None)})
    assert alter(region, unknown)[0].error is KafkaError.NONE
    assert region.image.config((4, "1")) == {}
    for change in ({"log.dirs": (DELETE, None)}, {"replica.some.rate": (SET, "1")}):
        (outcome,) = alter(region, ConfigChange((4, "1"), change))
        assert outcome.error is KafkaError.INVALID_REQUEST


PLACEMENT = "confluent.placement.constraints"


def placed(rack: str, count: int = 1, observers: int = 0) -> str:
    copies = {"version": 2, "replicas": [{"count": count, "constraints": {"rack": rack}}]}
    others = [{"count": observers, "constraints": {"rack": rack}}] if observers else []
    return json.dumps(copies | {"observers": others})


def racked_region() -> Region:
    region = Region(brokers=0)
    for broker_id, rack in ((1, "a"), (2, "a"), (3, "b")):
        region.register(broker_id, rack=rack)
    region.topic("t", (1, 2))
    region.fence(3)
    return region


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (placed("nowhere"), "no broker is in rack nowhere"),
        (placed("a", 3), "3 copies in rack a, which has 2 brokers"),
        (placed("a", 2, observers=1), "3 copies in rack a"),
        (placed("b"), "0 of 1 brokers are neither fenced nor shutting down"),
    ],
)
@pytest.mark.parametrize("validate_only", [False, True])
def test_a_placement_that_no_live_brokers_can_meet_is_refused_when_it_is_set(
    value: str, says: str, validate_only: bool
) -> None:
    region = racked_region()
    change = ConfigChange(T, {PLACEMENT: (SET, value), "retention.ms": (SET, "1")})
    (outcome,) = alter(region, change, validate_only=validate_only)
    assert outcome.error is KafkaError.INVALID_CONFIG and says in str(outcome.because)
    assert region.image.config(T) == {}
    (made,) = region.do(CreateTopics((NewTopic(name="new", configs={PLACEMENT: value}),)))  # type: ignore[misc]
    assert made.error is KafkaError.INVALID_REPLICATION_FACTOR and says in str(made.because)


def test_a_placement_that_can_be_met_is_set_and_removed_and_leaves_replicas_as_they_are() -> None:
    region = racked_region()
    before = region.partition("t")
    for operation, value in ((SET, placed("a", 1, observers=1)), (DELETE, None)):
        (outcome,) = alter(region, ConfigChange(T, {PLACEMENT: (operation, value)}))
        assert outcome.error is KafkaError.NONE
        after = region.partition("t")
        assert (after.replicas, after.isr, after.all_observers) == (before.replicas, before.isr, ())


def test_another_policy_is_taken_while_brokers_are_missing() -> None:
    region = racked_region()
    alter(region, ConfigChange(T, {PLACEMENT: (SET, placed("a", 1, observers=1))}))
    region.fence(2)
    policy = {"observerPromotionPolicy": "under-replicated"}
    value = json.dumps(json.loads(placed("a", 1, observers=1)) | policy)
    assert alter(region, ConfigChange(T, {PLACEMENT: (SET, value)}))[0].error is KafkaError.NONE
    (outcome,) = alter(region, ConfigChange(T, {PLACEMENT: (SET, placed("a", 2))}))
    assert outcome.error is KafkaError.INVALID_CONFIG


def test_a_placement_that_stands_is_not_asked_about_again() -> None:
    region = racked_region()
    alter(region, ConfigChange(T, {PLACEMENT: (SET, placed("a", 2))}))
    region.fence(2)
    (outcome,) = alter(region, ConfigChange(T, {"retention.ms": (SET, "1")}))
    assert outcome.error is KafkaError.NONE
