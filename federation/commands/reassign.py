"""`causeway region reassign`: replicas to other brokers, with the files and options of `kafka-reassign-partitions`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import click

from brokers.ids import TopicPartition
from federation.commands import reassign_questions as questions
from federation.commands.answers import Failure, answer, end
from federation.commands.reassign_plan import (
    Ongoing,
    PlanError,
    Progress,
    Targets,
    by_name,
    commas,
    moves,
    plan_document,
    plan_text,
    progress,
    targets_of,
    throttled_brokers,
    throttled_replicas,
    topics_of,
)
from federation.commands.region_asking import NOT_WELL_EXIT, answering, bootstrap_options
from federation.commands.region_client import Client
from federation.commands.region_picture import Partition, Picture
from federation.commands.region_questions import picture

UNLIMITED: Final = -1
_CURRENT: Final = "Current partition replica assignment"

Command: TypeAlias = Callable[..., Any]
_file = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group()
def reassign() -> None:
    """Move replicas between brokers: generate a plan, execute it, verify it until it is complete, or cancel it.

    Plans are Kafka's JSON. What was there before is printed as a plan too, so that every move can be taken back.
    """


plan_option = click.option(
    "--reassignment-json-file", "path", type=_file, required=True, help="The plan."
)
preserve_option = click.option(
    "--preserve-throttles", is_flag=True, help="Leave throttles as they are."
)


@reassign.command()
@click.option("--topics-to-move-json-file", "path", type=_file, help="Which topics.")
@click.option("--topics", metavar="A,B,...", help="The same without a file.")
@click.option("--broker-list", metavar="1,2,...", required=True, help="Who may hold them.")
@click.option("--disable-rack-aware", is_flag=True, help="Do not mind racks.")
@click.option(
    "--replication-factor",
    "factor",
    type=click.IntRange(min=1),
    help="So many replicas of each partition, rather than as many as it has.",
)
@click.option(
    "--save",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Write the proposal to this file too.",
)
@bootstrap_options
def generate(
    bootstrap: str,
    path: Path | None,
    topics: str | None,
    broker_list: str,
    disable_rack_aware: bool,
    factor: int | None,
    save: Path | None,
    as_json: bool,
) -> None:
    """Propose a plan: replicas spread over racks, hosts and brokers, or as each topic's placement says.

    Of plans that come to the same, one that leaves most replicas where they are.
    """
    names = _names(path, topics)
    with answering(bootstrap) as client:
        found = picture(client, names)
        brokers = _brokers(broker_list, found)
        proposed = questions.propose(
            client, found, brokers, minds_racks=not disable_rack_aware, factor=factor
        )
    current = {name: each.replicas for name, each in by_name(found.partitions).items()}

    def show() -> None:
        click.echo(f"{_CURRENT}\n{plan_text(current)}\n")
        click.echo(f"Proposed partition reassignment configuration\n{plan_text(proposed)}")

    if save is not None:
        save.write_text(plan_text(proposed) + "\n")
    result = {"current": plan_document(current), "proposed": plan_document(proposed)}
    answer(result, as_json, show)


@reassign.command()
@plan_option
@click.option(
    "--throttle",
    type=click.IntRange(min=0),
    help="Bytes a second that each broker sends, and fetches, for the moves at most.",
)
@click.option(
    "--replica-alter-log-dirs-throttle",
    type=int,
    hidden=True,
    help="Refused: replicas are moved between brokers here, not between directories.",
)
@click.option("--additional", is_flag=True, help="Also while other partitions are on the move.")
@click.option(
    "--disallow-replication-factor-change", is_flag=True, help="Refuse more or fewer replicas."
)
@bootstrap_options
def execute(
    bootstrap: str,
    path: Path,
    throttle: int | None,
    replica_alter_log_dirs_throttle: int | None,
    additional: bool,
    disallow_replication_factor_change: bool,
    as_json: bool,
) -> None:
    """Begin the moves of a plan. What was there before is printed first: keep it, to go back."""
    if replica_alter_log_dirs_throttle is not None:
        raise click.UsageError(
            "--replica-alter-log-dirs-throttle: this command moves replicas between brokers only; "
            "kafka-reassign-partitions moves them between directories."
        )
    targets = _parsed(path, targets_of)
    with answering(bootstrap) as client:
        stage = _stage(client, targets)
        _check(stage, targets, may_add=additional)
        current = {name: stage.partitions[name].replicas for name in targets}
        if not as_json:
            click.echo(f"{_CURRENT}\n\n{plan_text(current)}\n")
            click.echo("Save this to use as the --reassignment-json-file option during rollback")
        if throttle is not None:
            _throttle(client, stage, targets, throttle)
            if not as_json:
                click.echo(f"The inter-broker throttle limit was set to {throttle} B/s")
        refused = questions.alter(
            client, targets, may_change_factor=not disallow_replication_factor_change
        )
    started = {name: replicas for name, replicas in targets.items() if name not in refused}
    result: dict[str, Any] = {
        "current": plan_document(current),
        "started": list(map(str, started)),
        "refused": {str(name): because for name, because in refused.items()},
    }
    answer(result, as_json, lambda: _show_started(started, path))
    if refused:
        _tell_refused(refused, is_throttled=throttle is not None, as_json=as_json)


@reassign.command()
@plan_option
@preserve_option
@bootstrap_options
def verify(bootstrap: str, path: Path, preserve_throttles: bool, as_json: bool) -> None:
    """Say how far a plan is; exits 3 until it is complete.

    When nothing of the region is on the move any more, throttles are removed.
    """
    targets = _parsed(path, targets_of)
    with answering(bootstrap) as client:
        stage = _stage(client, targets, needs_all=False)
        found = progress(targets, stage.partitions, stage.ongoing)
        cleared = not stage.ongoing and not preserve_throttles
        topics = _clear(client, stage, targets) if cleared else []
    result = {
        "partitions": [_as_dict(each) for each in found],
        "is_complete": all(each.is_complete for each in found),
        "throttles_removed": cleared,
    }

    def show() -> None:
        click.echo("Status of partition reassignment:")
        for each in found:
            click.echo(each.sentence)
        if cleared:
            _show_cleared(stage, topics)

    answer(result, as_json, show)
    if not all(each.is_complete for each in found):
        end(NOT_WELL_EXIT)


@reassign.command()
@plan_option
@preserve_option
@bootstrap_options
def cancel(bootstrap: str, path: Path, preserve_throttles: bool, as_json: bool) -> None:
    """Stop the moves of a plan: their partitions go back to the replicas they had. Throttles are removed."""
    targets = _parsed(path, targets_of)
    with answering(bootstrap) as client:
        stage = _stage(client, targets, needs_all=False)
        stopped = {name: None for name in targets if name in stage.ongoing}
        refused = questions.alter(client, stopped) if stopped else {}
        if refused:
            raise Failure(
                f"not cancelled: {_lines(refused)}", hint="verify says what is still on the move"
            )
        others = stage.ongoing.keys() - stopped.keys()
        cleared = not preserve_throttles and not others
        topics = _clear(client, stage, targets) if cleared else []

    def show() -> None:
        if stopped:
            click.echo(f"Successfully cancelled partition reassignments for: {_named(stopped)}")
        else:
            click.echo("None of the specified partition moves are active.")
        if cleared:
            _show_cleared(stage, topics)

    names = list(map(str, stopped))
    answer({"cancelled": names, "throttles_removed": cleared}, as_json, show)


@reassign.command(name="list")
@bootstrap_options
def list_ongoing(bootstrap: str, as_json: bool) -> None:
    """Every partition of the region whose replicas are on the move."""
    with answering(bootstrap) as client:
        found = questions.ongoing(client)
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


# --- before ---


class _Stage(NamedTuple):
    """The region as it is; `partitions` are those of the plan's topics."""

    picture: Picture
    partitions: Mapping[TopicPartition, Partition]
    ongoing: Mapping[TopicPartition, Ongoing]


def _stage(client: Client, targets: Targets, *, needs_all: bool = True) -> _Stage:
    names = list(dict.fromkeys(name.topic for name in targets))
    moving = questions.ongoing(client)
    found = picture(client, names if needs_all else ())
    return _Stage(found, by_name(found.partitions), moving)


def _parsed(path: Path, read: Callable[[str], Any]) -> Any:
    try:
        return read(path.read_text())
    except (PlanError, UnicodeDecodeError) as error:
        raise Failure(
            f"{path}: {error}", hint="`region reassign generate` prints such a plan"
        ) from error


def _names(path: Path | None, topics: str | None) -> list[str]:
    if (path is None) == (topics is None):
        raise click.UsageError("Give --topics-to-move-json-file, or --topics.")
    if path is not None:
        return list(_parsed(path, topics_of))
    assert topics is not None
    return list(dict.fromkeys(filter(None, (name.strip() for name in topics.split(",")))))


def _brokers(text: str, found: Picture) -> list[int]:
    try:
        brokers = [int(item) for item in text.split(",")]
    except ValueError:
        raise click.UsageError("--broker-list is ids with commas between them.") from None
    if len(set(brokers)) < len(brokers):
        raise click.UsageError("--broker-list names a broker twice.")
    _check_known(brokers, found)
    return brokers


def _check_known(brokers: list[int], found: Picture) -> None:
    unknown = sorted({*brokers} - {broker.id for broker in found.brokers})
    if unknown:
        known = ", ".join(str(broker.id) for broker in found.brokers)
        raise Failure(f"broker {unknown[0]} is not registered", hint=f"brokers there: {known}")


def _check(stage: _Stage, targets: Targets, *, may_add: bool) -> None:
    missing = [name for name in targets if name not in stage.partitions]
    if missing:
        raise Failure(
            f"there is no partition {missing[0]}", hint="`causeway region partitions` lists them"
        )
    _check_known([broker for replicas in targets.values() for broker in replicas], stage.picture)
    if stage.ongoing and not may_add:
        raise Failure(
            f"{len(stage.ongoing)} partitions are on the move already, {min(stage.ongoing)} first",
            hint="wait until `region reassign list` is empty, or give --additional to move these too"
            " (with the same plan it changes the throttle)",
        )


# --- throttles ---


def _throttle(client: Client, stage: _Stage, targets: Targets, rate: int) -> None:
    """Before anything moves, so that nothing moves without."""
    found = moves(targets, stage.partitions, stage.ongoing)
    brokers = throttled_brokers(found)
    questions.set_replicas(client, throttled_replicas(found))
    concerned = [broker for broker in stage.picture.brokers if broker.id in brokers]
    questions.set_rate(client, concerned, rate)


def _clear(client: Client, stage: _Stage, targets: Targets) -> list[str]:
    """The topics whose throttles went; one that is no more needs none."""
    named = {name.topic for name in targets}
    topics = [topic.name for topic in stage.picture.topics if topic.name in named]
    questions.clear_throttles(client, stage.picture.brokers, topics)
    return topics


# --- after ---


def _show_started(started: Targets, path: Path) -> None:
    if started:
        click.echo(f"Successfully started partition reassignments for {_named(started)}")
        click.echo(
            f"\nNext: `causeway region reassign verify --reassignment-json-file {path}` until it is complete,"
            " which removes throttles too"
        )


def _tell_refused(
    refused: Mapping[TopicPartition, str], *, is_throttled: bool, as_json: bool
) -> None:
    """Beside what has begun, which a script reads in the same object."""
    if as_json:
        end(1)
    throttles = "; throttles are set: `region reassign verify` removes them" if is_throttled else ""
    raise Failure(
        f"not all moves have begun: {_lines(refused)}",
        hint=f"mend the plan and execute it with --additional{throttles}",
    )


def _show_cleared(stage: _Stage, topics: list[str]) -> None:
    brokers = commas([broker.id for broker in stage.picture.brokers])
    click.echo(f"\nClearing broker-level throttles on brokers {brokers}")
    for topic in topics:
        click.echo(f"Clearing topic-level throttles on topic {topic}")


def _as_dict(each: Progress) -> dict[str, Any]:
    return {
        "topic": each.name.topic,
        "partition": each.name.partition,
        "state": each.state,
        "replicas": each.replicas,
        "target": each.target,
    }


def _lines(refused: Mapping[TopicPartition, str]) -> str:
    return "".join(f"\n  {name}: {because}" for name, because in refused.items())


def _named(names: Mapping[TopicPartition, object]) -> str:
    return ",".join(map(str, names))
