"""`causeway region reassign`: replicas to other brokers, with the files and options of `kafka-reassign-partitions`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

import click

from brokers.ids import TopicPartition
from federation.commands.answers import NOT_WELL_EXIT, Failure, answer, end
from federation.commands.numbers import INT32_MAX, INT64_MAX
from federation.commands.reassign import requests
from federation.commands.reassign.checks import (
    RegionState,
    check,
    parsed,
    region_state,
)
from federation.commands.reassign.generate import generate
from federation.commands.reassign.log_dir_moves import (
    LogDirMoveState,
    begin_existing,
    begin_until,
    check_directories,
    current_directories,
    directory_moves,
    problem_lines,
    show_begun,
)
from federation.commands.reassign.log_dirs import begin, describe_log_dirs
from federation.commands.reassign.plan import (
    CURRENT,
    Directories,
    PartitionReassignmentState,
    Targets,
    TopicPartitionReplica,
    commas,
    directories_of,
    plan_document,
    plan_text,
    progress,
    replicas_of,
    targets_of,
)
from federation.commands.reassign.throttles import (
    clear,
    show_cleared,
    throttle_copies,
    throttle_moves,
)
from federation.commands.region.bootstrap import bootstrap_options, connect

UNLIMITED: Final = -1

Command: TypeAlias = Callable[..., Any]
_file = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group()
def reassign() -> None:
    """Move replicas between brokers: generate a plan, execute it, verify it until it is complete, or cancel it.

    Plans are Kafka's JSON. `generate` and `execute` also print the current replicas as a plan, to undo the moves.
    """


reassign.add_command(generate)

plan_option = click.option(
    "--reassignment-json-file", "path", type=_file, required=True, help="The plan."
)
preserve_option = click.option(
    "--preserve-throttles", is_flag=True, help="Leave throttles as they are."
)


@reassign.command()
@plan_option
@click.option(
    "--throttle",
    type=click.IntRange(0, INT64_MAX),
    help="The most bytes a second that each broker sends, and fetches, for the moves.",
)
@click.option(
    "--replica-alter-log-dirs-throttle",
    "copy_throttle",
    type=click.IntRange(0, INT64_MAX),
    help="The most bytes a second that each broker copies between its own log directories.",
)
@click.option(
    "--additional",
    is_flag=True,
    help="Execute the plan although other reassignments are in progress.",
)
@click.option(
    "--disallow-replication-factor-change",
    is_flag=True,
    help="Refuse a plan that changes a replication factor.",
)
@click.option(
    "--timeout",
    "timeout_ms",
    type=click.IntRange(0, INT32_MAX),
    default=10_000,
    show_default=True,
    help="Milliseconds to wait for new replicas that the plan names log directories for.",
)
@bootstrap_options
def execute(
    bootstrap: str,
    path: Path,
    throttle: int | None,
    copy_throttle: int | None,
    additional: bool,
    disallow_replication_factor_change: bool,
    timeout_ms: int,
    as_json: bool,
) -> None:
    """Begin the moves of a plan. The current replicas are printed first, as a plan that undoes the moves."""
    targets, wanted = parsed(path, targets_of), parsed(path, directories_of)
    with connect(bootstrap) as client:
        state = region_state(client, targets)
        check(state, targets, may_add=additional)
        brokers = state.region.brokers
        current = {name: state.partitions[name].replicas for name in targets}
        log_dirs = describe_log_dirs(brokers, [*replicas_of(current), *wanted])
        check_directories(wanted, log_dirs)
        current_dirs = current_directories(log_dirs)
        if not as_json:
            click.echo(f"{CURRENT}\n\n{plan_text(current, current_dirs)}\n")
            click.echo("Save this to use as the --reassignment-json-file option during rollback")
        if copy_throttle is not None:
            throttle_copies(client, state, wanted, copy_throttle, prints=not as_json)
        begun, waiting = begin_existing(brokers, wanted, log_dirs)
        if not as_json:
            show_begun(begun)
        if throttle is not None:
            throttle_moves(client, state, targets, throttle, prints=not as_json)
        refused = requests.alter(
            client, targets, may_change_factor=not disallow_replication_factor_change
        )
        waiting = {each: waiting[each] for each in waiting if each.partition not in refused}
        unbegun = begin_until(brokers, waiting, timeout_ms / 1000, prints=not as_json)
    begun += [each for each in waiting if each not in unbegun]
    started = {name: replicas for name, replicas in targets.items() if name not in refused}
    not_moved = {str(each): problem.because for each, problem in unbegun.items()}
    problems = {str(name): because for name, because in refused.items()}
    result: dict[str, Any] = {
        "current": plan_document(current, current_dirs),
        "started": list(map(str, started)),
        "refused": problems,
        "directory_moves": {"started": list(map(str, begun)), "refused": not_moved},
    }
    answer(result, as_json, lambda: _show_started(started, path))
    if problems or not_moved:
        _fail_refused(
            problems | not_moved,
            is_throttled=(throttle, copy_throttle) != (None, None),
            as_json=as_json,
        )


@reassign.command()
@plan_option
@preserve_option
@bootstrap_options
def verify(bootstrap: str, path: Path, preserve_throttles: bool, as_json: bool) -> None:
    """Show the progress of a plan; exits 3 until the plan is complete.

    Throttles are removed once the region has no reassignment in progress.
    """
    targets, wanted = parsed(path, targets_of), parsed(path, directories_of)
    with connect(bootstrap) as client:
        state = region_state(client, targets, needs_all=False)
        found = progress(targets, state.partitions, state.ongoing)
        dir_moves = _dir_move_states(state, wanted)
        is_moving = bool(state.ongoing) or any(each.log_dirs.future for each in dir_moves)
        cleared = not is_moving and not preserve_throttles
        topics = clear(client, state, targets) if cleared else []
    states: list[PartitionReassignmentState | LogDirMoveState] = [*found, *dir_moves]
    is_complete = all(each.is_complete for each in states)
    result = {
        "partitions": [_as_dict(each) for each in found],
        "directories": [each.as_dict() for each in dir_moves],
        "is_complete": is_complete,
        "throttles_removed": cleared,
    }

    def show() -> None:
        click.echo("Status of partition reassignment:")
        for each in states:
            click.echo(each.sentence)
        if cleared:
            show_cleared(state, topics)

    answer(result, as_json, show)
    if not is_complete:
        end(NOT_WELL_EXIT)


@reassign.command()
@plan_option
@preserve_option
@bootstrap_options
def cancel(bootstrap: str, path: Path, preserve_throttles: bool, as_json: bool) -> None:
    """Cancel the moves of a plan: partitions get back the replicas that they had, in the same log directories.

    Throttles are removed.
    """
    targets, wanted = parsed(path, targets_of), parsed(path, directories_of)
    with connect(bootstrap) as client:
        state = region_state(client, targets, needs_all=False)
        stopped = {name: None for name in targets if name in state.ongoing}
        refused = requests.alter(client, stopped) if stopped else {}
        if refused:
            raise Failure(
                f"not cancelled: {_lines(refused)}", hint="verify says what is still on the move"
            )
        returned = _cancel_dir_moves(state, wanted)
        others = state.ongoing.keys() - stopped.keys()
        cleared = not preserve_throttles and not others
        topics = clear(client, state, targets) if cleared else []

    def show() -> None:
        if stopped:
            click.echo(f"Successfully cancelled partition reassignments for: {_named(stopped)}")
        if returned:
            click.echo(f"Successfully cancelled log directory moves for: {commas(returned)}")
        if not stopped and not returned:
            click.echo("None of the specified partition moves are active.")
        if cleared:
            show_cleared(state, topics)

    names = list(map(str, stopped))
    result = {
        "cancelled": names,
        "directory_moves_cancelled": list(map(str, returned)),
        "throttles_removed": cleared,
    }
    answer(result, as_json, show)


@reassign.command(name="list")
@bootstrap_options
def list_ongoing(bootstrap: str, as_json: bool) -> None:
    """List the region's partition reassignments in progress."""
    with connect(bootstrap) as client:
        found = requests.ongoing(client)
    rows = [{"partition": str(name), **moving._asdict()} for name, moving in sorted(found.items())]

    def show() -> None:
        for name, moving in sorted(found.items()):
            click.echo(
                f"{name}: replicas: {commas(moving.replicas)}."
                f" adding: {commas(moving.adding) or 'none'}."
                f" removing: {commas(moving.removing) or 'none'}."
            )
        if not found:
            click.echo("No partition reassignments found.")

    answer({"reassignments": rows}, as_json, show)


# --- directories ---


def _dir_move_states(state: RegionState, wanted: Directories) -> list[LogDirMoveState]:
    return directory_moves(wanted, describe_log_dirs(state.region.brokers, wanted))


def _cancel_dir_moves(state: RegionState, wanted: Directories) -> list[TopicPartitionReplica]:
    """Cancel the moves of these replicas between log directories; returns the replicas whose moves were cancelled."""
    moves = _dir_move_states(state, wanted)
    moving = [each for each in moves if each.log_dirs.future and each.log_dirs.current]
    problems = begin(state.region.brokers, {each.replica: each.log_dirs.current for each in moving})
    if problems:
        raise Failure(
            f"not cancelled: {problem_lines(problems)}", hint="verify says what still moves"
        )
    return [each.replica for each in moving]


# --- after ---


def _show_started(started: Targets, path: Path) -> None:
    if started:
        click.echo(f"Successfully started partition reassignments for {_named(started)}")
        click.echo(
            f"\nNext: `causeway region reassign verify --reassignment-json-file {path}` until it is complete,"
            " which removes throttles too"
        )


def _fail_refused(refused: Mapping[str, str], *, is_throttled: bool, as_json: bool) -> None:
    """Exits 1. With --json, the moves that began and the refused ones are in the object printed before."""
    if as_json:
        end(1)
    throttles = "; throttles are set: `region reassign verify` removes them" if is_throttled else ""
    raise Failure(
        f"not all moves have begun: {_lines(refused)}",
        hint=f"mend the plan and execute it with --additional{throttles}",
    )


def _as_dict(each: PartitionReassignmentState) -> dict[str, Any]:
    return {
        "topic": each.name.topic,
        "partition": each.name.partition,
        "state": each.state,
        "replicas": each.replicas,
        "target": each.target,
    }


def _lines(refused: Mapping[Any, str]) -> str:
    return "".join(f"\n  {name}: {because}" for name, because in refused.items())


def _named(names: Mapping[TopicPartition, object]) -> str:
    return ",".join(map(str, names))
