"""`causeway topic create|alter|delete`: what changes topics."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from brokers.errors import KafkaError
from brokers.metadata.commands.config_commands import ResourceType
from federation.commands.answers import Failure
from federation.commands.numbers import INT32_MAX
from federation.commands.outcomes import answer_each, next_step, reason_of
from federation.commands.region.bootstrap import bootstrap_options, connect
from federation.commands.region.client import Client
from federation.commands.region.configs import alter_configs, config_changes
from federation.commands.region.requests import PLACEMENT, describe_region
from federation.commands.topic import requests
from federation.commands.topic.options import (
    assignment_of,
    assignment_option,
    check_internal,
    config_option,
    configs_of,
    dry_run_option,
    expression_option,
    force_option,
    if_exists_option,
    matching_names,
    names_of,
    placement_of,
    placement_option,
)

_UNKNOWN_HINT: Final = "`causeway topic list` lists those that there are; --if-exists accepts it"
_HINTS: Final = {
    KafkaError.TOPIC_ALREADY_EXISTS: "`causeway topic alter` changes it; --if-not-exists leaves it as it is",
    KafkaError.UNKNOWN_TOPIC_OR_PARTITION: _UNKNOWN_HINT,
    KafkaError.INVALID_REPLICATION_FACTOR: "`causeway region brokers` shows which brokers are active",
    KafkaError.INVALID_REPLICA_ASSIGNMENT: "`causeway region brokers` shows the ids of brokers",
    KafkaError.INVALID_PARTITIONS: "partitions are added, never removed: give a larger number",
    KafkaError.INVALID_CONFIG: "`causeway topic describe TOPIC --all` shows the configurations that there are",
    KafkaError.TOPIC_DELETION_DISABLED: "set delete.topic.enable=true on the brokers",
}
_OTHERWISE: Final = "mend what the message says; the other topics are not affected"

topics_argument = click.argument("names", metavar="TOPIC...", nargs=-1)
topic_option = click.option(
    "--topic", "named", multiple=True, help="A topic, as in Kafka's tools; the same as an argument."
)


@click.command()
@topics_argument
@topic_option
@click.option(
    "--partitions",
    type=click.IntRange(1, INT32_MAX),
    help="The default is the brokers' num.partitions.",
)
@click.option(
    "--replication-factor",
    "factor",
    type=click.IntRange(1, 32_767),
    help="Replicas of each partition; the default is the brokers' default.replication.factor.",
)
@assignment_option
@placement_option
@config_option
@click.option(
    "--if-not-exists", is_flag=True, help="Succeed where the topic exists; it is not changed."
)
@dry_run_option
@force_option
@bootstrap_options
def create(
    bootstrap: str,
    names: tuple[str, ...],
    named: tuple[str, ...],
    partitions: int | None,
    factor: int | None,
    assignment: str | None,
    placement: Path | None,
    configs: tuple[str, ...],
    if_not_exists: bool,
    validate_only: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Create topics.

    \b
    causeway topic create orders --partitions 6 --replication-factor 3 --config min.insync.replicas=2 ...
    """
    wanted = names_of(names, named)
    if assignment is not None and (partitions, factor) != (None, None):
        raise click.UsageError(
            "--replica-assignment says how many partitions and replicas there are."
        )
    if placement is not None and (assignment, factor) != (None, None):
        raise click.UsageError("--replica-placement says how many replicas there are.")
    settings = _with_placement(configs_of(configs), placement)
    check_internal(wanted, "the brokers create it as they need it", force=force)
    with connect(bootstrap) as client:
        created, refused = requests.create_topics(
            client,
            wanted,
            partitions=partitions,
            factor=factor,
            assignment=[] if assignment is None else assignment_of(assignment),
            configs=settings,
            validate_only=validate_only,
        )
    existing = _taken_out(refused, KafkaError.TOPIC_ALREADY_EXISTS) if if_not_exists else []
    verb = "would be created" if validate_only else "created"
    lines = [f"{each.name}: {verb}, {_size(each)}" for each in created]
    result = {
        "created": [_created(each) for each in created],
        "existing": existing,
        "validate_only": validate_only,
    }
    _finish(result, [*lines, *(f"{name}: exists" for name in existing)], refused, as_json=as_json)


@click.command()
@topics_argument
@expression_option
@click.option(
    "--partitions",
    type=click.IntRange(1, INT32_MAX),
    help="How many partitions there are to be: more than now.",
)
@assignment_option
@placement_option
@config_option
@click.option(
    "--delete-config", "removed", multiple=True, metavar="KEY", help="Back to the brokers' default."
)
@if_exists_option
@dry_run_option
@force_option
@bootstrap_options
def alter(
    bootstrap: str,
    names: tuple[str, ...],
    named: tuple[str, ...],
    partitions: int | None,
    assignment: str | None,
    placement: Path | None,
    configs: tuple[str, ...],
    removed: tuple[str, ...],
    if_exists: bool,
    validate_only: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Add partitions, and set or remove configurations.

    Everything is validated first: where anything of any topic is refused, nothing is changed. Replicas are moved by
    `causeway region reassign`. --replica-assignment lists all partitions, those that exist too, as in kafka-topics.

    \b
    causeway topic alter orders --config retention.ms=86400000 --delete-config segment.ms ...
    """
    expressions = names_of(names, named)
    settings = _with_placement(configs_of(configs), placement)
    _check_alter(partitions, assignment, settings, removed)
    assigned = None if assignment is None else assignment_of(assignment)
    with connect(bootstrap) as client:
        topics = _existing(client, expressions, if_exists=if_exists)
        counts, assignments = {}, {}
        if partitions is not None and topics:
            check_internal(topics, "its keys are placed by its number of partitions", force=force)
            counts = dict.fromkeys(topics, partitions)
            if assigned is not None:
                assignments = _new_assignments(client, topics, partitions, assigned)
        changes = config_changes(settings, removed)

        def change(*, validates: bool) -> dict[str, Any]:
            refused = {}
            if changes and topics:
                refused = alter_configs(
                    client, ResourceType.TOPIC, topics, changes, validate_only=validates
                )
            if counts and not refused:
                refused = requests.add_partitions(
                    client, counts, assignments, validate_only=validates
                )
            return refused

        refused = change(validates=True)
        if not refused and not validate_only:
            refused = change(validates=False)
    done = [] if refused else topics
    verb = "would be altered" if validate_only else "altered"
    result = {"altered": done, "validate_only": validate_only}
    _finish(result, [f"{name}: {verb}" for name in done], refused, as_json=as_json)


@click.command()
@topics_argument
@expression_option
@if_exists_option
@dry_run_option
@force_option
@bootstrap_options
def delete(
    bootstrap: str,
    names: tuple[str, ...],
    named: tuple[str, ...],
    if_exists: bool,
    validate_only: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Delete topics and their data. A name that is no topic is a regular expression: see --dry-run."""
    expressions = names_of(names, named)
    with connect(bootstrap) as client:
        topics = _existing(client, expressions, if_exists=if_exists)
        check_internal(topics, "groups lose their offsets with it", force=force)
        refused = requests.delete_topics(client, topics) if topics and not validate_only else {}
    done = [name for name in topics if name not in refused]
    verb = "would be deleted" if validate_only else "deleted"
    result = {"deleted": done, "validate_only": validate_only}
    _finish(result, [f"{name}: {verb}" for name in done], refused, as_json=as_json)


# --- what is asked ---


def _with_placement(configs: dict[str, str], placement: Path | None) -> dict[str, str]:
    if placement is None:
        return configs
    if PLACEMENT in configs:
        raise click.UsageError(f"Give --replica-placement, or --config {PLACEMENT}.")
    return {**configs, PLACEMENT: placement_of(placement)}


def _check_alter(
    partitions: int | None,
    assignment: str | None,
    settings: Mapping[str, str],
    removed: Sequence[str],
) -> None:
    if assignment is not None and partitions is None:
        raise click.UsageError("--replica-assignment needs --partitions.")
    if partitions is None and not settings and not removed:
        raise click.UsageError(
            "Give --partitions, --config, --delete-config or --replica-placement."
        )
    both = sorted(settings.keys() & {*removed})
    if both:
        raise click.UsageError(f"{both[0]} is set and deleted.")


def _existing(client: Client, expressions: Sequence[str], *, if_exists: bool) -> list[str]:
    """The topics of these names. Raises Failure for a name that matches none."""
    known = requests.topic_names(client)
    for each in expressions:
        if not if_exists and not matching_names(known, [each]):
            raise Failure(f"there is no topic {each}; nothing was changed", hint=_UNKNOWN_HINT)
    return matching_names(known, expressions)


def _new_assignments(
    client: Client, topics: Sequence[str], partitions: int, assigned: Sequence[Sequence[int]]
) -> dict[str, Sequence[Sequence[int]]]:
    """The replicas of the new partitions: what is assigned, without the partitions that exist."""
    if len(assigned) != partitions:
        because = f"--replica-assignment lists {len(assigned)} partitions, --partitions says {partitions}."
        raise click.UsageError(because)
    found = describe_region(client, topics).topics
    return {each.name: assigned[len(each.partitions) :] for each in found}


# --- what came of it ---


def _taken_out(refused: dict[str, Any], error: KafkaError) -> list[str]:
    found = [name for name, each in refused.items() if each.error_code == error]
    for name in found:
        del refused[name]
    return found


def _finish(
    result: Mapping[str, Any], lines: Sequence[str], refused: Mapping[str, Any], *, as_json: bool
) -> None:
    reasons = {name: reason_of(each) for name, each in refused.items()}
    errors = [each.error_code for each in refused.values()]
    answer_each(result, lines, reasons, hint=next_step(errors, _HINTS, _OTHERWISE), as_json=as_json)


def _size(created: Any) -> str:
    if created.num_partitions < 0:
        return "with the brokers' defaults"
    return f"partitions {created.num_partitions}, replication factor {created.replication_factor}"


def _created(each: Any) -> dict[str, Any]:
    known = each.num_partitions >= 0
    return {
        "topic": each.name,
        "partitions": each.num_partitions if known else None,
        "replication_factor": each.replication_factor if known else None,
    }
