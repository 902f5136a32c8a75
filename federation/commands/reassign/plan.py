"""Reads and writes the plans of `kafka-reassign-partitions`; derives moves and throttles, and the state of each move.

{"version": 1, "partitions": [{"topic": "t", "partition": 0, "replicas": [1, 2], "log_dirs": ["any", "any"]}]}
{"version": 1, "topics": [{"topic": "t"}]}
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from brokers.ids import TopicPartition
from federation.commands.region.description import PartitionDescription

ANY_DIRECTORY: Final = "any"
CURRENT: Final = "Current partition replica assignment"  # a heading of Kafka's tool
LEADER_REPLICAS: Final = "leader.replication.throttled.replicas"
FOLLOWER_REPLICAS: Final = "follower.replication.throttled.replicas"
RATES: Final = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")
COPY_RATE: Final = "replica.alter.log.dirs.io.max.bytes.per.second"


class PlanError(ValueError):
    """The file is not a plan; the message is the reason."""


class PartitionReassignment(NamedTuple):
    """Kafka's PartitionReassignment: broker ids of all replicas, of those being added and of those being removed."""

    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]


class TopicPartitionReplica(NamedTuple):
    partition: TopicPartition
    broker: int

    def __str__(self) -> str:
        return f"{self.partition}-{self.broker}"


# --- files ---


class _Assigned(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    topic: Annotated[str, Field(min_length=1)]
    partition: Annotated[int, Field(ge=0, strict=True)]
    replicas: Annotated[list[Annotated[int, Field(ge=0, strict=True)]], Field(min_length=1)]
    log_dirs: list[str] | None = None


class _Plan(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1]
    partitions: Annotated[list[_Assigned], Field(min_length=1)]


class _Named(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    topic: Annotated[str, Field(min_length=1)]


class _Topics(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1]
    topics: Annotated[list[_Named], Field(min_length=1)]


Model = TypeVar("Model", bound=BaseModel)
Targets = Mapping[TopicPartition, tuple[int, ...]]
Directories = Mapping[TopicPartitionReplica, str]


def targets_of(text: str) -> Targets:
    """A plan's partitions and their new replicas, in its order. Raises PlanError."""
    plan = _read(_Plan, text)
    found: dict[TopicPartition, tuple[int, ...]] = {}
    for each in plan.partitions:
        name = TopicPartition(each.topic, each.partition)
        if name in found:
            raise PlanError(f"{name} is named twice")
        if len(set(each.replicas)) < len(each.replicas):
            raise PlanError(f"{name} names a broker twice: {each.replicas}")
        _check_directories(name, each)
        found[name] = tuple(each.replicas)
    return found


def _check_directories(name: TopicPartition, each: _Assigned) -> None:
    if each.log_dirs is None:
        return
    if len(each.log_dirs) != len(each.replicas):
        raise PlanError(
            f"{name} has {len(each.replicas)} replicas and {len(each.log_dirs)} log_dirs"
        )


def directories_of(text: str) -> Directories:
    """The log directories that a plan names; replicas that may be in any directory are left out. Raises PlanError."""
    return {
        TopicPartitionReplica(TopicPartition(each.topic, each.partition), broker): directory
        for each in _read(_Plan, text).partitions
        for broker, directory in zip(each.replicas, each.log_dirs or (), strict=False)
        if directory != ANY_DIRECTORY
    }


def topics_of(text: str) -> list[str]:
    """The topics of a `--topics-to-move-json-file`. Raises PlanError."""
    names = [each.topic for each in _read(_Topics, text).topics]
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise PlanError(f"topic {repeated[0]} is named twice")
    return names


def _read(kind: type[Model], text: str) -> Model:
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        raise PlanError("; ".join(_problem(each) for each in error.errors())) from None


def _problem(error: Any) -> str:
    where = ".".join(str(part) for part in error["loc"])
    return f"{where}: {error['msg']}" if where else str(error["msg"])


def replicas_of(assignments: Targets) -> list[TopicPartitionReplica]:
    return [
        TopicPartitionReplica(name, broker)
        for name, brokers in assignments.items()
        for broker in brokers
    ]


def plan_document(assignments: Targets, directories: Directories) -> dict[str, Any]:
    """What `targets_of` and `directories_of` read, as Kafka's tool writes it."""
    return {
        "version": 1,
        "partitions": [
            {
                "topic": name.topic,
                "partition": name.partition,
                "replicas": list(replicas),
                "log_dirs": [
                    directories.get(TopicPartitionReplica(name, broker), ANY_DIRECTORY)
                    for broker in replicas
                ],
            }
            for name, replicas in assignments.items()
        ],
    }


def plan_text(assignments: Targets, directories: Directories) -> str:
    return json.dumps(plan_document(assignments, directories), separators=(",", ":"))


# --- proposals ---


def keeping_replicas(
    current: Sequence[tuple[int, ...]], proposed: Sequence[tuple[int, ...]]
) -> list[tuple[int, ...]]:
    """The proposed assignments, distributed over a topic's partitions so that few replicas move (greedy, not optimal).

    Any assignment fits any partition. The partition that keeps most replicas is assigned first; among equal ones, the
    lowest partition.
    """
    left: dict[frozenset[int], list[tuple[int, ...]]] = {}
    for each in proposed:
        left.setdefault(frozenset(each), []).append(each)
    chosen: dict[int, tuple[int, ...]] = {}

    def choose(index: int, brokers: frozenset[int]) -> None:
        orders, have = left[brokers], current[index]
        chosen[index] = orders.pop(orders.index(have) if have in orders else 0)
        if not orders:
            del left[brokers]

    for keeps in range(max(map(len, proposed), default=0), -1, -1):
        for index, have in enumerate(current):
            if index not in chosen and left:
                held = frozenset(have)
                fits = next((each for each in left if len(each & held) == keeps), None)
                if fits is not None:
                    choose(index, fits)
    return [chosen[index] for index in range(len(current))]


# --- throttles ---


class Move(NamedTuple):
    """The brokers that hold replicas of a partition, and those that will copy it."""

    sources: tuple[int, ...]
    destinations: tuple[int, ...]


def moves(
    targets: Targets,
    current: Mapping[TopicPartition, PartitionDescription],
    ongoing: Mapping[TopicPartition, PartitionReassignment],
) -> dict[TopicPartition, Move]:
    """The moves of the plan, and the reassignments in progress."""
    wanted = {name: moving.replicas for name, moving in ongoing.items()} | dict(targets)
    found: dict[TopicPartition, Move] = {}
    for name, replicas in wanted.items():
        moving = ongoing.get(name)
        have = current[name].replicas if name in current else ()
        if moving is not None:
            have = tuple(each for each in moving.replicas if each not in moving.adding)
        destinations = tuple(each for each in replicas if each not in have)
        if destinations:
            found[name] = Move(have, destinations)
    return found


def throttled_replicas(found: Mapping[TopicPartition, Move]) -> dict[str, dict[str, str]]:
    """Topic -> its settings `leader.` and `follower.replication.throttled.replicas` (KIP-73)."""
    topics: dict[str, tuple[list[str], list[str]]] = {}
    for name, move in found.items():
        sources, destinations = topics.setdefault(name.topic, ([], []))
        sources += [f"{name.partition}:{broker}" for broker in move.sources]
        destinations += [f"{name.partition}:{broker}" for broker in move.destinations]
    return {
        topic: {LEADER_REPLICAS: ",".join(sources), FOLLOWER_REPLICAS: ",".join(destinations)}
        for topic, (sources, destinations) in topics.items()
    }


def throttled_brokers(found: Mapping[TopicPartition, Move]) -> list[int]:
    return sorted(
        {broker for move in found.values() for broker in (*move.sources, *move.destinations)}
    )


# --- progress ---


@dataclass(frozen=True, slots=True)
class PartitionReassignmentState:
    """One partition of a plan; `replicas` are the current ones, empty where the partition does not exist."""

    name: TopicPartition
    replicas: tuple[int, ...]
    target: tuple[int, ...]
    is_moving: bool

    @property
    def is_complete(self) -> bool:
        return not self.is_moving and self.replicas == self.target

    @property
    def state(self) -> str:
        if self.is_moving:
            return "in progress"
        return "complete" if self.is_complete else "not as planned"

    @property
    def sentence(self) -> str:
        if self.is_moving:
            return f"Reassignment of partition {self.name} is still in progress."
        if self.is_complete:
            return f"Reassignment of partition {self.name} is completed."
        have, want = commas(self.replicas), commas(self.target)
        return (
            f"There is no active reassignment of partition {self.name}, but replica set is"
            f" {have or 'unknown: there is no such partition'} rather than {want}."
        )


def progress(
    targets: Targets,
    current: Mapping[TopicPartition, PartitionDescription],
    ongoing: Collection[TopicPartition],
) -> list[PartitionReassignmentState]:
    return [
        PartitionReassignmentState(
            name, current[name].replicas if name in current else (), target, name in ongoing
        )
        for name, target in targets.items()
    ]


def by_name(
    partitions: Iterable[PartitionDescription],
) -> dict[TopicPartition, PartitionDescription]:
    return {TopicPartition(each.topic, each.partition): each for each in partitions}


def commas(items: Sequence[object]) -> str:
    return ",".join(map(str, items))
