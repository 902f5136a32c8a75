"""What peers may ask of a node at once: other regions, operators, and whoever watches it. All keys are ours.

A lower bound of a setting is what a peer with the defaults may need: no configuration refuses that.
"""

from collections.abc import Iterator
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

MIB = 1 << 20
INT32_MAX = 2**31 - 1

Count = Annotated[int, Field(ge=1, le=INT32_MAX)]


class PeerLimits(BaseModel):
    """Those of `BrokerConfig` that concern link.listener, admin.listener, rest.listener and metrics.listener."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    # --- link.listener ---

    # Connections with or without a stream; those without one are closed after 30 s.
    link_max_connections: Annotated[
        int, Field(ge=64, le=INT32_MAX, alias="link.max.connections")
    ] = 1_024
    # The mirror topics that a link may have here, also those that it makes of itself. No protocol carries longer lists.
    link_max_topics: Annotated[int, Field(ge=1, le=20_000, alias="link.max.topics")] = 20_000
    # Partitions that other regions follow here.
    link_max_subscriptions: Annotated[
        int, Field(ge=10_000, le=INT32_MAX, alias="link.max.subscriptions")
    ] = 100_000
    link_max_subscriptions_per_stream: Annotated[
        int, Field(ge=10_000, le=INT32_MAX, alias="link.max.subscriptions.per.stream")
    ] = 50_000
    # The names and filters that other regions have this node watch: their characters, and 1,000 for each topic, 200 for
    # each filter. One stream may have 40 MiB: 20,000 topics and twice 10,000 filters, with names as long as topics may
    # have.
    link_watched_max_bytes: Annotated[
        int, Field(ge=40 * MIB, le=INT32_MAX, alias="link.watched.max.bytes")
    ] = 64 * MIB

    # --- admin.listener, and commands over REST ---

    admin_max_connections: Annotated[
        int, Field(ge=64, le=INT32_MAX, alias="admin.max.connections")
    ] = 1_024
    # Commands that are under way. A promotion may wait for minutes.
    admin_max_commands: Annotated[Count, Field(alias="admin.max.commands")] = 64
    admin_max_commands_per_ip: Annotated[Count, Field(alias="admin.max.commands.per.ip")] = 16
    # Of one command. A document of the metadata log may have 1 MiB, so the settings of a link may.
    admin_request_max_bytes: Annotated[
        int, Field(ge=2 * MIB, le=64 * MIB, alias="admin.request.max.bytes")
    ] = 4 * MIB
    # Of all commands that are under way.
    admin_queued_max_bytes: Annotated[
        int, Field(ge=4 * MIB, le=INT32_MAX, alias="admin.queued.max.bytes")
    ] = 16 * MIB

    # --- rest.listener and metrics.listener, each ---

    http_max_connections: Annotated[Count, Field(alias="http.max.connections")] = 64
    http_max_connections_per_ip: Annotated[Count, Field(alias="http.max.connections.per.ip")] = 48

    def limit_problems(self) -> Iterator[str]:
        """Limits of one peer that are above those of all, as sentences that begin with the setting's name."""
        if self.admin_queued_max_bytes < 2 * self.admin_request_max_bytes:
            yield (
                "admin.queued.max.bytes: below twice admin.request.max.bytes, so that no command would be taken while"
                " another one is under way"
            )
        if self.link_max_subscriptions < self.link_max_subscriptions_per_stream:
            yield "link.max.subscriptions: below link.max.subscriptions.per.stream"
