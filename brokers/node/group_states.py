"""Whether groups of this region have members, as the brokers say that coordinate them."""

from collections.abc import Callable
from typing import Any, Final

from brokers.config.broker_config import BrokerConfig
from brokers.continuations import Continuations
from brokers.coordinator.runtime import CoordinatorRuntime
from brokers.effects import Effect
from brokers.events import Answered
from brokers.groups.group_coordinator import GroupCoordinator
from brokers.groups.group_state import GroupState
from brokers.groups.offsets_partition import partition_for
from brokers.ids import OFFSETS_TOPIC, Instant, Peer
from brokers.metadata.image.image import Image
from brokers.metadata.log.raft_manager import RaftManager
from brokers.region import DescribeGroups, GroupsDescribed
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.group_admin import DescribeGroupsRequest, DescribeGroupsResponse

CHANNEL: Final = "links"  # of connections to other brokers of this region
VERSION: Final = 5
TIMEOUT_MS: Final = 5_000
_EMPTY: Final = (GroupState.EMPTY.value, GroupState.DEAD.value)


def coordinator_of(image: Image, group: str) -> Peer | None:
    """The broker that coordinates a group; None where none does."""
    topic = image.topics_by_name.get(OFFSETS_TOPIC)
    if topic is None:
        return None
    leader = topic.partitions[partition_for(group, len(topic.partitions))].leader
    broker = image.brokers.get(leader)
    return broker.peer if broker is not None else None


class GroupStates:
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

    def describe(self, event: DescribeGroups) -> list[Effect]:
        """-> `GroupsDescribed` when all coordinators have answered."""
        here, elsewhere = self._by_coordinator(event.groups)
        coordinator = self._groups.coordinator
        found = {each: coordinator.is_active(each) for each in here if coordinator.knows(each)}
        pending = _PendingAnswer(event, found, len(elsewhere))
        if not elsewhere:
            return [*pending.done()]
        return [
            effect
            for peer, groups in elsewhere.items()
            for effect in self._ask(peer, groups, pending.answered)
        ]

    def _by_coordinator(self, groups: tuple[str, ...]) -> tuple[list[str], dict[Peer, list[str]]]:
        here: list[str] = []
        elsewhere: dict[Peer, list[str]] = {}
        for group in groups:
            peer = coordinator_of(self._raft.image, group)
            if peer is not None and peer.node_id == self._config.node_id:
                here.append(group)
            elif peer is not None:
                elsewhere.setdefault(peer, []).append(group)
        return here, elsewhere

    def _ask(
        self, peer: Peer, groups: list[str], then: Callable[[Answered, Instant], list[Any]]
    ) -> list[Effect]:
        request, key = DescribeGroupsRequest(groups=groups), ApiKey.DESCRIBE_GROUPS
        return self._continuations.ask(peer, CHANNEL, key, VERSION, request, TIMEOUT_MS, then)


class _PendingAnswer:
    """One `DescribeGroups`, and what is known so far."""

    def __init__(self, event: DescribeGroups, found: dict[str, bool], missing: int) -> None:
        self._event = event
        self._found = found
        self._missing = missing

    def answered(self, answer: Answered, now: Instant) -> list[Any]:
        response = answer.message
        if isinstance(response, DescribeGroupsResponse):
            self._found |= {
                each.group_id: each.group_state not in _EMPTY
                for each in response.groups
                if not each.error_code
            }
        self._missing -= 1
        return [] if self._missing else self.done()

    def done(self) -> list[Any]:
        return [GroupsDescribed(self._event.ticket, self._found)]
