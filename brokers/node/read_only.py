"""Requests that change nothing: an exception of one ends its connection, and not the node.

Kafka answers every exception of a request with UNKNOWN_SERVER_ERROR and goes on. Here a request that changes something,
and raises in the middle of it, ends the node (SECURITY.md). One that only reads leaves everything as it was.
"""

from collections.abc import Mapping
from typing import Final

from brokers.api.ports import Handle
from brokers.effects import Effect, Hangup
from brokers.events import Request
from brokers.ids import Instant
from brokers.internal_errors import brief, raised
from brokers.wire.messages.api_keys import ApiKey

# METADATA and FIND_COORDINATOR may ask the controller for topics, which is the last thing that they do.
READ_ONLY: Final = frozenset(
    (
        ApiKey.LIST_OFFSETS,
        ApiKey.METADATA,
        ApiKey.FIND_COORDINATOR,
        ApiKey.OFFSET_FETCH,
        ApiKey.OFFSET_FOR_LEADER_EPOCH,
        ApiKey.API_VERSIONS,
        ApiKey.DESCRIBE_GROUPS,
        ApiKey.LIST_GROUPS,
        ApiKey.DESCRIBE_CONFIGS,
        ApiKey.DESCRIBE_LOG_DIRS,
        ApiKey.DESCRIBE_CLUSTER,
        ApiKey.DESCRIBE_PRODUCERS,
        ApiKey.DESCRIBE_TOPIC_PARTITIONS,
        ApiKey.LIST_PARTITION_REASSIGNMENTS,
    )
)


def contained(handlers: Mapping[int, Handle]) -> dict[int, Handle]:
    """The same handlers; those of `READ_ONLY` raise nothing."""
    return {
        key: _contained(ApiKey(key), handle) if key in READ_ONLY else handle
        for key, handle in handlers.items()
    }


def _contained(key: ApiKey, handle: Handle) -> Handle:
    def handled(request: Request, now: Instant) -> list[Effect]:
        try:
            return handle(request, now)
        except Exception as error:
            because = f"{key.name} raised {brief(error)}"
            return [raised("request", error), Hangup(request.ticket, because)]

    return handled
