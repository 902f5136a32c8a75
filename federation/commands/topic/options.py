"""What the options of `causeway topic` mean: names, configurations, replica assignments, placements."""

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from brokers.ids import INTERNAL_TOPICS
from federation.commands.answers import Failure

Command = Callable[..., Any]
dry_run_option = click.option(
    "--dry-run",
    "--validate-only",
    "validate_only",
    is_flag=True,
    help="Change nothing: say what would be done, or why it would be refused.",
)
force_option = click.option(
    "--force", is_flag=True, help="Also for internal topics, as __consumer_offsets."
)
if_exists_option = click.option(
    "--if-exists", is_flag=True, help="Succeed where there is no such topic."
)
expression_option = click.option(
    "--topic",
    "named",
    multiple=True,
    help="A topic, or a regular expression of topics, as in Kafka's tools; the same as an argument.",
)
placement_option = click.option(
    "--replica-placement",
    "placement",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A JSON file: how many replicas and observers each rack gets (confluent.placement.constraints).",
)
assignment_option = click.option(
    "--replica-assignment",
    "assignment",
    metavar="1:2,2:3,...",
    help="The brokers of each partition, the preferred leader first.",
)
config_option = click.option(
    "--config", "configs", multiple=True, metavar="KEY=VALUE", help="Once for each configuration."
)


def names_of(positional: Sequence[str], named: Sequence[str]) -> list[str]:
    """Topics as arguments and by `--topic`, as in Kafka's tools. Raises UsageError where there are none."""
    names = list(dict.fromkeys([*positional, *named]))
    if not names:
        raise click.UsageError("Name a topic.")
    return names


def configs_of(items: Iterable[str]) -> dict[str, str]:
    """`key=value` each; brackets around a value are dropped, as `kafka-configs` has them for lists."""
    found: dict[str, str] = {}
    for item in items:
        key, separator, value = item.partition("=")
        if not separator or not key.strip():
            raise click.UsageError(f"--config {item!r} is not KEY=VALUE.")
        if key.strip() in found:
            raise click.UsageError(f"--config {key.strip()} is given twice.")
        value = value.strip()
        found[key.strip()] = value[1:-1] if value.startswith("[") and value.endswith("]") else value
    return found


def assignment_of(text: str) -> list[list[int]]:
    """`1:2,2:3`: the replicas of each partition."""
    try:
        return [[int(broker) for broker in each.split(":")] for each in text.split(",")]
    except ValueError:
        because = (
            f"--replica-assignment {text!r} is not BROKER:BROKER,BROKER:BROKER, a partition each."
        )
        raise click.UsageError(because) from None


def placement_of(path: Path) -> str:
    """The text of a placement. Raises Failure where it cannot be read as one."""
    # Most commands have none, and Pydantic is a third of their start.
    from brokers.config.replica_placement import PlacementError, parse

    try:
        text = path.read_text(encoding="utf-8").strip()
        parse(text)
    except (PlacementError, UnicodeDecodeError, OSError) as error:
        raise Failure(
            f"{path} is no placement: {error}",
            hint='write {"version": 1, "replicas": [{"count": 3, "constraints": {"rack": "a"}}]}',
        ) from error
    return text


def matching_names(existing: Iterable[str], expressions: Sequence[str]) -> list[str]:
    """The topics of these names; a name that is no topic is a regular expression, as in `kafka-topics --topic`.

    Kafka takes every name as an expression, in which `a.b` also names the topic `a-b`.
    """
    known = sorted(existing)
    found: dict[str, None] = {}
    for expression in expressions:
        if expression in known:
            found[expression] = None
            continue
        try:
            pattern = re.compile(expression.strip().replace(",", "|"))
        except re.error as error:
            raise click.UsageError(f"{expression!r} is no regular expression: {error}.") from None
        found.update((name, None) for name in known if pattern.fullmatch(name))
    return list(found)


def check_internal(names: Iterable[str], what: str, *, force: bool) -> None:
    """Raises Failure for an internal topic, unless forced: its coordinators count on its partitions."""
    internal = [name for name in names if name in INTERNAL_TOPICS]
    if internal and not force:
        raise Failure(
            f"{internal[0]} is an internal topic: {what}",
            hint="leave it to the brokers; --force asks the region nevertheless",
        )
