"""The settings of a node's place in the quorum of controllers."""

from typing import Annotated

from pydantic import ConfigDict, Field, field_validator

from brokers.config import endpoints
from brokers.config.endpoints import Address
from brokers.config.listener_settings import ListenerSettings

Bytes32 = Annotated[int, Field(ge=1, le=2**31 - 1)]


class QuorumSettings(ListenerSettings):
    """Those of `BrokerConfig` that concern the quorum."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    # The first voters; later changes of them are in the metadata log. None: this node alone.
    controller_quorum_voters: Annotated[str | None, Field(alias="controller.quorum.voters")] = None
    # Where a node that names no voters asks for the quorum (KIP-853).
    controller_quorum_bootstrap_servers: Annotated[
        str | None, Field(alias="controller.quorum.bootstrap.servers")
    ] = None
    # Whether a controller that names no voters asks to become one.
    controller_quorum_auto_join_enable: Annotated[
        bool, Field(alias="controller.quorum.auto.join.enable")
    ] = False
    controller_quorum_election_timeout_ms: Annotated[
        Bytes32, Field(alias="controller.quorum.election.timeout.ms")
    ] = 1_000
    controller_quorum_election_backoff_max_ms: Annotated[
        Bytes32, Field(alias="controller.quorum.election.backoff.max.ms")
    ] = 1_000
    controller_quorum_fetch_timeout_ms: Annotated[
        Bytes32, Field(alias="controller.quorum.fetch.timeout.ms")
    ] = 2_000
    controller_quorum_request_timeout_ms: Annotated[
        Bytes32, Field(alias="controller.quorum.request.timeout.ms")
    ] = 2_000
    controller_quorum_retry_backoff_ms: Annotated[
        Bytes32, Field(alias="controller.quorum.retry.backoff.ms")
    ] = 20

    @field_validator("controller_quorum_bootstrap_servers")
    @classmethod
    def _bootstrap_servers(cls, value: str | None) -> str | None:
        if value is not None:
            endpoints.hosts(value)
        return value

    @field_validator("controller_quorum_voters")
    @classmethod
    def _voters(cls, value: str | None) -> str | None:
        if value is not None:
            endpoints.voters(value)
        return value

    @property
    def bootstrap_controllers(self) -> tuple[Address, ...]:
        """`controller.quorum.bootstrap.servers`, one by one."""
        return endpoints.hosts(self.controller_quorum_bootstrap_servers or "")
