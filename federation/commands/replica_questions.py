"""Every replica of a region, as the leaders of its partitions see them: each broker tells of those that it leads."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from federation.commands.region_client import NoAnswer
from federation.commands.region_picture import NOBODY, Broker, Partition
from federation.commands.region_questions import broker_setting
from linker.shell.administrator import Administrator, Unreachable
from linker.shell.discovery import SETTING, reachable
from linker.wire.v1 import admin_pb2 as pb

PATIENCE_S: Final = 10.0
AT_ONCE: Final = 8
_UNKNOWN: Final = -1

Key: TypeAlias = tuple[str, int, int]  # topic, partition, broker


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One replica; None is what nobody could tell. `lag` is in records."""

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
        """Whether a leader told of it."""
        return self.is_caught_up is not None


@dataclass(frozen=True, slots=True)
class Silent:
    """A leader that told nothing, and why."""

    broker: int
    because: str


def rows(
    partitions: Sequence[Partition], brokers: Iterable[Broker]
) -> tuple[list[Row], list[Silent]]:
    """One row for each replica of each partition, whether its leader answers or not."""
    by_leader: dict[int, dict[str, None]] = {}
    for partition in partitions:
        by_leader.setdefault(partition.leader, {})[partition.topic] = None
    addresses = {broker.id: f"{broker.host}:{broker.port}" for broker in brokers}
    leaders = [leader for leader in by_leader if leader != NOBODY]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        told = pool.map(lambda each: _ask(addresses.get(each), each, by_leader[each]), leaders)
        answers = list(told)
    known: dict[Key, Any] = {}
    for answer in answers:
        if not isinstance(answer, Silent):
            known |= {(each.topic, each.partition, each.replica): each for each in answer}
    found = [row for partition in partitions for row in _rows(partition, known)]
    return found, [answer for answer in answers if isinstance(answer, Silent)]


def _rows(partition: Partition, known: Mapping[Key, Any]) -> Iterator[Row]:
    for replica in partition.replicas:
        told = known.get((partition.topic, partition.partition, replica))
        if told is not None:
            yield _told(told)
            continue
        yield Row(
            topic=partition.topic,
            partition=partition.partition,
            replica=replica,
            is_leader=replica == partition.leader,
            is_in_isr=replica in partition.isr,
        )


def _told(told: Any) -> Row:
    return Row(
        topic=told.topic,
        partition=told.partition,
        replica=told.replica,
        is_leader=told.is_leader,
        is_observer=told.is_observer,
        is_isr_eligible=told.is_isr_eligible,
        is_in_isr=told.is_in_isr,
        is_caught_up=told.is_caught_up,
        last_caught_up_lag_ms=_number(told.last_caught_up_lag_ms),
        last_fetch_lag_ms=_number(told.last_fetch_lag_ms),
        log_start_offset=_number(told.log_start_offset),
        log_end_offset=_number(told.log_end_offset),
        lag=_number(told.lag),
    )


def _number(value: int) -> int | None:
    return None if value == _UNKNOWN else value


def _ask(address: str | None, broker: int, topics: Iterable[str]) -> list[Any] | Silent:
    """What a broker says of the partitions that it leads."""
    if address is None:
        return Silent(broker, "it is not among the brokers that the region names")
    try:
        endpoint = _administration(address, broker)
        if endpoint is None:
            return Silent(broker, f"{address} has no {SETTING}: it is no broker of ours")
        request = pb.DescribeReplicasRequest(topics=topics)
        with Administrator(endpoint) as administrator:
            reply = administrator.ask("DescribeReplicas", request, PATIENCE_S)
    except (NoAnswer, Unreachable) as error:
        return Silent(broker, str(error))
    if reply.HasField("error"):
        return Silent(broker, f"{reply.error.message} ({reply.error.code})")
    return list(reply.replicas)


def _administration(address: str, broker: int) -> str | None:
    """Where the broker at this Kafka address is administered."""
    endpoint = broker_setting(address, broker, SETTING)
    return reachable(endpoint, address.rpartition(":")[0].strip("[]")) if endpoint else None
