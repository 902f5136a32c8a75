"""A region as one of its brokers describes it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from uuid import UUID

import click

from federation.commands.region.quorum import QuorumInfo

NOBODY: Final = -1


@dataclass(frozen=True, slots=True)
class BrokerDescription:
    """`fenced` is None where nobody knows: no controller is active, or the responding broker does not report it
    (DescribeCluster before version 2)."""

    id: int
    host: str
    port: int
    rack: str | None
    fenced: bool | None

    @property
    def state(self) -> str:
        return "unknown" if self.fenced is None else "fenced" if self.fenced else "active"


@dataclass(frozen=True, slots=True)
class PartitionDescription:
    """`elr` are eligible leader replicas, None where the responding broker does not report them.

    `observers` is the number of `replicas` that are not meant to be in sync, None until it is known; `adding` are the
    replicas that a reassignment adds, which do not count as missing yet (as `kafka-topics` counts).
    """

    topic: str
    partition: int
    leader: int
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    elr: tuple[int, ...] | None = None
    offline_replicas: tuple[int, ...] = ()
    min_isr: int = 1
    observers: int | None = 0
    adding: tuple[int, ...] = ()

    @property
    def is_offline(self) -> bool:
        return self.leader == NOBODY

    @property
    def is_under_replicated(self) -> bool:
        stand_ins = self.observer_replicas
        return sum(member not in stand_ins for member in self.isr) < self._expected

    @property
    def observer_replicas(self) -> tuple[int, ...]:
        """The last replicas, unless a reassignment runs. A promoted observer replaces no missing replica."""
        return () if self.adding else self.replicas[len(self.replicas) - (self.observers or 0) :]

    @property
    def is_under_min_isr(self) -> bool:
        return len(self.isr) < min(self.min_isr, self._expected)

    @property
    def is_at_min_isr(self) -> bool:
        """One replica fewer, and producers with acks=all are refused."""
        return len(self.isr) == self.min_isr

    @property
    def _expected(self) -> int:
        """The number of replicas that are meant to be in sync."""
        return len(self.replicas) - len(self.adding) - (self.observers or 0)

    @property
    def state(self) -> str:
        """The worst condition of the partition."""
        if self.is_offline:
            return "offline"
        if self.is_under_min_isr:
            return "under-min-isr"
        return "under-replicated" if self.is_under_replicated else "ok"


@dataclass(frozen=True, slots=True)
class TopicDescription:
    name: str
    is_internal: bool
    partitions: tuple[PartitionDescription, ...]
    topic_id: UUID | None = None

    @property
    def replication(self) -> int:
        """The least number of replicas of any partition."""
        return min((len(each.replicas) for each in self.partitions), default=0)


@dataclass(frozen=True, slots=True)
class Tally:
    """Numbers of partitions: all of them, and those in each bad condition."""

    partitions: int
    offline: int
    under_min_isr: int
    under_replicated: int

    @property
    def is_well(self) -> bool:
        return self.offline == self.under_min_isr == self.under_replicated == 0


def tally(partitions: Iterable[PartitionDescription]) -> Tally:
    every = list(partitions)
    return Tally(
        len(every),
        sum(each.is_offline for each in every),
        sum(each.is_under_min_isr for each in every),
        sum(each.is_under_replicated for each in every),
    )


@dataclass(frozen=True, slots=True)
class RegionDescription:
    """`quorum` is None where it was not requested or not answered; `controller` is NOBODY where none is known."""

    cluster_id: str
    controller: int
    brokers: tuple[BrokerDescription, ...]
    quorum: QuorumInfo | None
    topics: tuple[TopicDescription, ...]

    @property
    def partitions(self) -> tuple[PartitionDescription, ...]:
        return tuple(partition for topic in self.topics for partition in topic.partitions)

    @property
    def is_well(self) -> bool:
        has_controller = self.controller != NOBODY
        any_fenced = any(each.fenced for each in self.brokers)
        is_safe = self.quorum is None or self.quorum.survives_a_loss
        return has_controller and is_safe and not any_fenced and tally(self.partitions).is_well

    def leads(self, broker: int) -> int:
        return sum(partition.leader == broker for partition in self.partitions)

    def holds(self, broker: int) -> int:
        return sum(broker in partition.replicas for partition in self.partitions)


@dataclass(frozen=True, slots=True)
class ShortTopic:
    """An internal topic with fewer replicas than it is `configured` to have and there are brokers for."""

    topic: str
    replicas: int
    configured: int


def short_of_replicas(found: RegionDescription, configured: Mapping[str, int]) -> list[ShortTopic]:
    """Internal topics with too few replicas; during a reassignment both the old and the new replicas count."""
    holders = sum(not broker.fenced for broker in found.brokers)
    least = {topic.name: topic.replication for topic in found.topics if topic.name in configured}
    return [
        ShortTopic(name, have, configured[name])
        for name, have in least.items()
        if have < min(configured[name], holders)
    ]


Filter: TypeAlias = str
FILTERS: Final = {
    "under-replicated": (
        "is_under_replicated",
        "With fewer replicas in sync than there should be.",
    ),
    "under-min-isr": ("is_under_min_isr", "With fewer in sync than min.insync.replicas."),
    "at-min-isr": ("is_at_min_isr", "With as many in sync as min.insync.replicas, and no more."),
    "offline": ("is_offline", "Without a leader."),
}
_OTHER_NAMES: Final = {"offline": "unavailable"}  # those of `kafka-topics`


def filter_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--under-replicated` and the other filters; the command gets those that are given as `wanted`.

    Each also has its name in `kafka-topics`, as `--under-replicated-partitions`.
    """
    for name, (_, about) in reversed(FILTERS.items()):
        names = f"--{name}", f"--{_OTHER_NAMES.get(name, name)}-partitions"
        command = click.option(*names, "wanted", flag_value=name, multiple=True, help=about)(
            command
        )
    return command


def matching(
    partitions: Iterable[PartitionDescription], wanted: Iterable[Filter]
) -> list[PartitionDescription]:
    """The partitions that match any of the filters; without filters, all."""
    properties = [FILTERS[name][0] for name in wanted]
    return [
        each
        for each in partitions
        if not properties or any(getattr(each, name) for name in properties)
    ]
