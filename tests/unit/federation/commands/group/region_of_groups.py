"""A region of one broker that coordinates groups, as far as `causeway group` asks."""

import json
from typing import Any

from brokers.ids import TopicPartition
from brokers.wire.messages.cluster import DescribeClusterBroker, DescribeClusterResponse
from brokers.wire.messages.group_admin import (
    ConsumerGroupAssignment,
    ConsumerGroupDescribeResponse,
    ConsumerGroupDescription,
    ConsumerGroupMember,
    ConsumerGroupTopicPartitions,
    DeletableGroupResult,
    DeleteGroupsResponse,
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsResponse,
    ListedGroup,
    ListGroupsResponse,
)
from brokers.wire.messages.group_offsets import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from brokers.wire.messages.groups import Coordinator, FindCoordinatorResponse
from brokers.wire.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from brokers.wire.messages.partition_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from tests.unit.federation.commands.broker_double import BrokerDouble, broker_double
from tests.unit.federation.commands.group.test_assignment import assignment

NOT_COORDINATOR, NON_EMPTY, NOT_FOUND, SUBSCRIBED = 16, 68, 69, 86
LATEST, EARLIEST = -1, -2
ENDS, AT_TIME = {0: 100, 1: 40}, {0: 60, 1: -1}
STATES = {"billing": "Empty", "live": "Stable"}
LISTED = [(*each, "Classic") for each in STATES.items()] + [
    ("next", "Stable", "Consumer"),
    ("shared", "Stable", "Share"),
]
COMMITTED = {"billing": {0: 90}, "live": {0: 100, 1: 10}, "next": {1: 30}}


class Region:
    """One broker, which coordinates `billing` (empty) and `live` (a member), and leads both partitions of `orders`.

    Unless it is old it has `next`, a group of the protocol of KIP-848, and `shared`, a share group.
    """

    def __init__(self, *, is_old: bool = False) -> None:
        self.changes: list[Any] = []
        self.moves = 0  # how often the coordinator is about to move
        self._old = is_old
        self._broker: BrokerDouble

    def run(self, *arguments: str) -> Any:
        newest = (
            {10: 3, 9: 7, 8: 7, 15: 4, 16: 3} if self._old else {10: 6, 9: 10, 8: 10, 15: 6, 16: 5}
        )
        answers = {
            60: (1, self._cluster), 3: (12, self._metadata), 2: (9, self._list_offsets),
            10: (newest[10], self._find), 15: (newest[15], self._describe), 16: (newest[16], self._list),
            9: (newest[9], self._fetch), 8: (newest[8], self._commit), 42: (2, self._delete), 47: (0, self._forget),
        }  # fmt: skip
        if not self._old:
            answers[69] = (1, self._describe_consumer_group)
        with broker_double(answers) as self._broker:
            return self._broker.run("group", *arguments)

    def told(self, *arguments: str, exit_code: int = 0) -> Any:
        ran = self.run(*arguments, "--json")
        assert ran.exit_code == exit_code, ran.output
        return json.loads(ran.stdout)

    @property
    def _port(self) -> int:
        return int(self._broker.bootstrap.rpartition(":")[2])

    def _cluster(self, request: Any) -> DescribeClusterResponse:
        broker = DescribeClusterBroker(broker_id=1, host="127.0.0.1", port=self._port)
        return DescribeClusterResponse(cluster_id="c", controller_id=1, brokers=[broker])

    def _metadata(self, request: Any) -> MetadataResponse:
        topics = [
            MetadataResponseTopic(
                name=each.name,
                error_code=0 if each.name == "orders" else 3,
                partitions=[
                    MetadataResponsePartition(partition_index=index, leader_id=1)
                    for index in (ENDS if each.name == "orders" else ())
                ],
            )
            for each in request.topics
        ]
        broker = MetadataResponseBroker(node_id=1, host="127.0.0.1", port=self._port)
        return MetadataResponse(brokers=[broker], topics=topics)

    def _list_offsets(self, request: Any) -> ListOffsetsResponse:
        def offset(asked: Any) -> int:
            known = {LATEST: ENDS, EARLIEST: {0: 20, 1: 0}}.get(asked.timestamp, AT_TIME)
            return known[asked.partition_index]

        return ListOffsetsResponse(
            topics=[
                ListOffsetsTopicResponse(
                    name=topic.name,
                    partitions=[
                        ListOffsetsPartitionResponse(
                            partition_index=each.partition_index, offset=offset(each)
                        )
                        for each in topic.partitions
                    ],
                )
                for topic in request.topics
            ]
        )

    def _find(self, request: Any) -> FindCoordinatorResponse:
        at = {"node_id": 1, "host": "127.0.0.1", "port": self._port, "error_message": None}
        if not request.coordinator_keys:
            return FindCoordinatorResponse(**at)
        return FindCoordinatorResponse(
            coordinators=[Coordinator(key=request.coordinator_keys[0], **at)]
        )

    def _describe(self, request: Any) -> DescribeGroupsResponse:
        (name,) = request.groups
        if self.moves:
            self.moves -= 1
            return DescribeGroupsResponse(
                groups=[DescribedGroup(group_id=name, error_code=NOT_COORDINATOR)]
            )
        if name not in STATES:
            error = 0 if self._old else NOT_FOUND
            dead = DescribedGroup(group_id=name, group_state="Dead", error_code=error)
            return DescribeGroupsResponse(groups=[dead])
        member = DescribedGroupMember(
            member_id="m-1",
            client_id="app",
            client_host="/10.0.0.7",
            member_assignment=assignment(orders=[0, 1]),
        )
        described = DescribedGroup(
            group_id=name,
            group_state=STATES[name],
            protocol_type="consumer",
            protocol_data="range",
            members=[member] if name == "live" else [],
        )
        return DescribeGroupsResponse(groups=[described])

    def _describe_consumer_group(self, request: Any) -> ConsumerGroupDescribeResponse:
        (name,) = request.group_ids
        if name != "next":
            none = ConsumerGroupDescription(group_id=name, error_code=NOT_FOUND)
            return ConsumerGroupDescribeResponse(groups=[none])
        of_orders = ConsumerGroupTopicPartitions(topic_name="orders", partitions=[1, 0])
        member = ConsumerGroupMember(
            member_id="n-1",
            client_id="app",
            client_host="/10.0.0.8",
            assignment=ConsumerGroupAssignment(topic_partitions=[of_orders]),
        )
        described = ConsumerGroupDescription(
            group_id=name, group_state="Stable", assignor_name="uniform", members=[member]
        )
        return ConsumerGroupDescribeResponse(groups=[described])

    def _list(self, request: Any) -> ListGroupsResponse:
        return ListGroupsResponse(
            groups=[
                ListedGroup(group_id=name, protocol_type="consumer", group_state=state, group_type=kind)
                for name, state, kind in LISTED
                if not request.states_filter or state in request.states_filter
            ]
        )  # fmt: skip

    def _fetch(self, request: Any) -> OffsetFetchResponse:
        if not self._old:
            (asked,) = request.groups
            assert asked.topics is None
            partitions = [
                OffsetFetchResponsePartitions(partition_index=index, committed_offset=offset)
                for index, offset in COMMITTED.get(asked.group_id, {}).items()
            ]
            topics = [OffsetFetchResponseTopics(name="orders", partitions=partitions)]
            return OffsetFetchResponse(
                groups=[OffsetFetchResponseGroup(group_id=asked.group_id, topics=topics)]
            )
        assert request.topics is None
        old = [
            OffsetFetchResponsePartition(partition_index=index, committed_offset=offset)
            for index, offset in COMMITTED.get(request.group_id, {}).items()
        ]
        return OffsetFetchResponse(topics=[OffsetFetchResponseTopic(name="orders", partitions=old)])

    def _commit(self, request: Any) -> OffsetCommitResponse:
        assert (request.generation_id_or_member_epoch, request.member_id) == (-1, "")
        self.changes.append(
            {
                TopicPartition(topic.name, each.partition_index): each.committed_offset
                for topic in request.topics
                for each in topic.partitions
            }
        )
        return OffsetCommitResponse(
            topics=[
                OffsetCommitResponseTopic(
                    name=topic.name,
                    partitions=[
                        OffsetCommitResponsePartition(
                            partition_index=each.partition_index,
                            error_code=25 if request.group_id == "raced" else 0,
                        )
                        for each in topic.partitions
                    ],
                )
                for topic in request.topics
            ]
        )

    def _delete(self, request: Any) -> DeleteGroupsResponse:
        self.changes.append(request.groups_names)
        (name,) = request.groups_names
        error = {"billing": 0, "live": NON_EMPTY}.get(name, NOT_FOUND)
        return DeleteGroupsResponse(results=[DeletableGroupResult(group_id=name, error_code=error)])

    def _forget(self, request: Any) -> OffsetDeleteResponse:
        self.changes.append(request)
        error = SUBSCRIBED if request.group_id == "live" else 0
        return OffsetDeleteResponse(
            topics=[
                OffsetDeleteResponseTopic(
                    name=topic.name,
                    partitions=[
                        OffsetDeleteResponsePartition(
                            partition_index=each.partition_index, error_code=error
                        )
                        for each in topic.partitions
                    ],
                )
                for topic in request.topics
            ]
        )
