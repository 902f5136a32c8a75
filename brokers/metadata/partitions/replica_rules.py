"""The configuration of a topic's replicas and leader elections."""

from dataclasses import dataclass

from brokers.config.broker_config import BrokerConfig
from brokers.config.replica_placement import ReplicaPlacement, parse
from brokers.metadata.commands.config_commands import ResourceType
from brokers.metadata.configs.config_keys import TOPIC_KEYS
from brokers.metadata.configs.effective_configs import topic_value
from brokers.metadata.image.image import Image

PLACEMENT_KEY = "confluent.placement.constraints"
RULE_KEYS = ("min.insync.replicas", "unclean.leader.election.enable", PLACEMENT_KEY)


@dataclass(frozen=True, slots=True)
class ReplicaRules:
    """`min_isr`: min.insync.replicas. `is_unclean_allowed`: unclean.leader.election.enable. `placement`: racks of
    replicas and observers; None: any."""

    min_isr: int = 1
    is_unclean_allowed: bool = False
    placement: ReplicaPlacement | None = None


def has_own_rules(image: Image, topic: str) -> bool:
    own = image.config((ResourceType.TOPIC, topic))
    return bool(own) and any(key in own for key in RULE_KEYS)


def replica_rules(image: Image, config: BrokerConfig, topic: str) -> ReplicaRules:
    """The rules of a topic; for "" the defaults, by the active controller's configuration."""

    def value(name: str) -> str:
        return topic_value(image, config, topic, TOPIC_KEYS[name])

    return ReplicaRules(
        min_isr=int(value("min.insync.replicas")),
        is_unclean_allowed=value("unclean.leader.election.enable").strip().lower() == "true",
        placement=parse(value(PLACEMENT_KEY)),
    )
