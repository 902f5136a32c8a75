"""This node as a controller that operators find: it tells the active one where it is, once in its life (KIP-919)."""

from typing import Final
from uuid import UUID

from brokers.api.context import Context
from brokers.effects import Effect
from brokers.errors import Refusal, error_from_code
from brokers.ids import Instant
from brokers.metadata.cluster.broker_registration import supported_features
from brokers.metadata.log.quorum_config import own_endpoints
from brokers.wire.messages.broker_lifecycle import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
    Feature,
    Listener,
)

CONTROLLER_REGISTRATION: Final = 70
PLAINTEXT: Final = 0  # Kafka's code of the security protocol
AGAIN_MS: Final = 1_000


class ControllerRegistration:
    """`progressed` after whatever may have changed the image or the controller."""

    def __init__(self, context: Context, incarnation: UUID) -> None:
        self._context = context
        self._incarnation = incarnation
        # Nobody could connect to one without a listener, and there is nobody else.
        self._is_wanted = context.config.is_controller and bool(own_endpoints(context.config))

    def progressed(self, now: Instant) -> list[Effect]:
        context = self._context
        if not self._is_wanted or not (context.is_active or context.controller is not None):
            return []
        self._is_wanted = False
        return context.control(CONTROLLER_REGISTRATION, self._message(), self._on_answer, now)

    def _message(self) -> ControllerRegistrationRequest:
        config = self._context.config
        return ControllerRegistrationRequest(
            controller_id=config.node_id,
            incarnation_id=self._incarnation,
            listeners=[
                Listener(
                    name=each.name, host=each.host, port=each.port, security_protocol=PLAINTEXT
                )
                for each in own_endpoints(config)
            ],
            features=[
                Feature(
                    name=each.name,
                    min_supported_version=each.lowest,
                    max_supported_version=each.highest,
                )
                for each in supported_features()
            ],
        )

    def _on_answer(
        self, answer: ControllerRegistrationResponse | Refusal, now: Instant
    ) -> list[Effect]:
        error = answer.error if isinstance(answer, Refusal) else error_from_code(answer.error_code)
        if error:
            self._context.timers.set(now + AGAIN_MS, self._again)
        return []

    def _again(self, now: Instant) -> list[Effect]:
        self._is_wanted = True
        return self.progressed(now)
