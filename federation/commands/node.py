"""`causeway node run`: one node of a region, in the foreground."""

from pathlib import Path

import click

from brokers.shell.memory import collector_paused
from federation.commands.answers import Failure, json_option


@click.group()
def node() -> None:
    """One node of a region, in the foreground."""


@node.command()
@click.option(
    "--config",
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The node's TOML file, or Kafka's server.properties as it is; see `region config check`.",
)
@click.option(
    "--override",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting that wins over the file's; may be repeated.",
)
@json_option
def run(config: Path, overrides: tuple[str, ...], as_json: bool) -> None:
    """Run a broker and its links until SIGTERM or SIGINT.

    Prints one JSON line on stdout when the node is ready, with --json or without; logs go to stderr. Exits 1, listing
    every problem of the configuration, if the node cannot start.
    """
    # A node is the only command that needs the event loop.
    with collector_paused():
        from federation.shell.node import NotStarted, main

    try:
        main(config, overrides)
    except NotStarted as error:
        problems = "".join(f"\n  {line}" for line in str(error).splitlines())
        raise Failure(f"{config}: not started{problems}") from error
