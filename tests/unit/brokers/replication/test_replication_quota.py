"""What catches up gets its bytes a second and no more, on either side, where topics and brokers say so."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.ids import TopicPartition
from brokers.metadata.commands.config_commands import ResourceType
from brokers.metadata.image.image import Image, ImageDelta
from brokers.replication.replication_quota import (
    LEADER,
    ZERO_RATE_WAIT_MS,
    ReplicationQuota,
    TokenBucket,
)
from tests.unit.brokers.replication.hosting import TOPIC, Node, items

NOW = 1_000


def throttle(named: str, rate: int | None = 100, resource: str = "1") -> ReplicationQuota:
    image = Image("region")
    image.configs[(ResourceType.TOPIC, "t")] = {"leader.replication.throttled.replicas": named}
    if rate is not None:
        image.configs[(ResourceType.BROKER, resource)] = {
            "leader.replication.throttled.rate": str(rate)
        }
    one = ReplicationQuota(LEADER)
    one.configure(image, 1, ["t"], NOW)
    return one


@pytest.mark.parametrize(
    ("named", "partition", "broker", "limited"),
    [
        ("*", 0, 2, True),
        ("0:2,1:3", 0, 2, True),
        ("0:2, 1:3", 1, 3, True),
        ("0:2,1:3", 1, 2, False),
        ("", 0, 2, False),
    ],
)
def test_whom_a_topic_names(named: str, partition: int, broker: int, limited: bool) -> None:
    one = throttle(named)
    one.spend(TopicPartition("t", partition), broker, 500, NOW)
    assert (one.wait_ms(TopicPartition("t", partition), broker, NOW) > 0) is limited
    assert one.wait_ms(TopicPartition("other", partition), broker, NOW) == 0


def test_without_a_rate_nothing_is_limited_and_that_of_all_brokers_counts() -> None:
    assert not throttle("*", None).is_set
    assert throttle("*", 100, resource="").is_set


def test_at_a_rate_of_nothing_all_waits_until_the_rate_is_another() -> None:
    one = throttle("*", 0)
    assert one.wait_ms(TopicPartition("t", 0), 2, NOW) == ZERO_RATE_WAIT_MS
    assert one.wait_ms(TopicPartition("t", 0), 2, NOW + ZERO_RATE_WAIT_MS) == ZERO_RATE_WAIT_MS
    one.bucket.set_rate(100, NOW)
    assert one.wait_ms(TopicPartition("t", 0), 2, NOW) == 0


@given(st.lists(st.tuples(st.integers(1, 400), st.integers(0, 3_000)), min_size=1, max_size=40))
def test_in_the_long_run_no_more_than_the_rate_is_spent(steps: list[tuple[int, int]]) -> None:
    bucket, now, spent = TokenBucket(), NOW, 0
    bucket.set_rate(100, now)
    largest = 0
    for size, pause in steps:
        now += pause
        wait = bucket.wait_ms(now)
        now += wait
        assert bucket.wait_ms(now) == 0
        bucket.spend(size, now)
        spent += size
        largest = max(largest, size)
        assert spent <= 100 + largest + 100 * (now - NOW) / 1000


def test_a_leader_gives_what_lags_its_share_and_what_is_in_sync_everything() -> None:
    node = Node(1)
    node.place(1, isr=(1, 3))
    node.image.configs[(ResourceType.TOPIC, TOPIC)] = {"leader.replication.throttled.replicas": "*"}
    node.image.configs[(ResourceType.BROKER, "1")] = {"leader.replication.throttled.rate": "30"}
    node.run(node.replication.apply_delta(ImageDelta(topic_configs_changed=(TOPIC,)), node.now))
    node.append(count=6)
    first = node.replies[node.fetch({0: 0}, size=50)]
    assert len(items(first)[0].records) == 50
    ticket = node.fetch({0: 5}, session=(first.session_id, 1), wait_ms=5_000)
    node.wait(100)
    assert ticket not in node.replies
    assert len(items(node.replies[node.fetch({0: 0}, broker=3)])[0].records) == 60
    node.wait(600)
    assert len(items(node.replies[ticket])[0].records) == 10
