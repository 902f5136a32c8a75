"""Throttles of moves in bytes a second, as `kafka-reassign-partitions` sets and removes them (KIP-73, KIP-113)."""

import click

from federation.commands.reassign import requests
from federation.commands.reassign.checks import RegionState
from federation.commands.reassign.plan import (
    Directories,
    Targets,
    commas,
    moves,
    throttled_brokers,
    throttled_replicas,
)
from federation.commands.region.client import Client


def throttle_moves(
    client: Client, state: RegionState, targets: Targets, rate: int, *, prints: bool
) -> None:
    """Set the throttles of moves between brokers. Called before any of the moves begins."""
    found = moves(targets, state.partitions, state.ongoing)
    brokers = throttled_brokers(found)
    requests.set_replicas(client, throttled_replicas(found))
    concerned = [broker for broker in state.region.brokers if broker.id in brokers]
    requests.set_rate(client, concerned, rate)
    if prints:
        click.echo(f"The inter-broker throttle limit was set to {rate} B/s")


def throttle_copies(
    client: Client, state: RegionState, wanted: Directories, rate: int, *, prints: bool
) -> None:
    """Set the throttle of copies between log directories, on the brokers of `wanted`. Called before any copy begins."""
    named = {replica.broker for replica in wanted}
    concerned = [broker for broker in state.region.brokers if broker.id in named]
    requests.set_copy_rate(client, concerned, rate)
    if prints:
        click.echo(f"The replica-alter-dir throttle limit was set to {rate} B/s")


def clear(client: Client, state: RegionState, targets: Targets) -> list[str]:
    """Remove throttles; returns the existing topics of the plan, whose throttles were removed."""
    named = {name.topic for name in targets}
    topics = [topic.name for topic in state.region.topics if topic.name in named]
    requests.clear_throttles(client, state.region.brokers, topics)
    return topics


def show_cleared(state: RegionState, topics: list[str]) -> None:
    brokers = commas([broker.id for broker in state.region.brokers])
    click.echo(f"\nClearing broker-level throttles on brokers {brokers}")
    for topic in topics:
        click.echo(f"Clearing topic-level throttles on topic {topic}")
