"""Consumer groups, by state: Kafka's MBean kafka.coordinator.group:type=GroupMetadataManager."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from brokers.groups.group_coordinator import GroupCoordinator
from brokers.groups.group_state import GroupState
from brokers.telemetry.exposition import head, sample

_PREFIX: Final = "kafka_coordinator_group_groupmetadatamanager_num"


def groups_text(coordinator: GroupCoordinator) -> Iterator[str]:
    """The numbers of groups that this node coordinates."""
    counts = Counter(group.state for group in coordinator.list_groups().groups)
    yield _gauge("groups", "Groups coordinated here", counts.total())
    for state in (
        each for each in GroupState if each is not GroupState.DEAD
    ):  # dead groups are not kept
        about = f"Groups coordinated here in state {state.value}"
        yield _gauge(f"groups{state.value.lower()}", about, counts[state])


def _gauge(name: str, about: str, value: int) -> str:
    return head(_PREFIX + name, "gauge", about) + sample(_PREFIX + name, value)
