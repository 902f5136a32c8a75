"""`causeway region` while replicas are on the move: what is on its way is not yet missed, as in Kafka's own tools."""

import json
from typing import Any

from brokers.wire.messages.cluster import DescribeClusterResponse
from brokers.wire.messages.metadata import DescribeTopicPartitionsResponse
from brokers.wire.messages.replication import (
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from tests.unit.federation.commands.broker_double import Answers, broker_double
from tests.unit.federation.commands.region.test_view import configs, partition, topic

ORDERS = topic(
    "orders",
    partition(0, 1, [3, 1, 2], [1, 2]),
    partition(1, 1, [3, 1, 2], [1]),
    partition(2, 1, [1, 2], [1, 2]),
)


def moving(_: Any) -> ListPartitionReassignmentsResponse:
    """3 is to have what 1 and 2 have."""
    partitions = [
        OngoingPartitionReassignment(
            partition_index=index, replicas=[3, 1, 2], adding_replicas=[3], removing_replicas=[]
        )
        for index in (0, 1)
    ]
    return ListPartitionReassignmentsResponse(
        topics=[OngoingTopicReassignment(name="orders", partitions=partitions)]
    )


def silent(_: Any) -> ListPartitionReassignmentsResponse:
    raise ConnectionAbortedError


REGION: Answers = {
    60: (2, lambda _: DescribeClusterResponse(cluster_id="region-one", controller_id=1)),
    32: (4, configs),
    75: (0, lambda _: DescribeTopicPartitionsResponse(topics=[ORDERS])),
}


PROMOTED = topic("seen", partition(0, 1, [1, 2], [1, 2]), partition(1, 2, [1, 2], [2]))


def under_replicated(answers: Answers) -> list[Any]:
    with broker_double(answers) as broker:
        ran = broker.run("region", "partitions", "--under-replicated", "--json")
    assert ran.exit_code == 0, ran.output
    return list(json.loads(ran.stdout)["partitions"])


def test_a_replica_that_is_being_added_is_not_missed() -> None:
    (found,) = under_replicated({**REGION, 46: (0, moving)})
    assert (found["partition"], found["adding"]) == (1, [3]), "2 is, which had been in sync"


def test_where_nobody_tells_what_moves_every_replica_is_missed() -> None:
    for answers in (REGION, {**REGION, 46: (0, silent)}):
        found = under_replicated(answers)
        assert [(each["partition"], each["adding"]) for each in found] == [(0, []), (1, [])]


def test_an_observer_that_is_promoted_does_not_hide_who_is_gone() -> None:
    """As the metric of the brokers counts; `seen` has one replica and one observer, which comes last."""
    told = DescribeTopicPartitionsResponse(topics=[PROMOTED])
    found = under_replicated({**REGION, 75: (0, lambda _: told)})
    assert [(each["partition"], each["state"]) for each in found] == [(1, "under-replicated")]
