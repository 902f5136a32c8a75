"""Connections to the brokers of a region: the coordinator of each group, the leader of each partition."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, Final

from brokers.errors import KafkaError
from brokers.ids import TopicPartition
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.cluster import DescribeClusterRequest
from brokers.wire.messages.groups import FindCoordinatorRequest
from brokers.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from federation.commands.answers import Failure
from federation.commands.outcomes import reason_of
from federation.commands.region.bootstrap import connect
from federation.commands.region.client import Client

TIMEOUT_SECONDS: Final = 20.0  # a coordinator moves within the time of an election
_PAUSE_SECONDS: Final = 0.2
_MANY_KEYS_FROM: Final = 4  # version of FindCoordinator (KIP-699)
_MOVING: Final = frozenset(
    {
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.NOT_COORDINATOR,
    }
)


class RegionBrokers:
    """Opens one connection to each broker that is asked, and closes them at the end."""

    def __init__(self, first: Client, stack: ExitStack) -> None:
        self.first = first
        self._stack = stack
        self._open: dict[str, Client] = {}

    def at(self, host: str, port: int) -> Client:
        """Raises NoAnswer."""
        address = f"{host}:{port}"
        if address not in self._open:
            self._open[address] = self._stack.enter_context(Client(address))
        return self._open[address]

    def addresses(self) -> dict[int, tuple[str, int]]:
        """Of all brokers that are not fenced, by id."""
        found = self.first.ask(ApiKey.DESCRIBE_CLUSTER, DescribeClusterRequest())
        return {each.broker_id: (each.host, each.port) for each in found.brokers}

    def ask_coordinator(
        self, group: str, ask: Callable[[Client], Any], error_of: Callable[[Any], int]
    ) -> tuple[Any, int]:
        """The answer of the group's coordinator, and its id. Waits for a coordinator that moves or loads.

        Raises Failure.
        """
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while True:
            found = self._find(group)
            if not found.error_code:
                answer = ask(self.at(found.host, found.port))
                if error_of(answer) not in _MOVING:
                    return answer, found.node_id
                because = KafkaError(error_of(answer)).name
            elif found.error_code in _MOVING:
                because = reason_of(found)
            else:
                raise Failure(f"{group}: {reason_of(found)}", hint="look at the broker's log")
            if time.monotonic() > deadline:
                hint = "`causeway topic describe __consumer_offsets` shows who leads its partitions"
                raise Failure(f"{group} has no coordinator: {because}", hint=hint)
            time.sleep(_PAUSE_SECONDS)

    def leaders(
        self, topics: Iterable[str]
    ) -> tuple[dict[TopicPartition, int], Mapping[int, tuple[str, int]]]:
        """The leader of each partition of these topics (-1: none), and addresses. A topic that is none is left out."""
        wanted = [MetadataRequestTopic(name=name) for name in dict.fromkeys(topics)]
        if not wanted:  # no names would mean all topics
            return {}, {}
        request = MetadataRequest(topics=wanted, allow_auto_topic_creation=False)
        answer = self.first.ask(ApiKey.METADATA, request)
        leaders = {
            TopicPartition(topic.name, each.partition_index): each.leader_id
            for topic in answer.topics
            for each in topic.partitions
        }
        return leaders, {each.node_id: (each.host, each.port) for each in answer.brokers}

    def _find(self, group: str) -> Any:
        if self.first.version(ApiKey.FIND_COORDINATOR) >= _MANY_KEYS_FROM:
            request = FindCoordinatorRequest(coordinator_keys=[group])
            return self.first.ask(ApiKey.FIND_COORDINATOR, request).coordinators[0]
        return self.first.ask(ApiKey.FIND_COORDINATOR, FindCoordinatorRequest(key=group))


@contextmanager
def region_brokers(bootstrap: str) -> Iterator[RegionBrokers]:
    """Raises Failure where the region, or one of the brokers that have to be asked, does not answer."""
    with connect(bootstrap) as first, ExitStack() as stack:
        yield RegionBrokers(first, stack)
