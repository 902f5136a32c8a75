"""Other names of what `causeway link` and `causeway mirror` do, as users of Cluster Linking type them; not in `--help`.

`kafka-cluster-links` has filters as options of their own, and `confluent kafka` lists some of what `describe` shows.
"""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, Final

import click
from rich.table import Table

from federation.commands.answers import answer, screen
from federation.commands.link.messages import as_dict
from federation.commands.link.region_admin import RegionAdmin, region_options
from federation.commands.link.times import instant
from linker.wire.v1 import admin_pb2 as pb

# Option -> the link's configuration that it sets, as text, or with `-file` from a file.
FILTERS: Final = {
    "topic-filters-json": "auto.create.mirror.topics.filters",
    "consumer-group-filters-json": "consumer.offset.group.filters",
    "acl-filters-json": "acl.filters",
}


def filter_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options; the command gets what they set among its `pairs`, behind those of --config."""

    @wraps(command)
    def with_filters(pairs: tuple[str, ...], **arguments: Any) -> Any:
        for option, key in FILTERS.items():
            text, path = (arguments.pop(_name(option + end)) for end in ("", "-file"))
            if text is not None and path is not None:
                raise click.UsageError(f"give --{option} or --{option}-file")
            if path is not None:
                text = path.read_text(encoding="utf-8").strip()
            pairs = pairs if text is None else (*pairs, f"{key}={text}")
        return command(pairs=pairs, **arguments)

    for option in FILTERS:
        file = click.Path(exists=True, dir_okay=False, path_type=Path)
        with_filters = click.option(f"--{option}", hidden=True)(with_filters)
        with_filters = click.option(f"--{option}-file", type=file, hidden=True)(with_filters)
    return with_filters


def _name(option: str) -> str:
    return option.replace("-", "_")


def of_link(configs: click.Command) -> list[click.Group]:
    """`link configuration list|update` and `link task list`; `configs` is the command that shows and changes them."""
    configuration = click.Group("configuration", hidden=True, help="`link configs` by other names.")
    for verb in ("list", "update"):
        configuration.add_command(configs, verb)
    task = click.Group(
        "task", hidden=True, help="The tasks of a link, which `link describe` shows."
    )
    task.add_command(_list_tasks)
    return [configuration, task]


def of_mirror() -> list[click.Group]:
    """`mirror state-transition-error list`."""
    name, text = (
        "state-transition-error",
        "What `mirror describe` shows of changes that were not made.",
    )
    errors = click.Group(name, hidden=True, help=text)
    errors.add_command(_list_errors)
    return [errors]


@click.command("list")
@click.argument("name")
@region_options
def _list_tasks(region: RegionAdmin, name: str, as_json: bool) -> None:
    """List the background tasks of link NAME."""
    tasks = region.ask("DescribeLink", pb.LinkRequest(link_name=name)).link.tasks
    answer({"tasks": [as_dict(one) for one in tasks]}, as_json, lambda: show_tasks(tasks))


def show_tasks(tasks: Any) -> None:
    table = Table("Task", "State", "Error", "Message")
    for task in tasks:
        table.add_row(task.name, task.state, task.error, task.message)
    screen().print(table)


@click.command("list")
@click.argument("topic")
@click.option("--link", "link_name", help="Not needed: a topic is the mirror of one link.")
@region_options
def _list_errors(region: RegionAdmin, topic: str, link_name: str | None, as_json: bool) -> None:
    """List the changes of mirror topic TOPIC that were asked for and not made."""
    request = pb.DescribeMirrorRequest(mirror_topic=topic)
    errors = region.ask("DescribeMirror", request).mirror.state_transition_errors
    found = {"state_transition_errors": [as_dict(one) for one in errors]}
    answer(found, as_json, lambda: show_errors(errors))


def show_errors(errors: Any) -> None:
    for error in errors:
        screen().print(f"{instant(error.at_ms)} {error.code}: {error.message}")
