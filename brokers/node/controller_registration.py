"""This node as a controller that operators find: it registers with the active one, once in its life (KIP-919)."""

from typing import Final
from uuid import UUID

from brokers.config.broker_config import BrokerConfig
from brokers.effects import Effect
from brokers.errors import Refusal, error_from_code
from brokers.ids import Instant
from brokers.membership.controller_channel import ControllerChannel
from brokers.metadata.log.quorum_config import own_endpoints
from brokers.node.local_controller import LocalController
from brokers.node.own_registration import features, listeners
from brokers.timers import Timers
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.broker_lifecycle import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
)

AGAIN_MS: Final = 1_000


class ControllerRegistration:
    """`progressed` after whatever may have changed the image or the controller."""

    def __init__(
        self,
        config: BrokerConfig,
        incarnation: UUID,
        controller: LocalController,
        channel: ControllerChannel,
        timers: Timers,
    ) -> None:
        self._config = config
        self._incarnation = incarnation
        self._controller = controller
        self._channel = channel
        self._timers = timers
        # A controller without a listener is the whole region.
        self._is_wanted = config.is_controller and bool(own_endpoints(config))

    def progressed(self, now: Instant) -> list[Effect]:
        if not self._is_wanted or not self._controller.is_known:
            return []
        self._is_wanted = False
        return self._channel.send(
            ApiKey.CONTROLLER_REGISTRATION, self._message(), self._on_answer, now
        )

    def _message(self) -> ControllerRegistrationRequest:
        config = self._config
        return ControllerRegistrationRequest(
            controller_id=config.node_id,
            incarnation_id=self._incarnation,
            listeners=listeners(own_endpoints(config)),
            features=features(),
        )

    def _on_answer(
        self, answer: ControllerRegistrationResponse | Refusal, now: Instant
    ) -> list[Effect]:
        error = answer.error if isinstance(answer, Refusal) else error_from_code(answer.error_code)
        if error:
            self._timers.set(now + AGAIN_MS, self._again)
        return []

    def _again(self, now: Instant) -> list[Effect]:
        self._is_wanted = True
        return self.progressed(now)
