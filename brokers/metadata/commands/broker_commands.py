"""What one may ask of the controller about brokers, controllers and what they support."""

from dataclasses import dataclass
from uuid import UUID

from brokers.ids import BrokerId, Offset

NO_BROKER_EPOCH = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterBroker:
    """A broker's new life begins -> its broker epoch (int), or `Refusal`.

    `previous_broker_epoch` is that of its last life, if it ended in order: then nothing it held was lost. `log_dirs`
    are all it has, or `directory` where it has one. `endpoints` are (listener, host, port), the one at which other
    brokers reach it first. `features` are (name, lowest, highest level); None is what this
    release supports. Without `starts_fenced` it is counted on at once: a node that is a whole region asks nobody's
    leave.
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
    """A broker is there, and has the metadata log up to `metadata_offset` -> `HeartbeatOutcome`, or `Refusal`.

    `offline_dirs` are all of its log directories that failed in this life.
    """

    broker_id: BrokerId
    broker_epoch: int
    metadata_offset: Offset
    want_fence: bool = False
    want_shut_down: bool = False
    offline_dirs: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class HeartbeatOutcome:
    """`is_caught_up`: it knows of its own registration. With `should_shut_down` nothing depends on it any more."""

    is_caught_up: bool
    is_fenced: bool
    should_shut_down: bool


@dataclass(frozen=True, slots=True)
class FenceBroker:
    """This life of a broker is over, or silent for too long: others lead what it led -> None, or `Refusal`."""

    broker_id: BrokerId
    broker_epoch: int


@dataclass(frozen=True, slots=True)
class UnregisterBroker:
    """A broker that will not come back -> None, or `Refusal`."""

    broker_id: BrokerId


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterController:
    """A controller says where it is -> None. `endpoints` are (listener, host, port), `features` (name, lowest,
    highest level)."""

    controller_id: BrokerId
    incarnation: UUID
    endpoints: tuple[tuple[str, str, int], ...]
    features: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class FeatureUpdate:
    """`upgrade_type` by Kafka's codes: 1 only up, 2 down if nothing is lost, 3 down."""

    name: str
    level: int
    upgrade_type: int


@dataclass(frozen=True, slots=True)
class UpdateFeatures:
    """All of these levels -> None, or `Refusal` INVALID_UPDATE_VERSION and none of them."""

    items: tuple[FeatureUpdate, ...]
    validate_only: bool = False
