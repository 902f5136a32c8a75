"""`causeway region elect`: the elections of `kafka-leader-election`, with its options and its file."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import click

from brokers.errors import KafkaError
from brokers.ids import TopicPartition
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.replication import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    TopicPartitions,
)
from federation.commands.answers import NOT_WELL_EXIT, Failure, answer, end
from federation.commands.numbers import INT32_MAX
from federation.commands.region.bootstrap import bootstrap_options, connect
from federation.commands.region.client import QUICK_SECONDS, Client, NoAnswer
from federation.commands.region.requests import describe_region

UNCLEAN_FROM: Final = 1  # version of ElectLeaders (KIP-460)
KINDS: Final = ("preferred", "unclean")  # in the order of ElectLeaders' codes
REFUSED_EXIT: Final = 1
TIMEOUT_MS: Final = 30_000
_FILE_HINT: Final = 'write {"partitions": [{"topic": "orders", "partition": 0}]}'


@dataclass
class Elections:
    """The outcome of each partition of an ElectLeaders request."""

    elected: list[TopicPartition] = field(default_factory=list)
    not_needed: list[TopicPartition] = field(default_factory=list)
    refused: dict[TopicPartition, str] = field(default_factory=dict)
    # Led by a broker that does not answer, and that is not fenced yet: they have a leader as far as the region knows.
    waiting: dict[TopicPartition, int] = field(default_factory=dict)


@click.command()
@click.option(
    "--election-type",
    "kind",
    type=click.Choice(KINDS, case_sensitive=False),
    required=True,
    help="preferred: the first replica becomes the leader, if it is in sync. unclean: a partition without a leader gets"
    " any live replica as leader; records that this replica does not have are lost.",
)
@click.option("--topic", help="The partitions of this topic.")
@click.option(
    "--partition", type=click.IntRange(0, INT32_MAX), help="Only this partition of --topic."
)
@click.option(
    "--all-topic-partitions", "is_all", is_flag=True, help="All partitions of the region."
)
@click.option(
    "--path-to-json-file",
    "path",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help='The partitions of a file {"partitions": [{"topic": ..., "partition": ...}, ...]}.',
)
@bootstrap_options
def elect(
    bootstrap: str,
    kind: str,
    topic: str | None,
    partition: int | None,
    is_all: bool,
    path: Path | None,
    as_json: bool,
) -> None:
    """Elect leaders: the preferred replicas, or any live replica of partitions that have no leader.

    A partition without a leader waits for a replica with all committed records (Isr and Elr in `region partitions`).
    Elect uncleanly only where none of these replicas will return. Exit code 1: an election was refused; 3: partitions
    are led by a broker that does not answer, and that the region has not fenced yet.
    """
    if sum(map(bool, (topic is not None, is_all, path))) != 1:
        raise click.UsageError("Give one of --topic, --all-topic-partitions, --path-to-json-file.")
    if partition is not None and topic is None:
        raise click.UsageError("--partition needs --topic.")
    listed = None if path is None else _partitions_of_file(path)
    with connect(bootstrap) as client:
        if topic is not None:
            listed = _partitions_of_topic(client, topic, partition)
        elections = elect_leaders(client, kind.lower(), listed)
        if kind.lower() == "unclean":
            elections.waiting = _waiting(client, listed, elections.elected)
    answer(_as_dict(elections), as_json, lambda: _show(elections, kind.lower()))
    if elections.refused:
        end(REFUSED_EXIT)
    if elections.waiting:
        end(NOT_WELL_EXIT)


def elect_leaders(
    client: Client, kind: str, partitions: Sequence[TopicPartition] | None
) -> Elections:
    """Elects leaders of these partitions, None for all. Raises Failure where the request as a whole is refused."""
    needed = UNCLEAN_FROM if kind == "unclean" else 0
    if not client.serves(ApiKey.ELECT_LEADERS) or client.version(ApiKey.ELECT_LEADERS) < needed:
        because = f"the broker at {client.address} holds no {kind} elections"
        raise Failure(because, hint="upgrade it; this needs Kafka 2.4 or newer")
    request = ElectLeadersRequest(
        election_type=KINDS.index(kind),
        topic_partitions=None if partitions is None else _by_topic(partitions),
        timeout_ms=TIMEOUT_MS,
    )
    return _elections(client.ask(ApiKey.ELECT_LEADERS, request))


def _waiting(
    client: Client,
    asked: Sequence[TopicPartition] | None,
    elected: Sequence[TopicPartition],
) -> dict[TopicPartition, int]:
    """Partitions that were asked for, with the leader that does not answer. As after `region metadata recover`: the new
    controller waits for a broker's session to end before it fences the broker.
    """
    found = describe_region(client)
    silent = {
        each.id
        for each in found.brokers
        if not each.fenced and not _answers(f"{each.host}:{each.port}")
    }
    led = {
        TopicPartition(each.topic, each.partition): each.leader
        for each in found.partitions
        if each.leader in silent
    }
    return {
        partition: leader
        for partition, leader in led.items()
        if partition not in elected and (asked is None or partition in asked)
    }


def _answers(address: str) -> bool:
    try:
        with Client(address, QUICK_SECONDS, QUICK_SECONDS):
            return True
    except NoAnswer:
        return False


def _by_topic(partitions: Iterable[TopicPartition]) -> list[TopicPartitions]:
    topics: dict[str, list[int]] = {}
    for topic, partition in dict.fromkeys(partitions):
        topics.setdefault(topic, []).append(partition)
    return [TopicPartitions(topic=name, partitions=indexes) for name, indexes in topics.items()]


def _elections(response: ElectLeadersResponse) -> Elections:
    if response.error_code:
        name = KafkaError(response.error_code).name
        hint = "see `causeway region describe` for whether a controller is active, then try again"
        raise Failure(f"the region holds no election: {name}", hint=hint)
    elections = Elections()
    for topic in response.replica_election_results:
        for result in topic.partition_result:
            _add(elections, TopicPartition(topic.topic, result.partition_id), result)
    return elections


def _add(elections: Elections, partition: TopicPartition, result: Any) -> None:
    error = KafkaError(result.error_code)
    if error is KafkaError.NONE:
        elections.elected.append(partition)
    elif error is KafkaError.ELECTION_NOT_NEEDED:
        elections.not_needed.append(partition)
    else:
        because = f"{result.error_message} ({error.name})" if result.error_message else error.name
        elections.refused[partition] = because


def _partitions_of_topic(client: Client, topic: str, partition: int | None) -> list[TopicPartition]:
    if partition is not None:
        return [TopicPartition(topic, partition)]
    found = describe_region(client, [topic])
    return [TopicPartition(each.topic, each.partition) for each in found.partitions]


def _partitions_of_file(path: Path) -> list[TopicPartition]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        return [_partition(each) for each in document["partitions"]]
    except (ValueError, KeyError, TypeError) as error:
        raise Failure(f"{path} lists no partitions: {error!r}", hint=_FILE_HINT) from None


def _partition(entry: Any) -> TopicPartition:
    topic, partition = entry["topic"], entry["partition"]
    if not isinstance(topic, str) or isinstance(partition, bool) or not isinstance(partition, int):
        raise TypeError(f"{entry} is no topic and partition")
    return TopicPartition(topic, partition)


def _as_dict(elections: Elections) -> dict[str, Any]:
    return {
        "elected": list(map(str, elections.elected)),
        "not_needed": list(map(str, elections.not_needed)),
        "refused": {str(each): because for each, because in elections.refused.items()},
        "waiting": {str(each): leader for each, leader in elections.waiting.items()},
    }


def _show(elections: Elections, kind: str) -> None:
    if elections.elected:
        click.echo(f"{kind} leader elected: {', '.join(map(str, elections.elected))}")
    if elections.not_needed:
        click.echo(f"no election needed: {', '.join(map(str, elections.not_needed))}")
    for partition, because in elections.refused.items():
        click.echo(f"not elected: {partition}: {because}", err=True)
    if elections.waiting:
        leaders = ", ".join(map(str, sorted(set(elections.waiting.values()))))
        click.echo(
            f"not elected yet: {', '.join(map(str, elections.waiting))}: led by broker {leaders}, which does not answer"
            " and is not fenced yet",
            err=True,
        )
        click.echo(
            "Next: wait until `causeway region brokers` shows it as fenced (broker.session.timeout.ms, 9 s by default),"
            " then give the command again",
            err=True,
        )
    if not any((elections.elected, elections.not_needed, elections.refused, elections.waiting)):
        click.echo("no partition needs an election")
