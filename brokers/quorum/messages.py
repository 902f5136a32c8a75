"""The quorum's requests and answers as they are on the wire: one topic, one partition, at fixed versions."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from brokers.effects import Ask
from brokers.events import Request
from brokers.ids import METADATA_PARTITION, Peer, Ticket
from brokers.quorum.ids import METADATA_TOPIC_ID
from brokers.wire.message import Message
from brokers.wire.messages.api_keys import ApiKey

# What goes out: the highest that there is.
VERSIONS: Mapping[int, int] = {
    ApiKey.FETCH: 18,
    ApiKey.API_VERSIONS: 4,
    ApiKey.VOTE: 2,
    ApiKey.BEGIN_QUORUM_EPOCH: 1,
    ApiKey.END_QUORUM_EPOCH: 1,
    ApiKey.DESCRIBE_QUORUM: 2,
    ApiKey.FETCH_SNAPSHOT: 1,
    ApiKey.ADD_RAFT_VOTER: 1,
    ApiKey.REMOVE_RAFT_VOTER: 0,
    ApiKey.UPDATE_RAFT_VOTER: 0,
}
ENDPOINTS_FROM: Mapping[int, int] = {
    ApiKey.FETCH: 16
}  # the version of the answer that says where the leader is; else 1
TOPIC, PARTITION = METADATA_PARTITION

VOTES_CHANNEL = "raft"
FETCH_CHANNEL = "metadata"
PROBE_CHANNEL = "probe"

_Endpoint = TypeVar("_Endpoint", bound=Message)


def ask(ticket: Ticket, peer: Peer, channel: str, key: int, message: Message, ms: int) -> Ask:
    return Ask(ticket, peer, channel, key, VERSIONS[key], message, ms)


def only_partition(topics: Sequence[Any]) -> Any | None:
    """The one partition of a request or answer that is about the metadata log; None if it is about something else."""
    if len(topics) != 1 or len(topics[0].partitions) != 1:
        return None
    topic, partition = topics[0], topics[0].partitions[0]
    index = getattr(partition, "partition_index", getattr(partition, "partition", None))
    index = getattr(partition, "index", 0) if index is None else index
    return partition if _is_metadata(topic) and index == PARTITION else None


def is_for(cluster_id: str | None, own: str) -> bool:
    """A request may leave out which cluster it is meant for."""
    return cluster_id in (None, own)


def endpoints(make: type[_Endpoint], leader: Peer | None, request: Request) -> list[_Endpoint]:
    """Where the leader is, for those who ask somebody else; older versions have no place for it."""
    first = ENDPOINTS_FROM.get(request.api_key, 1)
    if leader is None or not leader.port or request.api_version < first:
        return []
    return [make(node_id=leader.node_id, host=leader.host, port=leader.port)]  # type: ignore[call-arg]


def told_peers(message: Any) -> list[Peer]:
    """Addresses that came with an answer."""
    return [Peer(each.node_id, each.host, each.port) for each in message.node_endpoints]


def _is_metadata(topic: Any) -> bool:
    by_id = getattr(topic, "topic_id", None)
    if by_id == METADATA_TOPIC_ID:
        return True
    names = (getattr(topic, field, None) for field in ("topic_name", "topic", "name"))
    return TOPIC in names
