"""The metadata quorum as its leader describes it: voters, observers, and how many losses it survives (KIP-595, 853)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from brokers.ids import METADATA_PARTITION, NO_ID, id_text
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestPartition,
    DescribeQuorumRequestTopic,
)
from federation.commands.region.client import QUICK_SECONDS, Client, NoAnswer

# A voter fetches at least every 500 ms.
AWAY_MS: Final = 5_000
_UNKNOWN: Final = -1


@dataclass(frozen=True, slots=True)
class VoterState:
    """A replica of the metadata log; `lag` is the number of records that it is behind the active controller.

    None where the active controller has received no fetch from it since it was elected. `silent_ms` is the time since
    its last fetch. `directory` and `endpoint` are None where the leader does not report them.
    """

    id: int
    lag: int | None
    silent_ms: int | None = None
    directory: str | None = None
    endpoint: str | None = None

    @property
    def is_away(self) -> bool:
        return self.lag is None or (self.silent_ms or 0) > AWAY_MS


@dataclass(frozen=True, slots=True)
class QuorumInfo:
    """`leader` is the active controller. `listener` is the name of the listener at which voters are asked."""

    leader: int
    leader_epoch: int
    high_watermark: int
    voters: tuple[VoterState, ...]
    observers: tuple[VoterState, ...] = ()
    listener: str | None = None

    @property
    def away(self) -> tuple[VoterState, ...]:
        return tuple(each for each in self.voters if each.is_away)

    @property
    def spare(self) -> int:
        """How many more voters may be lost while a majority is left."""
        return spare(len(self.voters), len(self.away))

    @property
    def survives_a_loss(self) -> bool:
        """A quorum of one voter is one by choice: its region is there while the voter is."""
        return len(self.voters) == 1 or self.spare > 0

    @property
    def sentence(self) -> str:
        count = len(self.voters)
        if count == 1:
            return "1 voter: the region is there while it is"
        away = ", ".join(str(each.id) for each in self.away)
        missing = f", {away} not heard of" if away else ""
        if self.spare > 0:
            return f"{count} voters{missing}, survives the loss of {self.spare}"
        return f"{count} voters{missing}, survives no loss"

    def voter(self, node: int) -> VoterState | None:
        return next((each for each in self.voters if each.id == node), None)


def spare(voters: int, away: int) -> int:
    """How many of so many voters may be lost beside those that are away; below 0 there is no majority."""
    majority = voters // 2 + 1
    return voters - away - majority


def describe_quorum(address: str) -> QuorumInfo | None:
    """None where the quorum's leader does not answer.

    Asked over a connection of its own: while the leader is frozen, the broker still answers other requests.
    """
    partition = DescribeQuorumRequestPartition(partition_index=METADATA_PARTITION.partition)
    topic = DescribeQuorumRequestTopic(topic_name=METADATA_PARTITION.topic, partitions=[partition])
    try:
        with Client(address, QUICK_SECONDS) as client:
            answer = client.ask(ApiKey.DESCRIBE_QUORUM, DescribeQuorumRequest(topics=[topic]))
    except NoAnswer:
        return None
    if answer.error_code or answer.topics[0].partitions[0].error_code:
        return None
    return _info(
        answer.topics[0].partitions[0], {each.node_id: each.listeners for each in answer.nodes}
    )


def _info(quorum: Any, listeners: dict[int, Any]) -> QuorumInfo:
    leader = next(
        (each for each in quorum.current_voters if each.replica_id == quorum.leader_id), None
    )
    end = quorum.high_watermark if leader is None else leader.log_end_offset
    now = _UNKNOWN if leader is None else leader.last_fetch_timestamp  # the leader's clock

    def states(replicas: Iterable[Any]) -> tuple[VoterState, ...]:
        ordered = sorted(replicas, key=lambda each: each.replica_id)
        return tuple(_state(each, end, now, listeners.get(each.replica_id, ())) for each in ordered)

    names = [one.name for each in listeners.values() for one in each]
    return QuorumInfo(
        quorum.leader_id,
        quorum.leader_epoch,
        quorum.high_watermark,
        states(quorum.current_voters),
        states(quorum.observers),
        names[0] if names else None,
    )


def _state(replica: Any, end: int, now: int, listeners: Any) -> VoterState:
    fetched, offset = replica.last_fetch_timestamp, replica.log_end_offset
    return VoterState(
        replica.replica_id,
        None if offset == _UNKNOWN else max(0, end - offset),
        None if _UNKNOWN in (fetched, now) else max(0, now - fetched),
        None if replica.replica_directory_id == NO_ID else id_text(replica.replica_directory_id),
        f"{listeners[0].host}:{listeners[0].port}" if listeners else None,
    )
