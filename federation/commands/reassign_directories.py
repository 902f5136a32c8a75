"""What brokers are asked of log directories (KIP-113): which they have, what lies in them, to move it to others.

A broker knows its own directories alone and moves replicas between them itself, so each is asked for its own.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from brokers.errors import KafkaError
from brokers.ids import TopicPartition
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
)
from federation.commands.reassign_plan import Directories, Replica
from federation.commands.region_client import Client, NoAnswer
from federation.commands.region_picture import Broker
from federation.commands.region_questions import QUICK_SECONDS


class Home(NamedTuple):
    """Where a replica lies, and where a copy of it is made that will replace it; empty where there is none."""

    current: str = ""
    future: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """What a broker tells of its log directories; `problem` says why it tells nothing."""

    online: list[str] = field(default_factory=list)
    offline: list[str] = field(default_factory=list)
    homes: dict[TopicPartition, Home] = field(default_factory=dict)
    problem: str = ""


class Problem(NamedTuple):
    """Why a move has not begun, and whether it may if it is asked for again."""

    because: str
    passes: bool


def told_by(brokers: Iterable[Broker], replicas: Collection[Replica]) -> dict[int, Told]:
    """Broker -> what it tells of the replicas that it has or is to have; brokers that have none are not asked."""
    found: dict[int, Told] = {}
    for broker in brokers:
        names = {each.partition: None for each in replicas if each.broker == broker.id}
        if names:
            found[broker.id] = _asked(broker, names)
    return found


def _asked(broker: Broker, names: Iterable[TopicPartition]) -> Told:
    topics: dict[str, DescribableLogDirTopic] = {}
    for name in names:
        topic = topics.setdefault(name.topic, DescribableLogDirTopic(topic=name.topic))
        topic.partitions.append(name.partition)
    try:
        with Client(f"{broker.host}:{broker.port}", QUICK_SECONDS) as client:
            if not client.serves(ApiKey.DESCRIBE_LOG_DIRS) or not client.serves(
                ApiKey.ALTER_REPLICA_LOG_DIRS
            ):
                return Told(problem="it is too old to move replicas between them")
            request = DescribeLogDirsRequest(topics=list(topics.values()))
            answer = client.ask(ApiKey.DESCRIBE_LOG_DIRS, request)
    except NoAnswer as error:
        return Told(problem=str(error))
    return Told(problem=KafkaError(answer.error_code).name) if answer.error_code else _read(answer)


def _read(answer: Any) -> Told:
    told = Told()
    for result in answer.results:
        (told.offline if result.error_code else told.online).append(result.log_dir)
        for topic in result.topics:
            for each in topic.partitions:
                name = TopicPartition(topic.name, each.partition_index)
                where = "future" if each.is_future_key else "current"
                home = told.homes.get(name, Home())
                told.homes[name] = home._replace(**{where: result.log_dir})
    return told


def begin(brokers: Iterable[Broker], wanted: Directories) -> dict[Replica, Problem]:
    """Ask for these moves -> those that have not begun."""
    problems: dict[Replica, Problem] = {}
    for broker in brokers:
        own = {each: directory for each, directory in wanted.items() if each.broker == broker.id}
        if own:
            problems |= _begun(broker, own)
    return problems


def _begun(broker: Broker, own: Directories) -> dict[Replica, Problem]:
    try:
        with Client(f"{broker.host}:{broker.port}", QUICK_SECONDS) as client:
            answer = client.ask(ApiKey.ALTER_REPLICA_LOG_DIRS, _request(own))
    except NoAnswer as error:
        return dict.fromkeys(own, Problem(str(error), passes=True))
    return {
        Replica(TopicPartition(topic.topic_name, each.partition_index), broker.id): _problem(each)
        for topic in answer.results
        for each in topic.partitions
        if each.error_code
    }


def _problem(result: Any) -> Problem:
    error = KafkaError(result.error_code)
    if error == KafkaError.REPLICA_NOT_AVAILABLE:
        return Problem(f"the replica is not there yet ({error.name})", passes=True)
    return Problem(error.name, passes=False)


def _request(own: Directories) -> AlterReplicaLogDirsRequest:
    paths: dict[str, dict[str, AlterReplicaLogDirTopic]] = {}
    for (name, _), directory in own.items():
        topics = paths.setdefault(directory, {})
        topic = topics.setdefault(name.topic, AlterReplicaLogDirTopic(name=name.topic))
        topic.partitions.append(name.partition)
    dirs = [
        AlterReplicaLogDir(path=path, topics=list(topics.values()))
        for path, topics in paths.items()
    ]
    return AlterReplicaLogDirsRequest(dirs=dirs)
