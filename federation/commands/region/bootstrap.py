"""Options that name a region, by Kafka addresses or as one of a local federation, and the connection to it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import click

from federation.commands.addresses import UNREACHABLE_EXIT, AddressList, check_one_way, local_region
from federation.commands.answers import Failure, json_option
from federation.commands.region.client import Client, NoAnswer
from federation.commands.region.description import RegionDescription
from federation.commands.region.requests import describe_region


def bootstrap_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options that name a region, and `--json`; the command gets the Kafka addresses as `bootstrap`."""

    @json_option
    @click.option(
        "--bootstrap-server",
        "--bootstrap",
        type=AddressList(),
        metavar="HOST:PORT[,...]",
        help="Kafka addresses of the region; the first that answers is used.",
    )
    @click.option(
        "--dir",
        "directory",
        type=click.Path(file_okay=False, path_type=Path),
        help="A local federation's directory, with --region.",
    )
    @click.option("--region", "region_name", help="A region of the local federation in --dir.")
    @wraps(command)
    def with_bootstrap(
        bootstrap_server: str | None,
        directory: Path | None,
        region_name: str | None,
        **arguments: Any,
    ) -> Any:
        if arguments.get("stopped") is not None:  # instead: a stopped node's settings
            if any((bootstrap_server, directory, region_name)):
                raise click.UsageError("give --config, or a running region, and not both")
            return command(None, **arguments)
        check_one_way(bootstrap_server, directory, region_name)
        if bootstrap_server is None:
            assert directory is not None and region_name is not None
            bootstrap_server = local_region(directory, region_name).bootstrap
        return command(bootstrap_server, **arguments)

    return with_bootstrap


@contextmanager
def connect(bootstrap: str) -> Iterator[Client]:
    """Connects to a broker at one of these addresses. Raises Failure when no broker answers, then or later."""
    try:
        with Client(bootstrap) as client:
            yield client
    except NoAnswer as error:
        raise Failure(
            f"the region does not answer: {error}",
            hint="check that it runs and that the address is right",
            exit_code=UNREACHABLE_EXIT,
        ) from error


def region_at(
    bootstrap: str, topics: Sequence[str] = (), *, asks_quorum: bool = False
) -> RegionDescription:
    """Describes the region at these addresses. Raises Failure."""
    with connect(bootstrap) as client:
        return describe_region(client, topics, asks_quorum=asks_quorum)
