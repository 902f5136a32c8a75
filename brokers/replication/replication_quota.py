"""Throttles replicas that catch up, in bytes a second (KIP-73; Kafka's ReplicationQuotaManager).

Topic configs name the replicas ({leader,follower}.replication.throttled.replicas: `*`, or `partition:broker` pairs),
broker configs the rate (….throttled.rate). Replicas in sync are never throttled: producers wait for them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from brokers.ids import BrokerId, Instant, TopicPartition
from brokers.log.config import INT64_MAX
from brokers.metadata.commands.config_commands import ResourceType
from brokers.metadata.configs.effective_configs import dynamic_config_synonyms
from brokers.metadata.image.image import Image

LEADER, FOLLOWER = "leader", "follower"
ZERO_RATE_WAIT_MS = 60_000  # the wait with rate 0
_ALL = "*"


@dataclass(slots=True)
class TokenBucket:
    """Holds at most one second's bytes. `spend` may take more than it holds; `wait_ms` is then positive."""

    rate: int = INT64_MAX
    _level: int = 0  # thousandths of a byte
    _at: Instant = 0

    def set_rate(self, rate: int, now: Instant) -> None:
        if rate != self.rate:
            self.rate, self._level, self._at = rate, 1000 * rate, now

    def spend(self, size: int, now: Instant) -> None:
        self._refill(now)
        self._level -= 1000 * size

    def wait_ms(self, now: Instant) -> int:
        """Milliseconds until the bucket is positive."""
        self._refill(now)
        if self._level > 0:
            return 0
        return -self._level // self.rate + 1 if self.rate else ZERO_RATE_WAIT_MS

    def _refill(self, now: Instant) -> None:
        gone, self._at = max(0, now - self._at), max(now, self._at)
        self._level = min(1000 * self.rate, self._level + gone * self.rate)


def rate_of(image: Image, node_id: BrokerId, name: str) -> int:
    """The rate in bytes a second, from the config of this broker or of all brokers."""
    setting = next(dynamic_config_synonyms(image, node_id, name), None)
    return INT64_MAX if setting is None or setting.value is None else int(setting.value)


@dataclass(slots=True)
class ReplicationQuota:
    """The quota of one node as leader or as follower; without a rate nothing is counted."""

    side: str
    bucket: TokenBucket = field(default_factory=TokenBucket)
    _replicas: dict[str, frozenset[str]] = field(default_factory=dict)

    @property
    def is_set(self) -> bool:
        return self.bucket.rate < INT64_MAX

    def configure(
        self, image: Image, node_id: BrokerId, topics: Iterable[str], now: Instant
    ) -> None:
        """Read the configs of these topics and of this broker."""
        rate = rate_of(image, node_id, f"{self.side}.replication.throttled.rate")
        self.bucket.set_rate(rate, now)
        for topic in topics:
            self._replicas.pop(topic, None)
            named = _named(image.config((ResourceType.TOPIC, topic)), self.side)
            if named:
                self._replicas[topic] = named

    def wait_ms(self, partition: TopicPartition, broker: BrokerId, now: Instant) -> int:
        """Milliseconds that this replica has to wait."""
        if not self.is_set or not self._covers(partition, broker):
            return 0
        return self.bucket.wait_ms(now)

    def spend(self, partition: TopicPartition, broker: BrokerId, size: int, now: Instant) -> None:
        if self.is_set and self._covers(partition, broker):
            self.bucket.spend(size, now)

    def _covers(self, partition: TopicPartition, broker: BrokerId) -> bool:
        named = self._replicas.get(partition.topic)
        if named is None:
            return False
        return _ALL in named or f"{partition.partition}:{broker}" in named


def _named(settings: Mapping[str, str], side: str) -> frozenset[str]:
    value = settings.get(f"{side}.replication.throttled.replicas", "")
    return frozenset(part.strip() for part in value.split(",") if part.strip())
