"""Who serves a group, in every version; and what is refused so that clients say why."""

import pytest

from brokers.api import find_coordinator
from brokers.errors import KafkaError
from brokers.ids import OFFSETS_TOPIC
from brokers.metadata.image.image import PartitionImage, TopicImage
from brokers.wire.messages.groups import FindCoordinatorRequest
from tests.unit.brokers.api.group_node import NO_ID, GroupNode

FIRST, LAST = find_coordinator.VERSIONS


def asked(version: int, key: str = "g", key_type: int = 0) -> FindCoordinatorRequest:
    if version >= 4:
        return FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key])
    return FindCoordinatorRequest(key=key, key_type=key_type)


def found(version: int, response):
    return response.coordinators[0] if version >= 4 else response


@pytest.mark.parametrize("version", range(FIRST, LAST + 1))
def test_a_group_is_served_by_the_leader_of_its_partition(version: int) -> None:
    node = GroupNode()
    answer = found(version, node.ask(find_coordinator, version, asked(version)))
    assert (answer.error_code, answer.node_id, answer.host, answer.port) == (0, 1, "here", 9092)


def test_many_keys_are_answered_in_order_and_none_is_fine() -> None:
    node = GroupNode()
    keys = ["b", "a", "", "b"]
    answer = node.ask(find_coordinator, 4, FindCoordinatorRequest(coordinator_keys=keys))
    assert [each.key for each in answer.coordinators] == keys
    assert {each.error_code for each in answer.coordinators} == {0}
    nothing = node.ask(find_coordinator, 4, FindCoordinatorRequest(coordinator_keys=[]))
    assert nothing.coordinators == []


@pytest.mark.parametrize("version", range(FIRST, LAST + 1))
def test_the_first_question_creates_the_topic_and_is_answered_when_it_is_there(
    version: int,
) -> None:
    node = GroupNode(has_offsets_topic=False)
    assert node.ask(find_coordinator, version, asked(version)) is None
    ((command, _),) = node.plane.proposed
    (item,) = command.items
    assert (item.name, item.partition_count) == (OFFSETS_TOPIC, 3)
    assert item.configs["cleanup.policy"] == "compact"
    answer = found(version, node.read(find_coordinator, version, node.decide()))
    assert (answer.error_code, answer.node_id) == (0, 1)


def test_a_topic_that_could_not_be_created_is_tried_again() -> None:
    node = GroupNode(has_offsets_topic=False)
    node.ask(find_coordinator, 4, asked(4))
    (_, token) = node.plane.proposed.pop()
    refused = node.wiring.controller.decided(token, None, node.world.now)
    (answer,) = node.read(find_coordinator, 4, refused).coordinators
    assert answer.error_code == KafkaError.COORDINATOR_NOT_AVAILABLE
    assert answer.node_id == -1
    assert OFFSETS_TOPIC in answer.error_message


def test_a_partition_without_a_leader_has_no_coordinator() -> None:
    node = GroupNode()
    leaderless = (PartitionImage(-1, 0, 0, (1,), ()),) * 3
    node.plane.image.topics_by_name[OFFSETS_TOPIC] = TopicImage(OFFSETS_TOPIC, NO_ID, leaderless)
    (answer,) = node.ask(find_coordinator, 4, asked(4)).coordinators
    assert answer.error_code == KafkaError.COORDINATOR_NOT_AVAILABLE


@pytest.mark.parametrize("version", range(1, LAST + 1))
@pytest.mark.parametrize(
    ("key_type", "error"),
    [
        (1, KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
        (2, KafkaError.INVALID_REQUEST),
        (-1, KafkaError.INVALID_REQUEST),
        (99, KafkaError.INVALID_REQUEST),
    ],
)
def test_what_does_not_exist_here_is_refused_for_good(
    version: int, key_type: int, error: KafkaError
) -> None:
    node = GroupNode(has_offsets_topic=False)
    answer = found(version, node.ask(find_coordinator, version, asked(version, key_type=key_type)))
    assert answer.error_code == error
    assert answer.error_message
    assert node.plane.proposed == []
