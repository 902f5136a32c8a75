"""Groups with their members, from their coordinators: classic ones, and those of the protocol of KIP-848.

Brokers describe each type by a request of its own, and Apache Kafka calls a group dead where it is asked by the other.
"""

from typing import Any, Final, NamedTuple

from brokers.errors import KafkaError, error_from_code
from brokers.ids import TopicPartition
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.group_admin import (
    ConsumerGroupDescribeRequest,
    DescribeGroupsRequest,
)
from federation.commands.answers import Failure
from federation.commands.group.assignment import assigned_partitions
from federation.commands.group.brokers import RegionBrokers
from federation.commands.group.requests import ListedGroup, list_groups

DEAD, EMPTY, CONSUMER = "Dead", "Empty", "consumer"
_TYPES: Final = (None, "classic", "consumer")  # in lower case; None where the broker tells none
_NOT_FOUND: Final = (KafkaError.GROUP_ID_NOT_FOUND, KafkaError.UNSUPPORTED_VERSION)


class Member(NamedTuple):
    """`partitions` are None where the group's protocol is not Kafka's for consumers."""

    member_id: str
    instance_id: str | None
    client_id: str
    host: str
    partitions: list[TopicPartition] | None


class Group(NamedTuple):
    """`protocol` is the assignment strategy."""

    name: str
    state: str
    protocol_type: str
    protocol: str
    coordinator: int
    members: list[Member]


def _has_offsets(group: ListedGroup) -> bool:
    """Whether it is of a type that commits offsets as this package reads and moves them."""
    return (group.type and group.type.lower()) in _TYPES


def all_groups(brokers: RegionBrokers) -> list[str]:
    """Those whose offsets these commands know."""
    return [each.group for each in list_groups(brokers) if _has_offsets(each)]


def describe_group(brokers: RegionBrokers, name: str) -> Group:
    """A group that does not exist is Dead. Raises Failure for one of a type that has neither protocol."""
    found = _classic_group(brokers, name)
    if found.state != DEAD:
        return found
    consumer_group = _consumer_group(brokers, name)
    if consumer_group is None:
        _check_type(brokers, name)
    return consumer_group or found


def _classic_group(brokers: RegionBrokers, name: str) -> Group:
    answer, coordinator = brokers.ask_coordinator(
        name,
        lambda client: client.ask(ApiKey.DESCRIBE_GROUPS, DescribeGroupsRequest(groups=[name])),
        lambda answer: answer.groups[0].error_code,
    )
    (found,) = answer.groups
    _check(name, found.error_code, KafkaError.GROUP_ID_NOT_FOUND)
    return Group(
        name,
        DEAD if found.error_code else found.group_state,
        found.protocol_type,
        found.protocol_data,
        coordinator,
        [_classic_member(found, each) for each in found.members],
    )


def _classic_member(group: Any, member: Any) -> Member:
    is_readable = group.protocol_type == CONSUMER
    partitions = assigned_partitions(member.member_assignment) if is_readable else None
    return Member(
        member.member_id, member.group_instance_id, member.client_id, member.client_host, partitions
    )


def _consumer_group(brokers: RegionBrokers, name: str) -> Group | None:
    """None where there is no such group of this type."""

    def ask(client: Any) -> Any:
        if not client.serves(ApiKey.CONSUMER_GROUP_DESCRIBE):
            return None
        request = ConsumerGroupDescribeRequest(group_ids=[name])
        return client.ask(ApiKey.CONSUMER_GROUP_DESCRIBE, request)

    answer, coordinator = brokers.ask_coordinator(
        name, ask, lambda answer: answer.groups[0].error_code if answer else KafkaError.NONE
    )
    if answer is None:
        return None
    (found,) = answer.groups
    _check(name, found.error_code, *_NOT_FOUND)
    if found.error_code:
        return None
    members = [_consumer_member(each) for each in found.members]
    return Group(name, found.group_state, CONSUMER, found.assignor_name, coordinator, members)


def _consumer_member(member: Any) -> Member:
    partitions = sorted(
        TopicPartition(topic.topic_name, index)
        for topic in member.assignment.topic_partitions
        for index in topic.partitions
    )
    return Member(
        member.member_id, member.instance_id, member.client_id, member.client_host, partitions
    )


def _check(name: str, error: int, *others: KafkaError) -> None:
    if error and error not in others:
        raise Failure(f"{name}: {error_from_code(error).name}", hint="look at the broker's log")


def _check_type(brokers: RegionBrokers, name: str) -> None:
    """Share groups (KIP-932) and Streams groups (KIP-1071) are neither."""
    found = next((each for each in list_groups(brokers) if each.group == name), None)
    if found and not _has_offsets(found):
        raise Failure(
            f"{name} is of type {found.type}, and this command knows Classic and Consumer groups only",
            hint="use the tools of Apache Kafka for it",
        )
