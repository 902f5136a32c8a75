"""DescribeLogDirs and AlterReplicaLogDirs (KIP-113), sent to each broker.

A broker knows its own log directories only, and moves replicas between them itself.
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
from federation.commands.reassign.plan import Directories, TopicPartitionReplica
from federation.commands.region.client import QUICK_SECONDS, Client, NoAnswer
from federation.commands.region.description import BrokerDescription


class ReplicaLogDirInfo(NamedTuple):
    """Kafka's ReplicaLogDirInfo: the log directories of a replica and of its future replica; empty for none."""

    current: str = ""
    future: str = ""


@dataclass(frozen=True, slots=True)
class BrokerLogDirs:
    """The log directories of a broker; `problem` is why it did not answer, else empty.

    Those of `online` that get no new replicas, as their disks are nearly full, are in `cordoned` too (KIP-1066).
    """

    online: list[str] = field(default_factory=list)
    cordoned: list[str] = field(default_factory=list)
    offline: list[str] = field(default_factory=list)
    replicas: dict[TopicPartition, ReplicaLogDirInfo] = field(default_factory=dict)
    problem: str = ""

    @property
    def is_cordoned(self) -> bool:
        """Whether the broker gets no new replicas at all."""
        return bool(self.cordoned) and set(self.online) <= set(self.cordoned)


class MoveError(NamedTuple):
    """Why a move has not begun; `passes`: a retry may succeed."""

    because: str
    passes: bool


def describe_log_dirs(
    brokers: Iterable[BrokerDescription], replicas: Collection[TopicPartitionReplica]
) -> dict[int, BrokerLogDirs]:
    """Broker -> its log directories, and those of these replicas; brokers without one of the replicas are left out."""
    found: dict[int, BrokerLogDirs] = {}
    for broker in brokers:
        names = {each.partition: None for each in replicas if each.broker == broker.id}
        if names:
            found[broker.id] = _described(broker, names)
    return found


def cordoned_brokers(brokers: Iterable[BrokerDescription]) -> list[int]:
    """Those that get no new replicas. Brokers that don't answer, or are too old to tell, are not among them."""
    return [broker.id for broker in brokers if _described(broker, ()).is_cordoned]


def _described(broker: BrokerDescription, names: Iterable[TopicPartition]) -> BrokerLogDirs:
    topics: dict[str, DescribableLogDirTopic] = {}
    for name in names:
        topic = topics.setdefault(name.topic, DescribableLogDirTopic(topic=name.topic))
        topic.partitions.append(name.partition)
    try:
        with Client(f"{broker.host}:{broker.port}", QUICK_SECONDS) as client:
            if not client.serves(ApiKey.DESCRIBE_LOG_DIRS) or not client.serves(
                ApiKey.ALTER_REPLICA_LOG_DIRS
            ):
                return BrokerLogDirs(problem="it is too old to move replicas between them")
            request = DescribeLogDirsRequest(topics=list(topics.values()))
            answer = client.ask(ApiKey.DESCRIBE_LOG_DIRS, request)
    except NoAnswer as error:
        return BrokerLogDirs(problem=str(error))
    return (
        BrokerLogDirs(problem=KafkaError(answer.error_code).name)
        if answer.error_code
        else _read(answer)
    )


def _read(answer: Any) -> BrokerLogDirs:
    found = BrokerLogDirs()
    for result in answer.results:
        (found.offline if result.error_code else found.online).append(result.log_dir)
        if result.is_cordoned:
            found.cordoned.append(result.log_dir)
        for topic in result.topics:
            for each in topic.partitions:
                name = TopicPartition(topic.name, each.partition_index)
                where = "future" if each.is_future_key else "current"
                known = found.replicas.get(name, ReplicaLogDirInfo())
                found.replicas[name] = known._replace(**{where: result.log_dir})
    return found


def begin(
    brokers: Iterable[BrokerDescription], wanted: Directories
) -> dict[TopicPartitionReplica, MoveError]:
    """Send AlterReplicaLogDirs for these moves; returns the replicas whose moves have not begun."""
    problems: dict[TopicPartitionReplica, MoveError] = {}
    for broker in brokers:
        own = {each: directory for each, directory in wanted.items() if each.broker == broker.id}
        if own:
            problems |= _begun(broker, own)
    return problems


def _begun(broker: BrokerDescription, own: Directories) -> dict[TopicPartitionReplica, MoveError]:
    try:
        with Client(f"{broker.host}:{broker.port}", QUICK_SECONDS) as client:
            answer = client.ask(ApiKey.ALTER_REPLICA_LOG_DIRS, _request(own))
    except NoAnswer as error:
        return dict.fromkeys(own, MoveError(str(error), passes=True))
    return {
        TopicPartitionReplica(
            TopicPartition(topic.topic_name, each.partition_index), broker.id
        ): _problem(each)
        for topic in answer.results
        for each in topic.partitions
        if each.error_code
    }


def _problem(result: Any) -> MoveError:
    error = KafkaError(result.error_code)
    if error == KafkaError.REPLICA_NOT_AVAILABLE:
        return MoveError(f"the replica is not there yet ({error.name})", passes=True)
    return MoveError(error.name, passes=False)


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
