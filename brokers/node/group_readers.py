"""Which groups of this region with members read some topics: each broker is asked for those that it coordinates.

Others are asked over Kafka's protocol, as an administrator would: ListGroups for those with members, DescribeGroups
for what these subscribe to, and OffsetFetch for what they have committed.
"""

from collections.abc import Iterable
from typing import Any, Final

from brokers.config.broker_config import BrokerConfig
from brokers.continuations import Continuations, OnAnswer
from brokers.coordinator.runtime import CoordinatorRuntime
from brokers.effects import Effect
from brokers.errors import error_from_code
from brokers.events import Answered
from brokers.groups.consumer_protocol import CONSUMER_PROTOCOL_TYPE, subscribed_topics
from brokers.groups.group_coordinator import GroupCoordinator
from brokers.groups.group_state import GroupState
from brokers.ids import OFFSETS_TOPIC, Instant, Peer
from brokers.metadata.image.image import Image
from brokers.metadata.log.raft_manager import RaftManager
from brokers.node.group_states import CHANNEL, TIMEOUT_MS
from brokers.region import FindReaders, ReadersFound
from brokers.wire.message import Message
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.group_admin import (
    DescribedGroup,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    ListGroupsRequest,
    ListGroupsResponse,
)
from brokers.wire.messages.group_offsets import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)

LIST_VERSION: Final = 4  # the first that filters by state
DESCRIBE_VERSION: Final = 5
OFFSETS_VERSION: Final = 8  # the first that asks for many groups
_WITH_MEMBERS: Final = (
    GroupState.PREPARING_REBALANCE.value,
    GroupState.COMPLETING_REBALANCE.value,
    GroupState.STABLE.value,
)


class GroupReaders:
    """Of one node."""

    def __init__(
        self,
        config: BrokerConfig,
        raft: RaftManager,
        continuations: Continuations,
        groups: CoordinatorRuntime[GroupCoordinator],
    ) -> None:
        self._config = config
        self._raft = raft
        self._continuations = continuations
        self._groups = groups

    def find(self, event: FindReaders) -> list[Effect]:
        """-> `ReadersFound` when all brokers that coordinate groups have answered, or are given up."""
        image = self._raft.image
        search = _Search(event, image)
        for partition in _without_leader(image):
            search.is_unknown(f"{OFFSETS_TOPIC}-{partition} has no leader")
        self._look_here(search)
        asks = [
            effect
            for peer in _coordinators(image)
            if peer.node_id != self._config.node_id
            for effect in _BrokerSearch(search, peer, self._continuations).begin()
        ]
        return asks or search.done()

    def _look_here(self, search: "_Search") -> None:
        coordinator = self._groups.coordinator
        if coordinator.is_loading:
            search.is_unknown(f"broker {self._config.node_id} has not read all of its groups yet")
        for topic, groups in coordinator.active_readers(search.topics).items():
            search.found[topic].update(groups)


def _coordinators(image: Image) -> list[Peer]:
    """The brokers that lead partitions of `__consumer_offsets`."""
    topic = image.topics_by_name.get(OFFSETS_TOPIC)
    leaders = {each.leader for each in topic.partitions} if topic is not None else set()
    return [image.brokers[each].peer for each in sorted(leaders) if each in image.brokers]


def _without_leader(image: Image) -> list[int]:
    topic = image.topics_by_name.get(OFFSETS_TOPIC)
    partitions = topic.partitions if topic is not None else ()
    return [index for index, each in enumerate(partitions) if each.leader not in image.brokers]


class _Search:
    """One `FindReaders`, and what is known so far. `missing`: brokers that have not said all."""

    def __init__(self, event: FindReaders, image: Image) -> None:
        self.topics = event.topics
        self.found: dict[str, set[str]] = {topic: set() for topic in event.topics}
        self.missing = 0
        self._ticket = event.ticket
        self._image = image
        self._unknown: dict[str, None] = {}

    def is_unknown(self, because: str) -> None:
        self._unknown[because] = None

    def done(self) -> list[Any]:
        groups = {topic: tuple(sorted(found)) for topic, found in self.found.items()}
        return [ReadersFound(self._ticket, groups, tuple(self._unknown))]

    def places(self) -> list[OffsetFetchRequestTopics]:
        """All partitions of the topics."""
        known = ((each, self._image.topics_by_name.get(each)) for each in self.topics)
        return [
            OffsetFetchRequestTopics(
                name=name, partition_indexes=list(range(len(topic.partitions)))
            )
            for name, topic in known
            if topic is not None
        ]


class _BrokerSearch:
    """What another broker says of the groups that it coordinates, in three questions."""

    def __init__(self, search: _Search, peer: Peer, continuations: Continuations) -> None:
        self._search = search
        self._peer = peer
        self._continuations = continuations
        self._rebalancing: set[str] = set()

    def begin(self) -> list[Effect]:
        self._search.missing += 1
        request = ListGroupsRequest(states_filter=list(_WITH_MEMBERS))
        return self._ask(ApiKey.LIST_GROUPS, LIST_VERSION, request, self._listed)

    def _listed(self, answer: Answered, now: Instant) -> list[Any]:
        response = answer.message
        if not isinstance(response, ListGroupsResponse):
            return self._give_up("does not answer")
        if response.error_code:
            return self._give_up(f"answers {error_from_code(response.error_code).name}")
        groups = [each.group_id for each in response.groups]
        if not groups:
            return self._end()
        request = DescribeGroupsRequest(groups=groups)
        return self._ask(ApiKey.DESCRIBE_GROUPS, DESCRIBE_VERSION, request, self._described)

    def _described(self, answer: Answered, now: Instant) -> list[Any]:
        response = answer.message
        if not isinstance(response, DescribeGroupsResponse):
            return self._give_up("does not answer")
        for group in response.groups:
            self._look_at(group)
        groups = [each.group_id for each in response.groups if each.group_state in _WITH_MEMBERS]
        asked = [
            OffsetFetchRequestGroup(group_id=each, topics=self._search.places()) for each in groups
        ]
        if not asked:
            return self._end()
        request = OffsetFetchRequest(groups=asked)
        return self._ask(ApiKey.OFFSET_FETCH, OFFSETS_VERSION, request, self._fetched)

    def _look_at(self, group: DescribedGroup) -> None:
        """A coordinator says what members subscribe to only while their group is stable."""
        if group.error_code:
            error = error_from_code(group.error_code).name
            self._search.is_unknown(f"group {group.group_id}: {error}")
        elif group.protocol_type == CONSUMER_PROTOCOL_TYPE and group.group_state in _WITH_MEMBERS:
            if group.group_state != GroupState.STABLE.value:
                self._rebalancing.add(group.group_id)
                return
            for member in group.members:
                self._subscribes(group.group_id, subscribed_topics(bytes(member.member_metadata)))

    def _subscribes(self, group: str, topics: Iterable[str] | None) -> None:
        """A subscription that cannot be decoded covers every topic."""
        for topic in self._search.topics if topics is None else topics:
            if topic in self._search.found:
                self._search.found[topic].add(group)

    def _fetched(self, answer: Answered, now: Instant) -> list[Any]:
        response = answer.message
        if not isinstance(response, OffsetFetchResponse):
            return self._give_up("does not answer")
        for group in response.groups:
            if group.error_code:
                error = error_from_code(group.error_code).name
                self._search.is_unknown(f"group {group.group_id}: {error}")
            for topic in group.topics:
                if any(each.committed_offset >= 0 for each in topic.partitions):
                    self._search.found[topic.name].add(group.group_id)
        return self._end()

    def _give_up(self, because: str) -> list[Any]:
        self._search.is_unknown(f"broker {self._peer.node_id} {because}")
        return self._end()

    def _end(self) -> list[Any]:
        for group in sorted(self._rebalancing):
            if not any(group in each for each in self._search.found.values()):
                self._search.is_unknown(f"group {group} rebalances")
        self._search.missing -= 1
        return [] if self._search.missing else self._search.done()

    def _ask(self, key: ApiKey, version: int, request: Message, then: OnAnswer) -> list[Effect]:
        return self._continuations.ask(self._peer, CHANNEL, key, version, request, TIMEOUT_MS, then)
