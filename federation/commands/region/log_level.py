"""`causeway region log-level`: the levels of brokers' loggers, while they run (KIP-412)."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import click
from rich.table import Table

from brokers.metadata.commands.config_commands import ResourceType
from federation.commands.addresses import UNREACHABLE_EXIT
from federation.commands.answers import Failure, answer, show_table
from federation.commands.numbers import INT32_MAX
from federation.commands.outcomes import answer_each, reason_of
from federation.commands.region.bootstrap import bootstrap_options, connect
from federation.commands.region.client import Client, NoAnswer
from federation.commands.region.configs import alter_configs, config_changes, describe_configs
from federation.commands.region.description import BrokerDescription
from federation.commands.region.requests import describe_brokers

LEVELS: Final = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
_SAME: Final = {"WARNING": "WARN", "CRITICAL": "FATAL"}  # Python's names
_HINT: Final = "`causeway region log-level list` shows loggers; levels are " + ", ".join(LEVELS)

broker_option = click.option(
    "--broker",
    "broker_id",
    type=click.IntRange(0, INT32_MAX),
    help="Only this broker; the default is all.",
)


@click.group(name="log-level")
def log_level() -> None:
    """Show and change what brokers log, while they run. A restart forgets the change.

    A logger is a Python package or module, as brokers.shell.peers; its level holds for all below it.
    """


@log_level.command(name="list")
@click.option("--logger", "prefix", default="", help="Only this logger and those below it.")
@broker_option
@bootstrap_options
def list_levels(bootstrap: str, prefix: str, broker_id: int | None, as_json: bool) -> None:
    """List the loggers of brokers with their levels."""
    found: dict[int, dict[str, str]] = {}
    for broker in _brokers(bootstrap, broker_id):
        with _at(broker) as client:
            (configs,) = describe_configs(
                client, ResourceType.BROKER_LOGGER, [str(broker.id)]
            ).values()
        found[broker.id] = {
            each.name: each.value for each in configs if _is_below(each.name, prefix)
        }

    def show() -> None:
        table = Table("Logger", *(f"Broker {broker}" for broker in found))
        for name in sorted({name for levels in found.values() for name in levels}):
            table.add_row(name, *(levels.get(name, "") for levels in found.values()))
        show_table(table)

    answer({"brokers": {str(broker): levels for broker, levels in found.items()}}, as_json, show)


@log_level.command(name="set")
@click.argument("items", metavar="LOGGER=LEVEL...", nargs=-1, required=True)
@broker_option
@click.option("--dry-run", is_flag=True, help="Check only.")
@bootstrap_options
def set_levels(
    bootstrap: str, items: tuple[str, ...], broker_id: int | None, dry_run: bool, as_json: bool
) -> None:
    """Set levels: TRACE, DEBUG, INFO, WARN, ERROR or FATAL. LOGGER=default gives it back its parent's level.

    \b
    causeway region log-level set brokers.shell.peers=DEBUG --broker 2 ...
    """
    wanted, removed = _parsed(items)
    changes = config_changes(wanted, removed)
    brokers = _brokers(bootstrap, broker_id)
    refused: dict[str, str] = {}
    for broker in brokers:
        with _at(broker) as client:
            errors = alter_configs(
                client, ResourceType.BROKER_LOGGER, [str(broker.id)], changes, validate_only=dry_run
            )
        refused |= {f"broker {name}": reason_of(error) for name, error in errors.items()}
    done = [broker.id for broker in brokers if f"broker {broker.id}" not in refused]
    verb = "would be set" if dry_run else "set"
    result = {
        "brokers": done,
        "levels": {**wanted, **dict.fromkeys(removed)},
        "validate_only": dry_run,
    }
    lines = [f"broker {broker}: {', '.join(items)} {verb}" for broker in done]
    answer_each(result, lines, refused, hint=_HINT, as_json=as_json)


def _parsed(items: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """The levels to set, and the loggers that get their parents' levels. Raises UsageError."""
    wanted: dict[str, str] = {}
    removed: list[str] = []
    for item in items:
        name, separator, level = (part.strip() for part in item.partition("="))
        level = _SAME.get(level.upper(), level.upper())
        if not (separator and name):
            raise click.UsageError(f"{item!r} is not LOGGER=LEVEL.")
        if name in wanted or name in removed:
            raise click.UsageError(f"{name} is given twice.")
        if level == "DEFAULT":
            removed.append(name)
        elif level in LEVELS:
            wanted[name] = level
        else:
            raise click.UsageError(f"{item!r}: a level is one of {', '.join(LEVELS)}, or default.")
    return wanted, removed


def _brokers(bootstrap: str, broker_id: int | None) -> list[BrokerDescription]:
    with connect(bootstrap) as client:
        known = describe_brokers(client)
    found = [
        each for each in known if not each.fenced and (broker_id is None or each.id == broker_id)
    ]
    if not found:
        ids = ", ".join(str(each.id) for each in known if not each.fenced)
        raise Failure(f"broker {broker_id} is not active", hint=f"active brokers: {ids}")
    return found


@contextmanager
def _at(broker: BrokerDescription) -> Iterator[Client]:
    """The broker itself: no other one knows its loggers."""
    try:
        with Client(f"{broker.host}:{broker.port}") as client:
            yield client
    except NoAnswer as error:
        raise Failure(
            f"broker {broker.id} does not answer: {error}",
            hint="name those that do with --broker",
            exit_code=UNREACHABLE_EXIT,
        ) from error


def _is_below(name: str, prefix: str) -> bool:
    return not prefix or name == prefix or name.startswith(f"{prefix}.")
