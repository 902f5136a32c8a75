"""`causeway group reset-offsets`: moves the offsets of groups that have no members."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import click
from rich.table import Table

from brokers.errors import error_from_code
from brokers.ids import Offset, TopicPartition
from federation.commands.answers import Failure, answer, end, show_table
from federation.commands.group import members, plans, requests, strategies
from federation.commands.group.brokers import RegionBrokers, region_brokers
from federation.commands.group.members import DEAD, EMPTY
from federation.commands.group.options import (
    all_groups_option,
    check_groups,
    partitions_of,
    topic_option,
)
from federation.commands.group.requests import EARLIEST, LATEST
from federation.commands.group.strategies import KnownOffsets, ResetError, Strategy
from federation.commands.numbers import INT64_MAX
from federation.commands.outcomes import REFUSED_EXIT
from federation.commands.region.bootstrap import bootstrap_options

_ONE_OF: Final = (
    "Give one of --to-earliest, --to-latest, --to-current, --to-offset, --shift-by, --to-datetime, --by-duration,"
    " --from-file."
)

_SHIFT: Final = click.IntRange(-INT64_MAX, INT64_MAX)


class Reset(NamedTuple):
    """One offset of a group; `old` is None where it had none."""

    group: str
    name: TopicPartition
    old: Offset | None
    new: Offset


def strategy_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds where offsets are moved to."""
    options = [
        click.option("--to-earliest", is_flag=True, help="To the first record of each partition."),
        click.option("--to-latest", is_flag=True, help="To the end of each partition."),
        click.option("--to-current", is_flag=True, help="To the committed offset, where the log still has it."),
        click.option("--to-offset", type=click.IntRange(0, INT64_MAX), help="To this offset, or the nearest."),
        click.option("--shift-by", type=_SHIFT, help="By so many records; a negative number reads them again."),
        click.option("--to-datetime", metavar="TIME", help="To the first record of that time (ISO 8601, UTC) or later"),
        click.option("--by-duration", metavar="PnDTnHnMnS", help="To the first record of so long ago or later."),
        click.option(
            "--from-file",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            help="To the offsets of a CSV file, as --export prints it.",
        ),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


@click.command(name="reset-offsets")
@click.argument("names", metavar="[GROUP]...", nargs=-1)
@click.option("--group", "named", multiple=True, help="A group; the same as an argument.")
@all_groups_option
@topic_option
@click.option("--all-topics", is_flag=True, help="Every topic that the group has offsets of.")
@strategy_options
@click.option("--execute", is_flag=True, help="Move the offsets. Without it they are shown only.")
@click.option("--dry-run", is_flag=True, help="Show what would be done; this is the default.")
@click.option("--export", "is_export", is_flag=True, help="Print the new offsets as CSV.")
@bootstrap_options
def reset_offsets(
    bootstrap: str,
    names: tuple[str, ...],
    named: tuple[str, ...],
    all_groups: bool,
    topics: tuple[str, ...],
    all_topics: bool,
    execute: bool,
    dry_run: bool,
    is_export: bool,
    as_json: bool,
    **wanted: Any,
) -> None:
    """Move the offsets of groups. Groups that have members are refused, as in Kafka: stop them first.

    Nothing is moved without --execute, and nothing where any group or partition is refused.

    \b
    causeway group reset-offsets billing --topic orders --to-datetime 2026-01-31T08:30:00 --execute ...
    """
    check_groups([*names, *named], all_groups=all_groups)
    if execute and dry_run:
        raise click.UsageError("Give --execute or --dry-run.")
    path = wanted.pop("from_file")
    strategy = _strategy(wanted, path)
    if path is None and bool(topics) == all_topics:
        raise click.UsageError("Give --topic, or --all-topics.")
    if path is not None and (topics or all_topics):
        raise click.UsageError("--from-file names the topics.")
    with region_brokers(bootstrap) as brokers:
        groups = list(dict.fromkeys([*names, *named])) or members.all_groups(brokers)
        _check_inactive(brokers, groups)
        planned = None if path is None else plans.read(path, groups)
        resets: list[Reset] = []
        for group in groups:
            if planned is not None:
                strategy = strategies.to_planned(planned[group])
            assert strategy is not None
            committed = requests.committed_offsets(brokers, group)
            if planned is not None:
                chosen = sorted(planned[group])
            else:
                chosen = partitions_of(brokers, topics) if topics else sorted(committed)
            resets += _resets(brokers, group, chosen, committed, strategy)
        refused = _execute(brokers, resets) if execute else {}
    _show(resets, refused, executed=execute, is_export=is_export, as_json=as_json)


def _strategy(wanted: Mapping[str, Any], path: Path | None) -> Strategy | None:
    """None where a file says it. Raises UsageError unless there is one way."""
    given = {
        name: value for name, value in wanted.items() if value is not None and value is not False
    }
    if len(given) + (path is not None) != 1:
        raise click.UsageError(_ONE_OF)
    if path is not None:
        return None
    ((name, value),) = given.items()
    try:
        match name:
            case "to_offset":
                return strategies.to_offset(value)
            case "shift_by":
                return strategies.shift_by(value)
            case "to_datetime":
                return strategies.to_time(strategies.parse_time(value))
            case "by_duration":
                ago = strategies.parse_duration(value)
                return strategies.to_time(int((time.time() - ago.total_seconds()) * 1000))
            case "to_earliest":
                return strategies.to_earliest()
            case "to_latest":
                return strategies.to_latest()
    except (ValueError, OverflowError) as error:
        raise click.UsageError(f"--{name.replace('_', '-')}: {error}.") from None
    return strategies.to_current()


def _check_inactive(brokers: RegionBrokers, groups: Sequence[str]) -> None:
    """Raises Failure for a group that has members. One that does not exist is made by its first offset, as in Kafka."""
    for group in groups:
        state = members.describe_group(brokers, group).state
        if state not in (EMPTY, DEAD):
            raise Failure(
                f"{group} is {state}: offsets are moved only while a group has no members; nothing was moved",
                hint=f"stop its members first; `causeway group describe {group} --members` shows them",
            )


def _resets(
    brokers: RegionBrokers,
    group: str,
    names: Sequence[TopicPartition],
    committed: Mapping[TopicPartition, Offset],
    strategy: Strategy,
) -> list[Reset]:
    """Raises Failure where a partition does not tell its offsets, or cannot be moved so."""
    found = KnownOffsets(
        earliest=_offsets(brokers, names, EARLIEST),
        latest=_offsets(brokers, names, LATEST),
        committed=committed,
        at_time={} if strategy.time is None else _offsets(brokers, names, strategy.time),
    )
    try:
        return [
            Reset(group, name, committed.get(name), strategy.target(name, found)) for name in names
        ]
    except ResetError as error:
        hint = "leave it out with --topic, or use --to-offset for it; nothing was moved"
        raise Failure(f"{group}: {error}", hint=hint) from error


def _offsets(
    brokers: RegionBrokers, names: Sequence[TopicPartition], timestamp: int
) -> dict[TopicPartition, Offset]:
    found, silent = requests.log_offsets(brokers, names, timestamp)
    if silent:
        name, because = next(iter(silent.items()))
        raise Failure(
            f"{name} does not tell its offsets ({because}); nothing was moved",
            hint=f"see `causeway topic describe {name.topic}`, or leave it out with --topic",
        )
    return found


def _execute(
    brokers: RegionBrokers, resets: Sequence[Reset]
) -> dict[tuple[str, TopicPartition], int]:
    refused: dict[tuple[str, TopicPartition], int] = {}
    for group in dict.fromkeys(each.group for each in resets):
        offsets = {each.name: each.new for each in resets if each.group == group}
        errors = requests.commit_offsets(brokers, group, offsets)
        refused |= {(group, name): error for name, error in errors.items()}
    return refused


def _show(
    resets: Sequence[Reset],
    refused: Mapping[tuple[str, TopicPartition], int],
    *,
    executed: bool,
    is_export: bool,
    as_json: bool,
) -> None:
    errors = {key: error_from_code(error).name for key, error in refused.items()}
    rows = [
        {
            "group": each.group,
            "topic": each.name.topic,
            "partition": each.name.partition,
            "old_offset": each.old,
            "new_offset": each.new,
            "error": errors.get((each.group, each.name)),
        }
        for each in resets
    ]

    def show() -> None:
        if is_export:
            plan: plans.Plan = {}
            for each in resets:
                plan.setdefault(each.group, {})[each.name] = each.new
            click.echo(plans.export(plan), nl=False)
        elif resets:
            _show_table(resets, errors)
        else:
            click.echo("No offsets to move.")
        if resets and not executed:
            click.echo("Nothing was moved; --execute moves them.", err=True)
        if errors:
            click.echo("Next: stop the group's members, if it has any, and try again", err=True)

    answer({"executed": executed, "offsets": rows}, as_json, show)
    if errors:
        end(REFUSED_EXIT)


def _show_table(resets: Sequence[Reset], errors: Mapping[tuple[str, TopicPartition], str]) -> None:
    table = Table("Group", "Topic", "Partition", "OldOffset", "NewOffset")
    if errors:
        table.add_column("Refused")
    for each in resets:
        because = errors.get((each.group, each.name), "")
        table.add_row(
            each.group,
            each.name.topic,
            str(each.name.partition),
            "-" if each.old is None else str(each.old),
            str(each.new),
            *([f"[red]{because}[/]"] if errors else []),
        )
    show_table(table)
