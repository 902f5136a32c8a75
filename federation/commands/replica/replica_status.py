"""The status of every replica of a region, requested from the leader of each partition."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from federation.commands.region.client import NoAnswer
from federation.commands.region.description import NOBODY, BrokerDescription, PartitionDescription
from federation.commands.region.requests import broker_setting
from linker.shell.administrator import Administrator, Unreachable
from linker.shell.discovery import ADMIN_LISTENER, reachable
from linker.wire.v1 import admin_pb2 as pb

AT_ONCE: Final = 8
NAMED_MAX: Final = 5
_UNKNOWN: Final = -1

Key: TypeAlias = tuple[str, int]  # topic, partition


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaStatusRow:
    """One replica; None for unknown values, where its leader did not answer. `lag` is in records."""

    topic: str
    partition: int
    replica: int
    cluster_link: str | None = None
    is_leader: bool
    is_observer: bool | None = None
    is_isr_eligible: bool | None = None
    is_in_isr: bool
    is_caught_up: bool | None = None
    last_caught_up_lag_ms: int | None = None
    last_fetch_lag_ms: int | None = None
    log_start_offset: int | None = None
    log_end_offset: int | None = None
    lag: int | None = None

    @property
    def is_known(self) -> bool:
        """Whether the leader described this replica."""
        return self.is_caught_up is not None


@dataclass(frozen=True, slots=True)
class LeaderFailure:
    """Why a leader did not describe its partitions; `broker` is None for partitions without a leader."""

    broker: int | None
    because: str


def rows(
    partitions: Sequence[PartitionDescription],
    brokers: Iterable[BrokerDescription],
    timeout_s: float,
) -> tuple[list[ReplicaStatusRow], list[LeaderFailure]]:
    """One row for each replica of each partition, whether its leader answers or not."""
    led: dict[int, list[PartitionDescription]] = {}
    for partition in partitions:
        led.setdefault(partition.leader, []).append(partition)
    addresses = {broker.id: f"{broker.host}:{broker.port}" for broker in brokers}

    def ask(leader: int) -> list[Any] | LeaderFailure:
        if leader == NOBODY:
            return LeaderFailure(None, f"nobody leads {_names(led[leader])}")
        topics = dict.fromkeys(partition.topic for partition in led[leader])
        return _describe(addresses.get(leader), leader, topics, timeout_s)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = dict(zip(led, pool.map(ask, led), strict=True))
    described = _by_partition(
        each for each in answers.values() if not isinstance(each, LeaderFailure)
    )
    found = [row for partition in partitions for row in _rows(partition, described)]
    return found, list(_failures(led, answers, described))


def _by_partition(answers: Iterable[Iterable[Any]]) -> dict[Key, list[Any]]:
    described: dict[Key, list[Any]] = {}
    for answer in answers:
        for each in answer:
            described.setdefault((each.topic, each.partition), []).append(each)
    return described


def _failures(
    led: Mapping[int, list[PartitionDescription]],
    answers: Mapping[int, list[Any] | LeaderFailure],
    described: Mapping[Key, list[Any]],
) -> Iterator[LeaderFailure]:
    for leader, answer in answers.items():
        if isinstance(answer, LeaderFailure):
            yield answer
            continue
        missing = [each for each in led[leader] if (each.topic, each.partition) not in described]
        if missing:
            yield LeaderFailure(leader, f"it no longer leads {_names(missing)}: ask again")


def _names(partitions: Sequence[PartitionDescription]) -> str:
    named = [f"{each.topic}-{each.partition}" for each in partitions]
    more = f" and {len(named) - NAMED_MAX} more" if len(named) > NAMED_MAX else ""
    return ", ".join(named[:NAMED_MAX]) + more


def _rows(
    partition: PartitionDescription, described: Mapping[Key, list[Any]]
) -> Iterator[ReplicaStatusRow]:
    """The leader's own list of replicas, which may be newer than `partition`; without it, unknown values."""
    replicas = described.get((partition.topic, partition.partition))
    if replicas is not None:
        yield from map(_row, replicas)
        return
    for replica in partition.replicas:
        yield ReplicaStatusRow(
            topic=partition.topic,
            partition=partition.partition,
            replica=replica,
            is_leader=replica == partition.leader,
            is_in_isr=replica in partition.isr,
        )


def _row(replica: Any) -> ReplicaStatusRow:
    return ReplicaStatusRow(
        topic=replica.topic,
        partition=replica.partition,
        replica=replica.replica,
        cluster_link=replica.cluster_link or None,
        is_leader=replica.is_leader,
        is_observer=replica.is_observer,
        is_isr_eligible=replica.is_isr_eligible,
        is_in_isr=replica.is_in_isr,
        is_caught_up=replica.is_caught_up,
        last_caught_up_lag_ms=_number(replica.last_caught_up_lag_ms),
        last_fetch_lag_ms=_number(replica.last_fetch_lag_ms),
        log_start_offset=_number(replica.log_start_offset),
        log_end_offset=_number(replica.log_end_offset),
        lag=_number(replica.lag),
    )


def _number(value: int) -> int | None:
    return None if value == _UNKNOWN else value


def _describe(
    address: str | None, broker: int, topics: Iterable[str], timeout_s: float
) -> list[Any] | LeaderFailure:
    """The broker's description of the replicas that it leads, or why it did not answer."""
    if address is None:
        return LeaderFailure(broker, "it is not among the brokers that the region names")
    try:
        listens_at = broker_setting(address, broker, ADMIN_LISTENER, timeout_s)
        if not listens_at:
            return LeaderFailure(
                broker, f"{address} has no {ADMIN_LISTENER}: it is no broker of ours"
            )
        request = pb.DescribeReplicasRequest(topics=topics)
        endpoint = reachable(listens_at, address.rpartition(":")[0].strip("[]"))
        with Administrator(endpoint) as administrator:
            reply = administrator.ask("DescribeReplicas", request, timeout_s)
    except (NoAnswer, Unreachable) as error:
        return LeaderFailure(broker, str(error))
    if reply.HasField("error"):
        return LeaderFailure(broker, f"{reply.error.message} ({reply.error.code})")
    return list(reply.replicas)
