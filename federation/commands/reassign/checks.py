"""Before a reassignment: read the plan, describe the region, and check that the plan fits the region."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import click

from brokers.ids import TopicPartition
from federation.commands.answers import Failure
from federation.commands.reassign import requests
from federation.commands.reassign.plan import (
    PartitionReassignment,
    PlanError,
    Targets,
    by_name,
    topics_of,
)
from federation.commands.region.client import Client
from federation.commands.region.description import PartitionDescription, RegionDescription
from federation.commands.region.requests import describe_region


class RegionState(NamedTuple):
    """The region as it is; `partitions` are those of the plan's topics."""

    region: RegionDescription
    partitions: Mapping[TopicPartition, PartitionDescription]
    ongoing: Mapping[TopicPartition, PartitionReassignment]


def region_state(client: Client, targets: Targets, *, needs_all: bool = True) -> RegionState:
    names = list(dict.fromkeys(name.topic for name in targets))
    moving = requests.ongoing(client)
    found = describe_region(client, names if needs_all else ())
    return RegionState(found, by_name(found.partitions), moving)


def parsed(path: Path, read: Callable[[str], Any]) -> Any:
    try:
        return read(path.read_text())
    except (PlanError, UnicodeDecodeError) as error:
        raise Failure(
            f"{path}: {error}", hint="`region reassign generate` prints such a plan"
        ) from error


def named_topics(path: Path | None, topics: tuple[str, ...]) -> list[str]:
    if (path is None) == (not topics):
        raise click.UsageError("Give --topics-to-move-json-file, or --topics.")
    return list(topics) if path is None else list(parsed(path, topics_of))


def brokers_of(text: str, found: RegionDescription) -> list[int]:
    try:
        brokers = [int(item) for item in text.split(",")]
    except ValueError:
        raise click.UsageError("--broker-list is ids with commas between them.") from None
    if len(set(brokers)) < len(brokers):
        raise click.UsageError("--broker-list names a broker twice.")
    check_known(brokers, found)
    return brokers


def check_known(brokers: list[int], found: RegionDescription) -> None:
    unknown = sorted({*brokers} - {broker.id for broker in found.brokers})
    if unknown:
        known = ", ".join(str(broker.id) for broker in found.brokers)
        raise Failure(f"broker {unknown[0]} is not registered", hint=f"brokers there: {known}")


def check(state: RegionState, targets: Targets, *, may_add: bool) -> None:
    missing = [name for name in targets if name not in state.partitions]
    if missing:
        raise Failure(
            f"there is no partition {missing[0]}", hint="`causeway region partitions` lists them"
        )
    check_known([broker for replicas in targets.values() for broker in replicas], state.region)
    if state.ongoing and not may_add:
        raise Failure(
            f"{len(state.ongoing)} partitions are on the move already, {min(state.ongoing)} first",
            hint="wait until `region reassign list` is empty, or give --additional to move these too"
            " (with the same plan it changes the throttle)",
        )
