"""`causeway group`: list, describe and delete consumer groups, and delete their offsets."""

from collections.abc import Mapping
from typing import Any, Final

import click
from rich.table import Table

from brokers.errors import KafkaError, error_from_code
from brokers.ids import TopicPartition
from federation.commands.answers import Failure, answer, show_table
from federation.commands.group import requests
from federation.commands.group.brokers import RegionBrokers, region_brokers
from federation.commands.group.description import (
    lags,
    members_document,
    offsets_document,
    readers,
    show_members,
    show_offsets,
    show_states,
    state_document,
)
from federation.commands.group.members import DEAD, EMPTY, Group, all_groups, describe_group
from federation.commands.group.options import (
    all_groups_option,
    check_groups,
    partitions_of,
    topic_option,
)
from federation.commands.group.requests import LATEST
from federation.commands.group.reset import reset_offsets
from federation.commands.outcomes import answer_each, next_step
from federation.commands.region.bootstrap import bootstrap_options
from federation.commands.topic.options import dry_run_option

_UNKNOWN_HINT: Final = "`causeway group list` lists those that there are"
_HINTS: Final = {
    KafkaError.NON_EMPTY_GROUP: "stop its members first; `causeway group describe GROUP --members` shows them",
    KafkaError.GROUP_ID_NOT_FOUND: _UNKNOWN_HINT,
    KafkaError.GROUP_SUBSCRIBED_TO_TOPIC: "stop its members that read the topic, or leave its offsets",
    KafkaError.UNKNOWN_TOPIC_OR_PARTITION: "the topic is deleted, and its offsets go with it",
}
_OTHERWISE: Final = "mend what the message says; the other groups are not affected"

groups_argument = click.argument("names", metavar="GROUP...", nargs=-1)
group_option = click.option(
    "--group", "named", multiple=True, help="A group, as in Kafka's tools; the same as an argument."
)


@click.group()
def group() -> None:
    """List and describe consumer groups, move or delete their offsets, delete groups.

    Uses Kafka's protocol, so these commands work with Apache Kafka too; options are named as in kafka-consumer-groups.
    Exit codes: 0 success, 1 refused, 2 usage error, 4 the region does not answer.
    """


group.add_command(reset_offsets)


@group.command(name="list")
@click.option(
    "--state", "states", multiple=True, help="Only groups in this state, as Stable or Empty."
)
@click.option(
    "--type", "types", multiple=True, help="Only groups of this type, as Classic or Consumer."
)
@bootstrap_options
def list_groups(
    bootstrap: str, states: tuple[str, ...], types: tuple[str, ...], as_json: bool
) -> None:
    """List the groups with their states and coordinators."""
    with region_brokers(bootstrap) as brokers:
        found = requests.list_groups(brokers, _split(states), _split(types))

    def show() -> None:
        table = Table("Group", "Type", "Protocol", "State", "Coordinator")
        for each in found:
            table.add_row(
                each.group,
                each.type or "unknown",
                each.protocol_type,
                each.state or "unknown",
                str(each.coordinator),
            )
        if found:
            show_table(table)
        else:
            click.echo("No groups.")

    answer({"groups": [each._asdict() for each in found]}, as_json, show)


@group.command()
@click.argument("names", metavar="[GROUP]...", nargs=-1)
@group_option
@all_groups_option
@click.option(
    "--offsets", "view", flag_value="offsets", default=True, help="Offsets and lag (default)."
)
@click.option("--members", "view", flag_value="members", help="Members, and what each reads.")
@click.option("--state", "view", flag_value="state", help="The state and the coordinator.")
@bootstrap_options
def describe(
    bootstrap: str,
    names: tuple[str, ...],
    named: tuple[str, ...],
    all_groups: bool,
    view: str,
    as_json: bool,
) -> None:
    """Show offsets with their lag, members, or states of groups."""
    check_groups([*names, *named], all_groups=all_groups)
    with region_brokers(bootstrap) as brokers:
        found = [_described(brokers, each) for each in _groups(brokers, (*names, *named))]
        if view == "offsets":
            shown = {each.name: _lags(brokers, each) for each in found}
            documents = [offsets_document(each, shown[each.name]) for each in found]
    if view == "members":
        documents = [members_document(each) for each in found]
    elif view == "state":
        documents = [state_document(each) for each in found]

    def show() -> None:
        if view == "state":
            show_states(found)
            return
        for each in found:
            if view == "offsets":
                show_offsets(each, shown[each.name])
            else:
                show_members(each)

    answer({"groups": documents}, as_json, show)


@group.command()
@groups_argument
@group_option
@all_groups_option
@dry_run_option
@bootstrap_options
def delete(
    bootstrap: str,
    names: tuple[str, ...],
    named: tuple[str, ...],
    all_groups: bool,
    validate_only: bool,
    as_json: bool,
) -> None:
    """Delete groups with their offsets. A group that has members is refused."""
    check_groups([*names, *named], all_groups=all_groups)
    with region_brokers(bootstrap) as brokers:
        wanted = _groups(brokers, (*names, *named))
        errors: dict[str, int] = {}
        for each in wanted:
            remove = _deletable if validate_only else requests.delete_group
            if error := remove(brokers, each):
                errors[each] = error
    done = [each for each in wanted if each not in errors]
    verb = "would be deleted" if validate_only else "deleted"
    result = {"deleted": done, "validate_only": validate_only}
    _finish(result, [f"{each}: {verb}" for each in done], errors, as_json=as_json)


@group.command(name="delete-offsets")
@click.argument("name", metavar="GROUP")
@topic_option
@dry_run_option
@bootstrap_options
def delete_offsets(
    bootstrap: str, name: str, topics: tuple[str, ...], validate_only: bool, as_json: bool
) -> None:
    """Delete a group's offsets of topics. A topic that its members read is refused."""
    if not topics:
        raise click.UsageError("Give --topic.")
    with region_brokers(bootstrap) as brokers:
        _described(brokers, name)
        committed = requests.committed_offsets(brokers, name)
        wanted = [each for each in partitions_of(brokers, topics) if each in committed]
        whole, errors = 0, dict[TopicPartition, int]()
        if wanted and not validate_only:
            whole, errors = requests.delete_offsets(brokers, name, wanted)
    if whole:
        error = error_from_code(whole)
        hint = next_step([whole], _HINTS, _OTHERWISE)
        raise Failure(f"{name}: {error.name}; no offset was deleted", hint=hint)
    done = [str(each) for each in wanted if each not in errors]
    verb = "would be deleted" if validate_only else "deleted"
    lines = [f"{name}: offset of {each} {verb}" for each in done] or [f"{name}: no such offsets"]
    result = {"group": name, "deleted": done, "validate_only": validate_only}
    refused = {str(each): error for each, error in errors.items()}
    _finish(result, [] if refused and not done else lines, refused, as_json=as_json)


# --- the groups ---


def _groups(brokers: RegionBrokers, names: tuple[str, ...]) -> list[str]:
    """Those that are named, or all whose offsets these commands know."""
    return list(dict.fromkeys(names)) or all_groups(brokers)


def _described(brokers: RegionBrokers, name: str) -> Group:
    found = describe_group(brokers, name)
    if found.state == DEAD:
        raise Failure(f"there is no group {name}", hint=_UNKNOWN_HINT)
    return found


def _lags(brokers: RegionBrokers, found: Group) -> list[Any]:
    committed = requests.committed_offsets(brokers, found.name)
    partitions = committed.keys() | readers(found).keys()
    ends, _ = requests.log_offsets(brokers, sorted(partitions), LATEST)
    return lags(found, committed, ends)


def _deletable(brokers: RegionBrokers, name: str) -> int:
    """The error that a deletion would meet."""
    state = describe_group(brokers, name).state
    if state == DEAD:
        return KafkaError.GROUP_ID_NOT_FOUND
    return KafkaError.NONE if state == EMPTY else KafkaError.NON_EMPTY_GROUP


def _split(items: tuple[str, ...]) -> list[str]:
    """`Stable,Empty` in one option is two states, as in Kafka's tool."""
    return [each.strip() for item in items for each in item.split(",") if each.strip()]


def _finish(
    result: Mapping[str, Any], lines: list[str], errors: Mapping[str, int], *, as_json: bool
) -> None:
    reasons = {name: error_from_code(error).name for name, error in errors.items()}
    hint = next_step([*errors.values()], _HINTS, _OTHERWISE)
    answer_each(result, lines, reasons, hint=hint, as_json=as_json)
