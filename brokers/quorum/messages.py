"""What the quorum's requests and responses have in common: one topic, one partition, the versions."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from brokers.effects import Ask
from brokers.events import Request
from brokers.ids import METADATA_PARTITION, Peer, Ticket
from brokers.quorum.ids import METADATA_TOPIC_ID
from brokers.wire.message import Message
from brokers.wire.messages.api_keys import ApiKey

# Of the requests that are sent: the highest versions.
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
# The first version whose response has node endpoints; 1 for other keys.
ENDPOINTS_FROM: Mapping[int, int] = {ApiKey.FETCH: 16}
TOPIC, PARTITION = METADATA_PARTITION

VOTES_CHANNEL = "raft"
FETCH_CHANNEL = "metadata"
PROBE_CHANNEL = "probe"

_Endpoint = TypeVar("_Endpoint", bound=Message)


def ask(ticket: Ticket, peer: Peer, channel: str, key: int, message: Message, ms: int) -> Ask:
    return Ask(ticket, peer, channel, key, VERSIONS[key], message, ms)


def only_partition(topics: Sequence[Any]) -> Any | None:
    """The partition of a request or response, if it is only the metadata log's; else None."""
    if len(topics) != 1 or len(topics[0].partitions) != 1:
        return None
    topic, partition = topics[0], topics[0].partitions[0]
    index = getattr(partition, "partition_index", getattr(partition, "partition", None))
    index = getattr(partition, "index", 0) if index is None else index
    return partition if _is_metadata(topic) and index == PARTITION else None


def is_for(cluster_id: str | None, own: str) -> bool:
    """Whether a request is for this cluster: the cluster id is optional."""
    return cluster_id in (None, own)


def endpoints(make: type[_Endpoint], leader: Peer | None, request: Request) -> list[_Endpoint]:
    """The leader's endpoint for a response, from the version on that has the field."""
    first = ENDPOINTS_FROM.get(request.api_key, 1)
    if leader is None or not leader.port or request.api_version < first:
        return []
    return [make(node_id=leader.node_id, host=leader.host, port=leader.port)]  # type: ignore[call-arg]


def peers_of(message: Any) -> list[Peer]:
    """The node endpoints of a response."""
    return [Peer(each.node_id, each.host, each.port) for each in message.node_endpoints]


def _is_metadata(topic: Any) -> bool:
    by_id = getattr(topic, "topic_id", None)
    if by_id == METADATA_TOPIC_ID:
        return True
    names = (getattr(topic, field, None) for field in ("topic_name", "topic", "name"))
    return TOPIC in names
