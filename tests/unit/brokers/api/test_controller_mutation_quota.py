"""How many partitions are created at the request of Metadata requests, and what becomes of the rest."""

import pytest

from brokers.api import metadata
from brokers.api.controller_mutation_quota import ControllerMutationQuota
from brokers.config.broker_config import BrokerConfig, from_settings
from brokers.effects import Changed
from brokers.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.unit.brokers.api.asking import Node

UNKNOWN_TOPIC = 3


def config(rate: int, partitions: int = 2) -> BrokerConfig:
    return from_settings(
        {
            "node.id": 1,
            "log.dirs": "data",
            "num.partitions": partitions,
            "auto.create.topics.mutation.rate": rate,
            "controller.quota.window.num": 2,
            "controller.quota.window.size.seconds": 3,
        }
    )


def ask(node: Node, *names: str) -> dict[str, int]:
    """The error of each topic."""
    topics = [MetadataRequestTopic(name=name) for name in names]
    answer = node.ask(metadata, 8, MetadataRequest(topics=topics, allow_auto_topic_creation=True))
    return {each.name: each.error_code for each in answer.topics}


def test_a_window_of_tokens_is_there_at_first_and_fills_at_the_rate() -> None:
    quota = ControllerMutationQuota(10, window_seconds=6)
    assert [quota.take(25, 0) for _ in range(4)] == [True, True, True, False], (
        "the third took 15 too many"
    )
    assert not quota.take(1, 1_500), "15 are owed"
    assert quota.take(1, 1_600)
    assert not quota.take(1, 1_600)
    assert [quota.take(60, 1_000_000), quota.take(1, 1_000_000)] == [True, False], (
        "no more than the window"
    )


def test_a_clock_that_steps_back_gives_and_takes_nothing() -> None:
    quota = ControllerMutationQuota(1, window_seconds=1)
    assert quota.take(1, 5_000)
    assert not quota.take(1, 1_000)
    assert quota.take(1, 2_000)


def test_without_a_limit_all_is_granted() -> None:
    quota = ControllerMutationQuota(None, window_seconds=1)
    assert all(quota.take(1_000_000, 0) for _ in range(3))


def test_topics_beyond_the_quota_stay_unknown_and_the_operator_is_told_once() -> None:
    node = Node(config(rate=1))
    errors = ask(node, "a", "b", "c", "d", "e")
    assert [name for name, error in errors.items() if error == UNKNOWN_TOPIC] == ["d", "e"]
    assert sorted(node.image.topics_by_name) == ["a", "b", "c"], "6 partitions, of 1 x 2 x 3"
    assert ask(node, "a", "d") == {"a": errors["a"], "d": UNKNOWN_TOPIC}
    assert node.changes == [
        Changed("auto-creation of topics", "throttled", "auto.create.topics.mutation.rate allows 1 partitions a second")
    ]  # fmt: skip


@pytest.mark.parametrize("rate", [0, -1])
def test_a_rate_of_0_creates_none_but_internal_topics_and_one_below_it_any(rate: int) -> None:
    node = Node(config(rate))
    ask(node, "__consumer_offsets", *(f"t-{number}" for number in range(20)))
    assert len(node.image.topics_by_name) == (1 if rate == 0 else 21)
    assert "__consumer_offsets" in node.image.topics_by_name
