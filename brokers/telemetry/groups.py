"""Consumer groups: Kafka's MBeans kafka.coordinator.group:type=GroupMetadataManager (how many, by state) and
kafka.server:type=group-coordinator-metrics (how long their partitions took to load)."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from brokers.coordinator.runtime import CoordinatorRuntime
from brokers.groups.group_coordinator import GroupCoordinator
from brokers.groups.group_state import GroupState
from brokers.ids import Instant
from brokers.telemetry.exposition import head, sample

_NUMBER: Final = "kafka_coordinator_group_groupmetadatamanager_num"
LOAD_TIME: Final = "kafka_server_group_coordinator_metrics_partition_load_time"


def groups_text(runtime: CoordinatorRuntime[GroupCoordinator], now: Instant) -> Iterator[str]:
    yield from _numbers(runtime.coordinator)
    taken = runtime.load_times.recent(now)
    about = "ms that a partition of __consumer_offsets took to load, of those of the last 30 s: the"
    yield _gauge(f"{LOAD_TIME}_max", f"{about} longest", max(taken, default=0))
    yield _gauge(f"{LOAD_TIME}_avg", f"{about} mean", sum(taken) / len(taken) if taken else 0)


def _numbers(coordinator: GroupCoordinator) -> Iterator[str]:
    """Of groups that this node coordinates."""
    counts = Counter(group.state for group in coordinator.list_groups().groups)
    yield _gauge(f"{_NUMBER}groups", "Groups coordinated here", counts.total())
    for state in (
        each for each in GroupState if each is not GroupState.DEAD
    ):  # dead groups are not kept
        about = f"Groups coordinated here in state {state.value}"
        yield _gauge(f"{_NUMBER}groups{state.value.lower()}", about, counts[state])


def _gauge(name: str, about: str, value: float) -> str:
    return head(name, "gauge", about) + sample(name, value)
