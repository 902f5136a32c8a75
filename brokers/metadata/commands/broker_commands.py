"""Commands about brokers and controllers: registration, heartbeats, fencing, features."""

from dataclasses import dataclass
from uuid import UUID

from brokers.ids import BrokerId, Offset

NO_BROKER_EPOCH = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterBroker:
    """Registers a new process of a broker -> its broker epoch (int), or `Refusal`.

    `previous_broker_epoch` is the broker epoch of the last clean shutdown: then nothing in its logs was lost.
    `log_dirs` are all log directories, or `directory` where there is one. `features` are (name, lowest, highest level);
    None: those of this release. Without `starts_fenced` the broker is active at once, as a node that is a whole region.
    `endpoints` are (listener, host, port), the one of the inter-broker listener first.
    """

    broker_id: BrokerId
    incarnation: UUID
    directory: UUID | None = None
    log_dirs: tuple[UUID, ...] = ()
    endpoints: tuple[tuple[str, str, int], ...]
    rack: str | None = None
    host_label: str | None = None
    features: tuple[tuple[str, int, int], ...] | None = None
    cluster_id: str | None = None
    previous_broker_epoch: int = NO_BROKER_EPOCH
    starts_fenced: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerHeartbeat:
    """A broker is alive and has read the metadata log up to `metadata_offset` -> `BrokerHeartbeatReply`, or `Refusal`.

    `offline_dirs` are all log directories that have failed since its registration. `cordoned_dirs` get no new replicas
    now; None: the broker does not say.
    """

    broker_id: BrokerId
    broker_epoch: int
    metadata_offset: Offset
    want_fence: bool = False
    want_shut_down: bool = False
    offline_dirs: tuple[UUID, ...] = ()
    cordoned_dirs: tuple[UUID, ...] | None = None


@dataclass(frozen=True, slots=True)
class BrokerHeartbeatReply:
    """`is_caught_up`: the broker has read its registration. `should_shut_down`: the broker may stop now."""

    is_caught_up: bool
    is_fenced: bool
    should_shut_down: bool


@dataclass(frozen=True, slots=True)
class FenceBroker:
    """Fences a process of a broker that ended or whose session expired; others lead its partitions -> None, or
    `Refusal`."""

    broker_id: BrokerId
    broker_epoch: int


@dataclass(frozen=True, slots=True)
class UnregisterBroker:
    """Removes the registration of a broker that will not return -> None, or `Refusal`."""

    broker_id: BrokerId


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterController:
    """Registers a controller -> None. `endpoints` are (listener, host, port), `features` (name, lowest, highest)."""

    controller_id: BrokerId
    incarnation: UUID
    endpoints: tuple[tuple[str, str, int], ...]
    features: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class FeatureUpdate:
    """`upgrade_type` by Kafka's codes: 1 upgrade, 2 downgrade without loss, 3 downgrade that may lose metadata."""

    name: str
    level: int
    upgrade_type: int


@dataclass(frozen=True, slots=True)
class UpdateFeatures:
    """Sets all these levels -> None, or sets none: `Refusal` INVALID_UPDATE_VERSION."""

    items: tuple[FeatureUpdate, ...]
    validate_only: bool = False
