"""A client of a region's admin endpoint, whose errors end the command.

A region is named by Kafka addresses (`--bootstrap-server`), whose broker returns the admin endpoint, or as one of a
local federation (`--dir` and `--region`). Exit codes of these commands: 0 success, 1 refused, 2 usage error, 4 the
region does not answer.
"""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from federation.commands.addresses import UNREACHABLE_EXIT, AddressList, check_one_way, local_region
from federation.commands.answers import Failure, json_option
from linker.shell.administrator import (
    QUICK_SECONDS,
    Administrator,
    UnknownMethod,
    Unreachable,
    find_endpoint,
)
from linker.shell.discovery import DiscoveryError

_START_HINT = "check that the region runs and that the address is right"


class RegionAdmin:
    """The administration of one region. `ask` raises Failure when the region refuses or does not answer."""

    def __init__(self, administrator: Administrator) -> None:
        self._administrator = administrator

    def ask(self, method: str, request: Any, timeout_seconds: float = QUICK_SECONDS) -> Any:
        try:
            reply = self._administrator.ask(method, request, timeout_seconds)
        except UnknownMethod as error:
            raise Failure(str(error), hint=error.hint) from error
        except Unreachable as error:
            raise Failure(str(error), hint=_START_HINT, exit_code=UNREACHABLE_EXIT) from error
        if reply.HasField("error"):
            raise refusal(reply.error)
        return reply


def refusal(error: Any) -> Failure:
    """The Failure for an error that a region returned."""
    problems = "".join(f"\n  {problem}" for problem in error.problems)
    return Failure(f"{error.message} ({error.code}){problems}", hint=error.hint)


def region_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options that name a region, and `--json`; the command gets a RegionAdmin as `region`."""

    @json_option
    @click.option(
        "--bootstrap-server",
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
    def with_region(
        bootstrap_server: str | None,
        directory: Path | None,
        region_name: str | None,
        **arguments: Any,
    ) -> Any:
        endpoint = _endpoint(bootstrap_server, directory, region_name)
        with Administrator(endpoint) as administrator:
            return command(RegionAdmin(administrator), **arguments)

    return with_region


def _endpoint(bootstrap_server: str | None, directory: Path | None, name: str | None) -> str:
    check_one_way(bootstrap_server, directory, name)
    if bootstrap_server is None:
        assert directory is not None and name is not None
        bootstrap_server = local_region(directory, name).bootstrap
    try:
        return find_endpoint(bootstrap_server)
    except DiscoveryError as error:
        raise Failure(str(error), hint=_START_HINT, exit_code=UNREACHABLE_EXIT) from error


def settings(pairs: tuple[str, ...], path: Path | None) -> dict[str, str]:
    """`--config k=v` over `--config-file` (lines of k=v, # comments)."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines() if path is not None else []
    except UnicodeDecodeError:
        raise click.UsageError(f"{path} is not a file of KEY=VALUE lines: not UTF-8.") from None
    found: dict[str, str] = {}
    for line in (*(text.strip() for text in lines), *pairs):
        if not line or line.startswith("#"):
            continue
        key, equals, value = line.partition("=")
        if not equals or not key.strip():
            raise click.UsageError(f"{line!r} is not KEY=VALUE.")
        found[key.strip()] = value.strip()
    return found


config_options = [
    click.option("--config", "pairs", multiple=True, metavar="KEY=VALUE", help="May be repeated."),
    click.option(
        "--config-file",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="A file of KEY=VALUE lines.",
    ),
]


def validating(help_text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The option of every verb that changes something, with the name that other tools give it."""
    return click.option(
        "--validate-only", "--dry-run", "validate_only", is_flag=True, help=help_text
    )


def with_configs(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(config_options):
        command = option(command)
    return command
