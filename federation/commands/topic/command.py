"""`causeway topic`: topics, with the options of `kafka-topics`; the commands that change them are in `changes`."""

from collections.abc import Sequence
from typing import Any

import click

from brokers.metadata.commands.config_commands import ResourceType
from federation.commands.answers import Failure, answer
from federation.commands.region.bootstrap import bootstrap_options, connect
from federation.commands.region.client import Client
from federation.commands.region.configs import describe_configs
from federation.commands.region.description import TopicDescription, filter_options, matching
from federation.commands.region.requests import describe_region
from federation.commands.topic import requests
from federation.commands.topic.changes import alter, create, delete
from federation.commands.topic.description import (
    own_configs,
    show_configs,
    show_topic,
    source_name,
    topic_document,
)
from federation.commands.topic.options import (
    expression_option,
    matching_names,
)


@click.group()
def topic() -> None:
    """Create, change, delete and describe topics.

    Uses Kafka's protocol, so these commands work with Apache Kafka too; options are named as in kafka-topics and
    kafka-configs. Exit codes: 0 success, 1 refused, 2 usage error, 4 the region does not answer.
    """


topic.add_command(create)
topic.add_command(alter)
topic.add_command(delete)


@topic.command()
@click.argument("names", metavar="[TOPIC]...", nargs=-1)
@expression_option
@filter_options
@click.option(
    "--topics-with-overrides", "has_own", is_flag=True, help="With configurations of their own."
)
@click.option("--exclude-internal", is_flag=True, help="Without internal topics.")
@click.option(
    "--all", "is_all", is_flag=True, help="All configurations, also those that are defaults."
)
@bootstrap_options
def describe(
    bootstrap: str,
    names: tuple[str, ...],
    named: tuple[str, ...],
    wanted: tuple[str, ...],
    has_own: bool,
    exclude_internal: bool,
    is_all: bool,
    as_json: bool,
) -> None:
    """Show partitions with leader, replicas and which are in sync, and the configurations of its own."""
    with connect(bootstrap) as client:
        topics = _described(client, [*names, *named], exclude_internal=exclude_internal)
        described = describe_configs(client, ResourceType.TOPIC, [each.name for each in topics])
    own = own_configs(described)
    shown = [
        (each, found)
        for each in topics
        if (found := matching(each.partitions, wanted)) and (own[each.name] or not has_own)
    ]
    documents = [topic_document(each, found, own[each.name]) for each, found in shown]
    if is_all:
        for document in documents:
            document["all_configs"] = [_config(each) for each in described[document["topic"]]]

    def show() -> None:
        for each, found in shown:
            show_topic(each, found, own[each.name])
            if is_all:
                show_configs(each.name, described[each.name])
        if not shown:
            click.echo("No such topics.")

    answer({"topics": documents}, as_json, show)


@topic.command(name="list")
@expression_option
@click.option("--exclude-internal", is_flag=True, help="Without internal topics.")
@bootstrap_options
def list_topics(
    bootstrap: str, named: tuple[str, ...], exclude_internal: bool, as_json: bool
) -> None:
    """List the names of topics, one a line."""
    with connect(bootstrap) as client:
        found = _visible(client, exclude_internal=exclude_internal)
    names = matching_names(found, named) if named else sorted(found)
    answer(
        {"topics": names},
        as_json,
        lambda: click.echo("".join(f"{name}\n" for name in names), nl=False),
    )


def _visible(client: Client, *, exclude_internal: bool) -> list[str]:
    return [
        name
        for name, is_internal in requests.topic_names(client).items()
        if not (exclude_internal and is_internal)
    ]


def _described(
    client: Client, expressions: Sequence[str], *, exclude_internal: bool
) -> list[TopicDescription]:
    known = _visible(client, exclude_internal=exclude_internal)
    names = matching_names(known, expressions) if expressions else known
    for each in expressions:
        if not matching_names(known, [each]):
            hint = "`causeway topic list` lists those that there are"
            raise Failure(f"there is no topic {each}", hint=hint)
    return list(describe_region(client, names).topics) if names else []


def _config(each: Any) -> dict[str, Any]:
    return {
        "name": each.name,
        "value": each.value,
        "source": source_name(each.config_source),
        "read_only": each.read_only,
    }
