"""The Kafka requests about groups and the offsets of partitions."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from brokers.errors import KafkaError, error_from_code
from brokers.ids import Offset, TopicPartition
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.group_admin import (
    DeleteGroupsRequest,
    ListGroupsRequest,
)
from brokers.wire.messages.group_offsets import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
)
from brokers.wire.messages.partition_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from federation.commands.answers import Failure
from federation.commands.group.brokers import RegionBrokers

LATEST, EARLIEST = -1, -2
NO_OFFSET: Final = -1
_TIMEOUT_MS: Final = 20_000
# Versions that name topics by their ids are not needed: what has an offset may have no topic any more.
_COMMIT_BY_NAME: Final = 9
_FETCH_BY_NAME: Final = 9
_FETCH_MANY_FROM: Final = 8  # version of OffsetFetch (KIP-709)
_STATES_FROM, _TYPES_FROM = 4, 5  # versions of ListGroups (KIP-518, KIP-848)


class ListedGroup(NamedTuple):
    """`state` and `type` are None where the broker does not report them."""

    group: str
    protocol_type: str
    state: str | None
    type: str | None
    coordinator: int


def list_groups(
    brokers: RegionBrokers, states: Sequence[str] = (), types: Sequence[str] = ()
) -> list[ListedGroup]:
    """All groups, each from its coordinator. Raises Failure where a broker refuses."""
    found: list[ListedGroup] = []
    for broker, address in sorted(brokers.addresses().items()):
        client = brokers.at(*address)
        version = client.version(ApiKey.LIST_GROUPS)
        if (states and version < _STATES_FROM) or (types and version < _TYPES_FROM):
            raise Failure(
                f"broker {broker} does not filter groups", hint="leave --state and --type out"
            )
        request = ListGroupsRequest(states_filter=list(states), types_filter=list(types))
        answer = client.ask(ApiKey.LIST_GROUPS, request)
        if answer.error_code:
            raise Failure(
                f"broker {broker} does not list its groups: {error_from_code(answer.error_code).name}",
                hint="try again: the groups of a broker that starts are loaded first",
            )
        found += [
            ListedGroup(
                each.group_id,
                each.protocol_type,
                each.group_state or None,
                each.group_type or None,
                broker,
            )
            for each in answer.groups
        ]
    return sorted(found)


def committed_offsets(brokers: RegionBrokers, group: str) -> dict[TopicPartition, Offset]:
    """Every offset that the group has committed. Raises Failure."""

    def fetch(client: Any) -> Any:
        if client.version(ApiKey.OFFSET_FETCH) >= _FETCH_MANY_FROM:
            asked = OffsetFetchRequest(
                groups=[OffsetFetchRequestGroup(group_id=group, topics=None)]
            )
            return client.ask(ApiKey.OFFSET_FETCH, asked, _FETCH_BY_NAME).groups[0]
        asked = OffsetFetchRequest(group_id=group, topics=None)
        return client.ask(ApiKey.OFFSET_FETCH, asked)

    answer, _ = brokers.ask_coordinator(group, fetch, lambda answer: answer.error_code)
    if answer.error_code not in (KafkaError.NONE, KafkaError.GROUP_ID_NOT_FOUND):
        raise Failure(
            f"the offsets of {group}: {error_from_code(answer.error_code).name}",
            hint="look at the broker's log",
        )
    return {
        TopicPartition(topic.name, each.partition_index): each.committed_offset
        for topic in answer.topics
        for each in topic.partitions
        if each.committed_offset != NO_OFFSET
    }


def log_offsets(
    brokers: RegionBrokers, partitions: Iterable[TopicPartition], timestamp: int
) -> tuple[dict[TopicPartition, Offset], dict[TopicPartition, str]]:
    """The offset at a time, or LATEST or EARLIEST; and why there is none, for the partitions that do not tell."""
    wanted = list(partitions)
    leaders, addresses = brokers.leaders(name.topic for name in wanted)
    silent: dict[TopicPartition, str] = {}
    by_leader: dict[int, list[TopicPartition]] = defaultdict(list)
    for name in wanted:
        leader = leaders.get(name)
        if leader is None:
            silent[name] = KafkaError.UNKNOWN_TOPIC_OR_PARTITION.name
        elif leader not in addresses:
            silent[name] = KafkaError.LEADER_NOT_AVAILABLE.name
        else:
            by_leader[leader].append(name)
    found: dict[TopicPartition, Offset] = {}
    for leader, names in by_leader.items():
        request = ListOffsetsRequest(
            replica_id=-1,
            timeout_ms=_TIMEOUT_MS,
            topics=_by_topic(
                names,
                lambda topic, items: ListOffsetsTopic(name=topic, partitions=items),
                lambda name: ListOffsetsPartition(
                    partition_index=name.partition, timestamp=timestamp
                ),
            ),
        )
        answer = brokers.at(*addresses[leader]).ask(ApiKey.LIST_OFFSETS, request)
        for topic in answer.topics:
            for each in topic.partitions:
                name = TopicPartition(topic.name, each.partition_index)
                if each.error_code:
                    silent[name] = error_from_code(each.error_code).name
                else:
                    found[name] = each.offset
    return found, silent


def commit_offsets(
    brokers: RegionBrokers, group: str, offsets: Mapping[TopicPartition, Offset]
) -> dict[TopicPartition, int]:
    """Commits as an administrator, who is no member: refused while the group has any. Returns what was refused."""
    request = OffsetCommitRequest(
        group_id=group,
        topics=_by_topic(
            offsets,
            lambda topic, items: OffsetCommitRequestTopic(name=topic, partitions=items),
            lambda name: OffsetCommitRequestPartition(
                partition_index=name.partition, committed_offset=offsets[name]
            ),
        ),
    )
    answer, _ = brokers.ask_coordinator(
        group,
        lambda client: client.ask(ApiKey.OFFSET_COMMIT, request, _COMMIT_BY_NAME),
        _first_error,
    )
    return _refused(answer.topics)


def delete_group(brokers: RegionBrokers, group: str) -> int:
    """The error, 0 for none."""
    request = DeleteGroupsRequest(groups_names=[group])
    answer, _ = brokers.ask_coordinator(
        group,
        lambda client: client.ask(ApiKey.DELETE_GROUPS, request),
        lambda answer: answer.results[0].error_code,
    )
    return int(answer.results[0].error_code)


def delete_offsets(
    brokers: RegionBrokers, group: str, partitions: Sequence[TopicPartition]
) -> tuple[int, dict[TopicPartition, int]]:
    """The error of the request as a whole, and the partitions that are refused."""
    request = OffsetDeleteRequest(
        group_id=group,
        topics=_by_topic(
            partitions,
            lambda topic, items: OffsetDeleteRequestTopic(name=topic, partitions=items),
            lambda name: OffsetDeleteRequestPartition(partition_index=name.partition),
        ),
    )
    answer, _ = brokers.ask_coordinator(
        group,
        lambda client: client.ask(ApiKey.OFFSET_DELETE, request),
        lambda answer: answer.error_code or _first_error(answer),
    )
    return int(answer.error_code), _refused(answer.topics)


def _by_topic(
    names: Iterable[TopicPartition],
    make_topic: Callable[[str, list[Any]], Any],
    make_partition: Callable[[TopicPartition], Any],
) -> list[Any]:
    found: dict[str, list[Any]] = defaultdict(list)
    for name in names:
        found[name.topic].append(make_partition(name))
    return [make_topic(topic, items) for topic, items in found.items()]


def _refused(topics: Iterable[Any]) -> dict[TopicPartition, int]:
    return {
        TopicPartition(topic.name, each.partition_index): each.error_code
        for topic in topics
        for each in topic.partitions
        if each.error_code
    }


def _first_error(answer: Any) -> int:
    return next(iter(_refused(answer.topics).values()), 0)
