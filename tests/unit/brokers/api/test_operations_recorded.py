"""Every API is in exactly one list: it changes nothing, the operator log has what it changes, or why it has not."""

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, get_args

import pytest

from brokers.api import (
    alter_configs,
    alter_replica_log_dirs,
    create_partitions,
    create_topics,
    delete_groups,
    delete_records,
    delete_topics,
    incremental_alter_configs,
    join_group,
    leave_group,
    offset_commit,
    offset_delete,
    sync_group,
    versions,
)
from brokers.events import Listener
from brokers.ids import OFFSETS_TOPIC
from brokers.metadata.commands.commands import Command
from brokers.metadata.commands.topic_commands import CreateTopics
from brokers.metadata.controller.operation_descriptions import described
from brokers.metadata.image.image import Operation
from brokers.metadata.requests.conversions import OWN_APIS
from brokers.security.origin import Origin
from brokers.wire.codec import API_NAMES
from brokers.wire.message import Message
from brokers.wire.messages.configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
    IncrementalAlterableConfig,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResource,
)
from brokers.wire.messages.group_admin import DeleteGroupsRequest
from brokers.wire.messages.group_offsets import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from brokers.wire.messages.groups import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    LeaveGroupRequest,
    MemberIdentity,
    SyncGroupRequest,
)
from brokers.wire.messages.log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from brokers.wire.messages.partition_offsets import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from brokers.wire.messages.topics import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
    DeleteTopicsRequest,
)
from tests.unit.brokers.api.several import Several
from tests.unit.brokers.api.test_broker_loggers import LOGGER, Levels

READS = {
    "Fetch", "ListOffsets", "Metadata", "OffsetFetch", "FindCoordinator", "DescribeGroups", "ListGroups", "ApiVersions",
    "OffsetForLeaderEpoch", "DescribeConfigs", "DescribeLogDirs", "ListPartitionReassignments", "DescribeCluster",
    "DescribeProducers", "DescribeTopicPartitions", "DescribeQuorum", "FetchSnapshot", "DescribeMirrors",
}  # fmt: skip
_CLIENTS = "clients' own work, as often as records"
_NODES = "nodes ask it of themselves, nobody asked for it"
EXEMPT: Mapping[str, str] = {
    "Produce": _CLIENTS,
    "InitProducerId": _CLIENTS,
    "JoinGroup": _CLIENTS,
    "SyncGroup": _CLIENTS,
    "Heartbeat": _CLIENTS,
    "LeaveGroup": "an administrator's removal of members looks as their own leaving does",
    **dict.fromkeys(
        (
            "Vote", "BeginQuorumEpoch", "EndQuorumEpoch", "UpdateRaftVoter", "AlterPartition", "BrokerRegistration",
            "BrokerHeartbeat", "ControllerRegistration", "AllocateProducerIds", "AssignReplicasToDirs",
        ),
        _NODES,
    ),
    "Envelope": "what it encloses is judged by itself",
    "AddRaftVoter": "recorded: tests/process/test_operators_day.py",
    "RemoveRaftVoter": "recorded: tests/process/test_operators_day.py",
    "UnregisterBroker": "recorded: test_operation_descriptions.py; a region of one broker has none to spare",
    "UpdateFeatures": "recorded: test_operation_log.py; a new region is at the highest levels",
    "ElectLeaders": "recorded: test_operation_descriptions.py; one replica has always been elected",
    "AlterPartitionReassignments": "recorded: test_operation_descriptions.py; one broker has nowhere to move to",
}  # fmt: skip


class Region(Several):
    """A lone node with a topic of two partitions, ten records in the first, and a group that has left."""

    def __init__(self) -> None:
        self.log_levels = Levels()
        super().__init__()
        self.create("orders", 2)
        self.create(OFFSETS_TOPIC, 1, cleanup_policy="compact")
        for _ in range(10):
            assert self.write("orders", 0, 10) == 0
        self.before = len(self.broker.view.image.operations)

    def new(self) -> list[Operation]:
        """What the log has of what was asked since."""
        self.wait(1)
        return list(self.broker.view.image.operations[self.before :])

    def group(self, name: str = "billing") -> None:
        """A consumer joins, and leaves."""
        protocol = JoinGroupRequestProtocol(name="range", metadata=bytes(10))
        join = JoinGroupRequest(
            group_id=name, session_timeout_ms=10_000, rebalance_timeout_ms=10_000, protocol_type="consumer",
            protocols=[protocol],
        )  # fmt: skip
        answer = self.start(join_group, 3, join)
        self.wait(10_000)
        joined = self.answers[answer]
        assert joined.error_code == 0, joined
        member = joined.member_id
        sync = SyncGroupRequest(group_id=name, generation_id=joined.generation_id, member_id=member)
        assert self.ask(sync_group, 2, sync).error_code == 0
        left = LeaveGroupRequest(group_id=name, members=[MemberIdentity(member_id=member)])
        assert self.ask(leave_group, 3, left).error_code == 0

    def commit(self, offset: int, group: str = "billing") -> None:
        """As an administrator, or a consumer that is no member."""
        item = OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
        topic = OffsetCommitRequestTopic(name="orders", partitions=[item])
        answer = self.ask(offset_commit, 7, OffsetCommitRequest(group_id=group, topics=[topic]))
        assert answer.topics[0].partitions[0].error_code == 0, answer


def _create(region: Region) -> None:
    region.create("more")


def _delete(region: Region) -> None:
    region.ask(delete_topics, 5, DeleteTopicsRequest(topic_names=["orders"], timeout_ms=1000))


def _grow(region: Region) -> None:
    grown = CreatePartitionsTopic(name="orders", count=3, assignments=None)
    region.ask(create_partitions, 3, CreatePartitionsRequest(topics=[grown], timeout_ms=1000))


def _alter(region: Region) -> None:
    entry = AlterableConfig(name="retention.ms", value="5")
    resource = AlterConfigsResource(resource_type=2, resource_name="orders", configs=[entry])
    region.ask(alter_configs, 2, AlterConfigsRequest(resources=[resource]))


def _incremental(kind: int, owner: str, name: str, value: str) -> Callable[[Region], None]:
    def ask(region: Region) -> None:
        entry = IncrementalAlterableConfig(name=name, config_operation=0, value=value)
        resource = IncrementalAlterConfigsResource(
            resource_type=kind, resource_name=owner, configs=[entry]
        )
        region.ask(
            incremental_alter_configs, 1, IncrementalAlterConfigsRequest(resources=[resource])
        )

    return ask


def _delete_records(region: Region) -> None:
    partition = DeleteRecordsPartition(partition_index=0, offset=4)
    topic = DeleteRecordsTopic(name="orders", partitions=[partition])
    region.ask(delete_records, 2, DeleteRecordsRequest(topics=[topic], timeout_ms=1000))


def _move(region: Region) -> None:
    topic = AlterReplicaLogDirTopic(name="orders", partitions=[0])
    dirs = [AlterReplicaLogDir(path="/b", topics=[topic])]
    region.ask(alter_replica_log_dirs, 2, AlterReplicaLogDirsRequest(dirs=dirs))


def _delete_group(region: Region) -> None:
    region.group()
    region.ask(delete_groups, 2, DeleteGroupsRequest(groups_names=["billing", "nobody"]))


def _delete_offsets(region: Region) -> None:
    region.commit(7, "standalone")
    partitions = [OffsetDeleteRequestPartition(partition_index=index) for index in (0, 1)]
    topic = OffsetDeleteRequestTopic(name="orders", partitions=partitions)
    region.ask(offset_delete, 0, OffsetDeleteRequest(group_id="standalone", topics=[topic]))


def _reset(region: Region) -> None:
    region.group()
    region.commit(7)


RECORDED: tuple[tuple[ModuleType, Callable[[Region], None], str, str], ...] = (
    (create_topics, _create, "topic:more", "more: partitions 1, replication factor 1"),
    (delete_topics, _delete, "topic:orders", ""),
    (create_partitions, _grow, "topic:orders", "orders to 3 partitions"),
    (alter_configs, _alter, "topic:orders", "retention.ms=5"),
    (incremental_alter_configs, _incremental(2, "orders", "retention.ms", "6"), "topic:orders", "retention.ms=6"),
    (
        incremental_alter_configs, _incremental(LOGGER, "1", "brokers", "DEBUG"), "broker-logger:1",
        "brokers=DEBUG",
    ),
    (delete_records, _delete_records, "topic:orders", "orders-0 below 4"),
    (alter_replica_log_dirs, _move, "topic:orders", "orders-0 to /b"),
    (delete_groups, _delete_group, "group:billing", ""),
    (offset_delete, _delete_offsets, "group:standalone", "orders-0 at 7"),
    (offset_commit, _reset, "group:billing", "orders-0 to 7"),
)  # fmt: skip


def test_every_api_changes_nothing_or_is_recorded_or_says_why_not() -> None:
    keys = {*versions.advertised(Listener.DATA), *versions.advertised(Listener.CONTROLLER)}
    names = sorted(API_NAMES[key] for key in keys)
    recorded = {API_NAMES[api.KEY] for api, *_ in RECORDED}
    assert sorted([*READS, *EXEMPT, *recorded]) == names, "an API is in no list, or in two"
    assert all(len(reason) > 20 for reason in EXEMPT.values())


def test_commands_of_links_are_recorded_by_what_an_operator_asked_of_them() -> None:
    """Beside the controller's own: nodes submit them for links, whose administration writes the log."""
    of_links = {conversion.command for conversion in OWN_APIS.values()}
    of_nodes = {
        "RegisterBroker", "BrokerHeartbeat", "FenceBroker", "RegisterController", "AlterPartition", "BalanceLeaders",
        "AssignReplicasToDirs", "AllocateProducerIds",
    }  # fmt: skip
    asked_for = {
        "CreateTopics", "DeleteTopics", "CreatePartitions", "AlterConfigs", "ElectLeaders",
        "AlterPartitionReassignments", "UnregisterBroker", "UpdateFeatures",
    }  # fmt: skip
    names = {each.__name__ for each in get_args(Command)}
    assert names == of_nodes | asked_for | {each.__name__ for each in of_links}
    assert described(Origin("User:a", None, "h"), CreateTopics(()), ()) is not None


@pytest.mark.parametrize(
    ("api", "change", "resource", "details"),
    RECORDED,
    ids=[f"{API_NAMES[api.KEY]}-{resource}" for api, _, resource, _ in RECORDED],
)
def test_what_a_client_changes_is_in_the_operator_log(
    api: ModuleType, change: Callable[[Region], None], resource: str, details: str
) -> None:
    region = Region()
    change(region)
    (operation,) = region.new()
    assert operation.operation == API_NAMES[api.KEY]
    assert [":".join(each) for each in operation.resources] == [resource]
    assert operation.details == details
    assert operation.origin.host == "127.0.0.1"


def test_a_trial_and_what_changes_nothing_are_not_recorded() -> None:
    region = Region()
    region.ask(delete_groups, 2, DeleteGroupsRequest(groups_names=["nobody"]))
    partition = DeleteRecordsPartition(partition_index=0, offset=0)
    topics = [DeleteRecordsTopic(name="orders", partitions=[partition])]
    region.ask(delete_records, 2, DeleteRecordsRequest(topics=topics, timeout_ms=1000))
    entry = IncrementalAlterableConfig(name="brokers", config_operation=0, value="DEBUG")
    resource = IncrementalAlterConfigsResource(
        resource_type=LOGGER, resource_name="1", configs=[entry]
    )
    trial: Message = IncrementalAlterConfigsRequest(resources=[resource], validate_only=True)
    region.ask(incremental_alter_configs, 1, trial)
    assert region.new() == []


def test_a_standalone_consumers_commits_are_recorded_only_where_they_go_back() -> None:
    region = Region()
    for offset in (1, 2, 9):
        region.commit(offset, "standalone")
    assert region.new() == []
    region.commit(3, "standalone")
    (operation,) = region.new()
    assert operation.details == "orders-0 to 3 from 9"


def test_what_streams_deletes_of_its_repartition_topics_is_not_recorded() -> None:
    region = Region()
    region.create("app-sum-repartition")
    assert region.write("app-sum-repartition", 0, 10) == 0
    before: Any = len(region.new())
    partition = DeleteRecordsPartition(partition_index=0, offset=-1)
    topics = [DeleteRecordsTopic(name="app-sum-repartition", partitions=[partition])]
    answer = region.ask(delete_records, 2, DeleteRecordsRequest(topics=topics, timeout_ms=1000))
    assert answer.topics[0].partitions[0].low_watermark == 1
    assert len(region.new()) == before
