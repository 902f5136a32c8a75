"""How a node starts, serves and ends: as one of several nodes, or as the whole region."""

from typing import Protocol

from brokers.config.broker_config import BrokerConfig
from brokers.effects import Effect, End
from brokers.ids import Instant
from brokers.membership.controlled_shutdown import ControlledShutdown
from brokers.membership.controller_channel import ControllerChannel
from brokers.membership.log_dirs import OwnDirectories
from brokers.metadata.log.raft_manager import RaftManager
from brokers.node.broker_lifecycle import BrokerLifecycle
from brokers.node.broker_probes import BrokerProbes
from brokers.node.controller_registration import ControllerRegistration
from brokers.node.own_registration import OwnRegistration
from brokers.region import Ready
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.broker_lifecycle import BrokerHeartbeatRequest


class RegionMember(Protocol):
    """What differs between a lone node and one of several."""

    def start(self, now: Instant) -> list[Effect]: ...

    def progressed(self, now: Instant) -> list[Effect]:
        """The image, a log or a coordinator may have progressed."""

    def metadata_published(self, now: Instant) -> list[Effect]:
        """The image may have grown, or another controller be known."""

    def log_dir_failed(self, now: Instant) -> list[Effect]:
        """A log directory is offline: the controller is notified at once."""

    def end_asked(self, now: Instant) -> list[Effect]: ...

    def stopped(self) -> list[Effect]:
        """What a clean stop has to write."""


class OneOfSeveral:
    """Registers with the active controller, sends heartbeats, and hands over what it leads before it ends."""

    def __init__(
        self,
        raft: RaftManager,
        lifecycle: BrokerLifecycle,
        registration: ControllerRegistration,
        probes: BrokerProbes,
        shutdown: ControlledShutdown,
    ) -> None:
        self._raft = raft
        self._lifecycle = lifecycle
        self._registration = registration
        self._probes = probes
        self._shutdown = shutdown

    def start(self, now: Instant) -> list[Effect]:
        return self._lifecycle.start(now)

    def progressed(self, now: Instant) -> list[Effect]:
        return self._lifecycle.progressed(now)

    def metadata_published(self, now: Instant) -> list[Effect]:
        effects = self._shutdown.moved(self._raft.image, now)
        effects += self._lifecycle.progressed(now) + self._registration.progressed(now)
        return effects + self._probes.moved(now)

    def log_dir_failed(self, now: Instant) -> list[Effect]:
        return self._lifecycle.news(now)

    def end_asked(self, now: Instant) -> list[Effect]:
        return self._lifecycle.end_asked(now)

    def stopped(self) -> list[Effect]:
        return self._lifecycle.ended()


class LoneNodeHost(Protocol):
    """What a lone node uses of the node around it."""

    @property
    def is_settled(self) -> bool:
        """Whether every log is open or has failed, and every coordinator is loaded."""

    @property
    def decides(self) -> bool:
        """Whether commands are decided: the metadata log has been read."""

    def strays(self) -> Effect:
        """Removes what lies in the log directories and is not held here."""


class LoneNode:
    """A node that is the whole region: no other node to register with or to hand leaderships to."""

    def __init__(
        self,
        config: BrokerConfig,
        log_dirs: OwnDirectories,
        registration: OwnRegistration,
        channel: ControllerChannel,
        host: LoneNodeHost,
    ) -> None:
        self._node_id = config.node_id
        self._log_dirs = log_dirs
        self._registration = registration
        self._channel = channel
        self._host = host
        self._is_ready = False

    def start(self, now: Instant) -> list[Effect]:
        return []

    def progressed(self, now: Instant) -> list[Effect]:
        """Clients are answered once everything that the metadata names is open or known to be broken."""
        if self._is_ready or not self._host.is_settled or not self._host.decides:
            return []
        self._is_ready = True
        return [Ready(), self._host.strays()]

    def metadata_published(self, now: Instant) -> list[Effect]:
        return []

    def log_dir_failed(self, now: Instant) -> list[Effect]:
        """A lone node sends no heartbeats but this one, which records the failed directories."""
        broker = self._registration.broker
        if broker is None:
            return []
        message = BrokerHeartbeatRequest(
            broker_id=self._node_id,
            broker_epoch=broker.broker_epoch,
            current_metadata_offset=self._registration.image.next_offset - 1,
            offline_log_dirs=list(self._log_dirs.offline),
        )
        return self._channel.send(ApiKey.BROKER_HEARTBEAT, message, lambda answer, at: [], now)

    def end_asked(self, now: Instant) -> list[Effect]:
        return [End()]

    def stopped(self) -> list[Effect]:
        return []
