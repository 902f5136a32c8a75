"""Registers this broker, sends its heartbeats, shuts it down, and decides when clients are served.

A node without the role broker registers no broker; it is ready once it knows the active controller.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Protocol
from uuid import UUID

from brokers.config.broker_config import BrokerConfig
from brokers.effects import Effect, End, KeepBrokerEpoch, Serve
from brokers.errors import KafkaError, Refusal, error_from_code
from brokers.ids import Instant
from brokers.membership.broker_state import Beat, BrokerState, LifeEffect, Register, Unfenced
from brokers.membership.controlled_shutdown import ControlledShutdown
from brokers.membership.controller_channel import ControllerChannel
from brokers.membership.log_dirs import OwnDirectories
from brokers.metadata.cluster.broker_registration import registered_endpoints
from brokers.metadata.log.raft_manager import RaftManager
from brokers.node.local_controller import LocalController
from brokers.node.own_registration import features, listeners
from brokers.region import Ready
from brokers.timers import DeadlineTimer, Timers
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.broker_lifecycle import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
)

# For clients to follow the hint to the next leader (`succession`): longer than a round trip inside a region.
ANNOUNCED_MS = 40
QUORUM_TIMEOUT_MS = 500  # for another controller to become active: it will anyway, only later


class BrokerLifecycleHost(Protocol):
    """What the lifecycle uses of the node around it."""

    @property
    def is_settled(self) -> bool:
        """Whether every log is open or has failed, and every coordinator is loaded."""

    def heartbeat_answered(self, failed: tuple[UUID, ...], now: Instant) -> None:
        """The controller has answered a heartbeat that named these failed log directories."""

    def strays(self) -> Effect:
        """Removes what lies in the log directories and is not held here."""


class BrokerLifecycle:
    """`progressed` after whatever may have changed the image, the controller or the logs."""

    def __init__(
        self,
        config: BrokerConfig,
        raft: RaftManager,
        controller: LocalController,
        channel: ControllerChannel,
        timers: Timers,
        *,
        log_dirs: OwnDirectories,
        shutdown: ControlledShutdown,
        host: BrokerLifecycleHost,
        incarnation: UUID,
        previous_broker_epoch: int,
    ) -> None:
        self._config = config
        self._raft = raft
        self._controller = controller
        self._channel = channel
        self._log_dirs = log_dirs
        self._shutdown = shutdown
        self._host = host
        self._incarnation = incarnation
        self._telling: tuple[UUID, ...] = ()  # failed directories that the last heartbeat named
        self._life = BrokerState(
            config.node_id,
            interval_ms=config.broker_heartbeat_interval_ms,
            session_ms=config.broker_session_timeout_ms,
            previous_broker_epoch=previous_broker_epoch,
        )
        self._is_ready = False  # of a node that is no broker
        self._has_announced = False  # that it will hand over what it leads
        self._parting = False  # nothing is left to do but to hand over the lead of the quorum
        self._timers = timers
        self._deadline = DeadlineTimer(timers, self._on_time)

    # --- in ---

    def start(self, now: Instant) -> list[Effect]:
        if not self._config.is_broker:
            return self.progressed(now)
        return self._run(self._life.start(now), now)

    def progressed(self, now: Instant) -> list[Effect]:
        if self._parting:
            return self._part() if self._raft.has_left else []
        if not self._config.is_broker:
            return self._without_broker()
        if not self._life.is_catching_up:
            return []  # nearly always: this is called after every read
        offset, is_settled = self._raft.image.next_offset, self._host.is_settled
        return self._run(self._life.progressed(offset, is_settled=is_settled, now=now), now)

    def end_asked(self, now: Instant) -> list[Effect]:
        """Hands over leaderships where another broker can take them."""
        if self._parting:
            return self._part()
        own = self._config.node_id
        brokers = self._raft.image.brokers
        others = any(not broker.fenced for each, broker in brokers.items() if each != own)
        return self._run(self._life.leave(now, hands_over=others), now)

    def news(self, now: Instant) -> list[Effect]:
        """A directory has failed: sends a heartbeat at once."""
        return self._run(self._life.news(now), now)

    def ended(self) -> list[Effect]:
        """What a clean stop has to write."""
        return [KeepBrokerEpoch(self._life.broker_epoch)]

    def _without_broker(self) -> list[Effect]:
        if self._is_ready or not self._controller.is_known:
            return []
        self._is_ready = True
        return [Serve(), Ready()]

    # --- out ---

    def _run(self, lived: list[LifeEffect], now: Instant) -> list[Effect]:
        effects: list[Effect] = []
        for effect in lived:
            match effect:
                case Register(previous_broker_epoch):
                    message: object = self._registration(previous_broker_epoch)
                    effects += self._control(
                        ApiKey.BROKER_REGISTRATION, message, self._on_registered, now
                    )
                case Beat(want_shut_down=True):
                    effects += self._leave(effect, now)
                case Beat():
                    effects += self._beat(effect, now)
                case Unfenced():
                    effects += [Ready(), self._host.strays()]
                case End(None):
                    effects += self._hand_over_lead(now)
                case _:
                    effects.append(effect)
        self._deadline.set(self._life.deadline)
        return effects

    def _leave(self, beat: Beat, now: Instant) -> list[Effect]:
        """The first such heartbeat announces the hand-over. The next one hands over, and appends end."""
        handover = self._shutdown
        if self._has_announced or not handover.leads:
            return handover.close(partial(self._beat, replace(beat, want_fence=True)), now)
        self._has_announced = True
        self._timers.set(now + ANNOUNCED_MS, self._hand_over)
        return self._beat(beat, now)

    def _hand_over(self, now: Instant) -> list[Effect]:
        """Whether or not the controller has answered: the leaderships may have moved before its answer comes."""
        closed = self._shutdown.close(lambda now: [], now)
        return closed + self._run(self._life.news(now), now)

    def _beat(self, beat: Beat, now: Instant) -> list[Effect]:
        return self._control(ApiKey.BROKER_HEARTBEAT, self._heartbeat(beat), self._on_beaten, now)

    def _hand_over_lead(self, now: Instant) -> list[Effect]:
        """The last step: until here this node may have been the active controller that answered it."""
        self._parting = True
        self._timers.set(now + QUORUM_TIMEOUT_MS, lambda at: self._part())
        effects = self._controller.leave(now)
        return effects + self.progressed(now)

    def _part(self) -> list[Effect]:
        if not self._parting:
            return []
        self._parting = False
        return [End()]

    def _control(
        self,
        api_key: int,
        message: object,
        then: Callable[[Any, Instant], list[Effect]],
        now: Instant,
    ) -> list[Effect]:
        """A heartbeat that reaches no controller within its interval is dropped: the next one has newer state."""
        timeout_ms = self._config.broker_heartbeat_interval_ms
        return self._channel.send(api_key, message, then, now, timeout_ms=timeout_ms)

    def _registration(self, previous_broker_epoch: int) -> BrokerRegistrationRequest:
        config = self._config
        return BrokerRegistrationRequest(
            broker_id=config.node_id,
            cluster_id=self._raft.image.cluster_id,
            incarnation_id=self._incarnation,
            listeners=listeners(registered_endpoints(config)),
            features=features(),
            rack=config.broker_rack,
            log_dirs=list(self._log_dirs.online),
            previous_broker_epoch=previous_broker_epoch,
            host_label=config.broker_host,
        )

    def _heartbeat(self, beat: Beat) -> BrokerHeartbeatRequest:
        self._telling = self._log_dirs.offline
        return BrokerHeartbeatRequest(
            broker_id=self._config.node_id,
            broker_epoch=beat.broker_epoch,
            current_metadata_offset=self._raft.image.next_offset - 1,
            want_fence=beat.want_fence,
            want_shut_down=beat.want_shut_down,
            offline_log_dirs=list(self._telling),
            cordoned_log_dirs=list(self._log_dirs.cordoned),
        )

    # --- answers ---

    def _on_registered(self, response: Any, now: Instant) -> list[Effect]:
        error, because = _error(response)
        if error:
            return self._run(self._life.not_registered(error, because, now), now)
        assert isinstance(response, BrokerRegistrationResponse)
        effects = self._run(self._life.registered(response.broker_epoch, now), now)
        return effects + self.progressed(now)  # the image may be there already

    def _on_beaten(self, response: Any, now: Instant) -> list[Effect]:
        error, _ = _error(response)
        if error:
            return self._run(self._life.not_beaten(error, now), now)
        assert isinstance(response, BrokerHeartbeatResponse)
        self._host.heartbeat_answered(self._telling, now)
        beaten = self._life.beaten(
            is_fenced=response.is_fenced, should_shut_down=response.should_shut_down, now=now
        )
        return self._run(beaten, now)

    # --- time ---

    def _on_time(self, now: Instant) -> list[Effect]:
        return self._run(self._life.on_time(now), now)


def _error(response: Any) -> tuple[KafkaError, str]:
    """The error of a response, or of the `Refusal` in its place."""
    if isinstance(response, Refusal):
        return response.error, response.because
    error = error_from_code(response.error_code)
    return error, _SAID.get(error, error.name)


# The response has room for a code only.
_SAID = {
    KafkaError.INCONSISTENT_CLUSTER_ID: (
        "its cluster.id is not that of the region; correct controller.quorum.voters, "
        "or give it the cluster.id and the log.dirs of this region"
    ),
    KafkaError.UNSUPPORTED_VERSION: (
        "the region uses features that this release does not have; upgrade this node"
    ),
    KafkaError.INVALID_REGISTRATION: "its registration is not valid; the controller's log says why",
    KafkaError.DUPLICATE_BROKER_REGISTRATION: "its id is registered, and was heard of just now",
}
