"""The operator who elects uncleanly leaves alone whatever the region can mend by itself."""

from typing import Any

import pytest

from brokers.errors import KafkaError
from brokers.wire.messages.metadata import DescribeTopicPartitionsResponsePartition
from tests.sim.regions.rescue import is_deserted


def told(leader: int = -1, **members: Any) -> DescribeTopicPartitionsResponsePartition:
    error = KafkaError.NONE if leader >= 0 else KafkaError.LEADER_NOT_AVAILABLE
    none: dict[str, Any] = {"isr_nodes": [], "eligible_leader_replicas": [], "last_known_elr": []}
    return DescribeTopicPartitionsResponsePartition(
        error_code=error, leader_id=leader, **{**none, **members}
    )


def test_a_partition_that_nobody_may_lead_is_deserted() -> None:
    assert is_deserted(told())


@pytest.mark.parametrize("member", ["isr_nodes", "eligible_leader_replicas", "last_known_elr"])
def test_a_partition_that_waits_for_somebody_is_not(member: str) -> None:
    assert not is_deserted(told(**{member: [2]}))


def test_a_partition_that_is_led_is_not() -> None:
    assert not is_deserted(told(leader=1))
