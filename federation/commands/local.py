"""`causeway local`: a federation of processes on this machine, for trying things and for black-box tests."""

from pathlib import Path

import click

from federation.commands.answers import Failure, answer, end, json_option
from federation.local import federation as processes
from federation.local.layout import Federation, LocalError

NODES_MAX = 99
NOT_RUNNING = 3  # as of `systemctl status`

directory_option = click.option(
    "--dir",
    "directory",
    default="causeway-local",
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="The directory of its settings, logs and data.",
)
region_option = click.option("--region", "regions", multiple=True, help="Once for each region.")


@click.group()
def local() -> None:
    """A federation of processes on this machine, for trying things and for black-box tests."""


@local.command()
@directory_option
@region_option
@click.option(
    "--nodes",
    type=click.IntRange(1, NODES_MAX),
    help="The number of nodes of a new region; a region of several nodes grows to it.  [default: 1]",
)
@click.option(
    "--racks", metavar="A,B,C", help="The racks of a new region's nodes, in turn.", default=""
)
@json_option
def up(
    directory: Path, regions: tuple[str, ...], nodes: int | None, racks: str, as_json: bool
) -> None:
    """Start the nodes that are not running; return when every node answers.

    Without --region: the regions of the directory, or west and east. In a region of several nodes, the first three (or
    one, or five) are controllers as well as brokers.
    """
    named = tuple(rack.strip() for rack in racks.split(",")) if racks else ()
    try:
        federation = processes.up(directory, regions, nodes=nodes, racks=named)
    except LocalError as error:
        raise Failure(str(error), hint=error.hint) from error
    answer(federation.as_json(), as_json, lambda: _show_up(federation, directory))


@local.command()
@directory_option
@region_option
@json_option
def status(directory: Path, regions: tuple[str, ...], as_json: bool) -> None:
    """Show which nodes run and answer, all or those of the named regions. Exits 3 if one doesn't."""
    try:
        federation = processes.existing(directory, regions)
    except LocalError as error:
        raise Failure(str(error), hint=error.hint) from error
    states = [processes.state(node) for _, node in federation.nodes()]
    answer(_with_states(federation, states), as_json, lambda: _show(federation, states))
    if any(state != "running" for state in states):
        end(NOT_RUNNING)


@local.command()
@directory_option
@region_option
@json_option
def down(directory: Path, regions: tuple[str, ...], as_json: bool) -> None:
    """Stop the nodes, all or those of the named regions. Data, settings and logs stay."""
    try:
        _, stopped, killed = processes.down(directory, regions)
    except LocalError as error:
        raise Failure(str(error), hint=error.hint) from error
    answer(
        {"stopped": stopped, "killed": killed},
        as_json,
        lambda: _show_down(directory, stopped, killed),
    )


def _show_up(federation: Federation, directory: Path) -> None:
    _show(federation, ["running" for _ in federation.nodes()])
    click.echo(f"\nStop it: causeway local down --dir {directory}")


def _show(federation: Federation, states: list[str]) -> None:
    for (region, node), state in zip(federation.nodes(), states, strict=True):
        process = f"pid {node.pid}" if state != "stopped" else "no process"
        click.echo(f"{region.name} node {node.id}: {state}, {process}")
        click.echo(f"  bootstrap  {node.kafka}")
        if node is region.nodes[0]:
            click.echo(f"  admin      {region.admin}")
        if node.metrics is not None:
            click.echo(f"  metrics    http://{node.metrics}/metrics, http://{node.metrics}/health")
        click.echo(f"  data       {node.data}")
        click.echo(f"  log        {node.log}")


def _show_down(directory: Path, stopped: list[int], killed: list[int]) -> None:
    click.echo(f"Stopped {len(stopped)} node(s); data and logs stay in {directory}.")
    if killed:
        click.echo(f"Did not end in time and were killed: {', '.join(map(str, killed))}")


def _with_states(federation: Federation, states: list[str]) -> dict[str, object]:
    """The federation's JSON with the state of each node."""
    remaining = iter(states)
    result = federation.as_json()
    for region in result["regions"]:  # type: ignore[attr-defined]
        for node in region["nodes"]:
            node["state"] = next(remaining)
    return result
