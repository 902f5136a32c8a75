"""What a topic's settings say about its replicas, and so about who may lead it."""

from dataclasses import dataclass

from brokers.config import BrokerConfig
from brokers.metadata.config_keys import TOPIC_KEYS
from brokers.metadata.configs import topic_value
from brokers.metadata.image import Image
from brokers.replica_placement import ReplicaPlacement, parse

PLACEMENT_KEY = "confluent.placement.constraints"


@dataclass(frozen=True, slots=True)
class ReplicaRules:
    """`min_isr` members in sync before acks=all is answered; `is_unclean_allowed`: a replica that may miss records
    leads if nobody else can; `placement`: where replicas and observers belong, None where anywhere."""

    min_isr: int = 1
    is_unclean_allowed: bool = False
    placement: ReplicaPlacement | None = None


def replica_rules(image: Image, config: BrokerConfig, topic: str) -> ReplicaRules:
    """Those of one topic, by the settings of the active controller where the topic has none of its own."""

    def value(name: str) -> str:
        return topic_value(image, config, topic, TOPIC_KEYS[name])

    return ReplicaRules(
        min_isr=int(value("min.insync.replicas")),
        is_unclean_allowed=value("unclean.leader.election.enable").strip().lower() == "true",
        placement=parse(value(PLACEMENT_KEY)),
    )
