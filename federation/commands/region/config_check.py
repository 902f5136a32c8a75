"""`causeway region config check`: what becomes of each key of a node's file, before a node is started with it."""

import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import click

from brokers.config.broker_config import FIELD_KEYS, REPEATED, BrokerConfig, ConfigError
from brokers.config.disk_watermarks import watermark_problems
from brokers.config.given_settings import verdict
from brokers.config.kafka_keys import KeyVerdict, is_secret
from brokers.shell.settings import NodeFile, overrides_of, read_node_file
from federation.commands.answers import answer, end, json_option, show_table

REFUSED_EXIT: Final = 1
HIDDEN: Final = "[hidden]"  # Kafka's word for the value of a password


@dataclass(frozen=True)
class CheckedKey:
    """One line of the table; a key that is missing has no value."""

    key: str
    value: str
    verdict: str
    why: str


@click.group()
def config() -> None:
    """A node's file."""


@config.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--override",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting that wins over the file's; may be repeated.",
)
@json_option
def check(file: Path, overrides: tuple[str, ...], as_json: bool) -> None:
    """Say of every key of FILE whether it works, has no effect and why, or keeps a node from starting.

    FILE is a node's TOML file, or Kafka's server.properties. Exits 1 when a node would not start with it.
    """
    keys = _checked(file, overrides)
    starts = all(each.verdict != KeyVerdict.REFUSED.value for each in keys)
    result = {"file": str(file), "starts": starts, "keys": [asdict(each) for each in keys]}
    answer(result, as_json, lambda: _show(keys, starts=starts))
    if not starts:
        end(REFUSED_EXIT)


def _checked(file: Path, overrides: tuple[str, ...]) -> list[CheckedKey]:
    try:
        read = read_node_file(file, overrides_of(overrides))
    except ConfigError as error:
        return [_problem(line) for line in error.problems]
    except (OSError, UnicodeDecodeError) as error:
        return [CheckedKey("", "", KeyVerdict.REFUSED.value, str(error))]
    try:
        problems = list(_disk_problems(read.config()))
    except ConfigError as error:
        problems = error.problems
    return list(_lines(read, problems))


def _disk_problems(config: BrokerConfig) -> Iterator[str]:
    """Of the log directories that are on this machine."""
    for name in config.directories:
        with suppress(OSError):
            total = shutil.disk_usage(name).total
            yield from watermark_problems(config, name, total)


def _lines(read: NodeFile, problems: list[str]) -> Iterator[CheckedKey]:
    refused = [_problem(line) for line in problems]
    for key, value in read.settings.items():
        shown = HIDDEN if is_secret(key) else str(value)
        kind, why = verdict(key, FIELD_KEYS)
        own = [each.why for each in refused if each.key == key]
        if key in read.repeated:
            why = "; ".join(filter(None, (why, REPEATED)))
        if own:
            kind, why = KeyVerdict.REFUSED, "; ".join(own)
        yield CheckedKey(key, shown, kind.value, why)
    yield from (each for each in refused if each.key not in read.settings)


def _problem(line: str) -> CheckedKey:
    """Every problem begins with the name of its key."""
    key, colon, why = line.partition(": ")
    is_named = colon and " " not in key
    return CheckedKey(
        key if is_named else "", "", KeyVerdict.REFUSED.value, why if is_named else line
    )


def _show(keys: list[CheckedKey], *, starts: bool) -> None:
    from rich.table import Table

    table = Table("KEY", "VALUE", "VERDICT", "WHY")
    for each in keys:
        table.add_row(each.key, each.value, each.verdict, each.why)
    show_table(table)
    click.echo(
        "A node starts with this file." if starts else "A node does not start with this file."
    )
