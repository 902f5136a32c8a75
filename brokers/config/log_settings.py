"""The defaults of topics that a node's file sets, beside those in `BrokerConfig`."""

from typing import Annotated

from pydantic import ConfigDict, Field

from brokers.config.listener_settings import ListenerSettings

INT64_MAX = 2**63 - 1

Millis = Annotated[int, Field(ge=0, le=INT64_MAX)]


class LogSettings(ListenerSettings):
    """Those of `BrokerConfig` that are defaults of topics only."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    log_message_timestamp_before_max_ms: Annotated[
        Millis, Field(alias="log.message.timestamp.before.max.ms")
    ] = INT64_MAX
    log_message_timestamp_after_max_ms: Annotated[
        Millis, Field(alias="log.message.timestamp.after.max.ms")
    ] = 3_600_000
