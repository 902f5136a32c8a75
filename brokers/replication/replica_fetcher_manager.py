"""Which fetcher a partition belongs to: one set of `num.replica.fetchers` for each leader."""

from zlib import crc32

from brokers.effects import Effect
from brokers.ids import BrokerId, Instant, TopicPartition
from brokers.metadata.image.image import NO_LEADER
from brokers.partition.replica import Replica
from brokers.replication.fetch_lane import FetchLane
from brokers.replication.host import Host
from brokers.replication.replica_fetcher import ReplicaFetcher
from brokers.replication.replication_quota import ReplicationQuota
from brokers.replication.settings import ReplicationSettings


class ReplicaFetcherManager:
    """Follows the leaders that replicas name."""

    def __init__(
        self, host: Host, settings: ReplicationSettings, throttle: ReplicationQuota
    ) -> None:
        self._host = host
        self._throttle = throttle
        self._settings = settings
        self._fetchers: dict[tuple[BrokerId, int], ReplicaFetcher] = {}
        self._fetcher_of: dict[Replica, ReplicaFetcher] = {}
        self.woken: dict[FetchLane, None] = {}

    @property
    def bytes_in(self) -> int:
        """Of record batches, from all leaders since this process began."""
        return sum(fetcher.bytes_in for fetcher in self._fetchers.values())

    def follow(self, replica: Replica, now: Instant) -> list[Effect]:
        """The replica has become a follower, of a new leader or under a new leader epoch."""
        known = self._fetcher_of.get(replica)
        wanted = self._wanted(replica)
        if known is not None and known is not wanted:
            self.leave(replica)
        if wanted is None:
            return []
        self._fetcher_of[replica] = wanted
        return wanted.follow(replica, now)

    def leave(self, replica: Replica) -> None:
        """The replica leads now, or is no more."""
        fetcher = self._fetcher_of.pop(replica, None)
        if fetcher is not None:
            fetcher.leave(replica)

    def kick(self, brokers: tuple[BrokerId, ...], now: Instant) -> list[Effect]:
        """Something about these brokers changed."""
        effects: list[Effect] = []
        for (leader, _), fetcher in self._fetchers.items():
            if leader in brokers:
                effects += fetcher.kick(now)
        return effects

    def rethink(self, now: Instant) -> list[Effect]:
        """The throttle is another."""
        return [effect for fetcher in self._fetchers.values() for effect in fetcher.rethink(now)]

    def settle(self, now: Instant) -> list[Effect]:
        """At the end of a step: one request for all partitions that the step brought."""
        effects: list[Effect] = []
        while self.woken:
            woken, self.woken = self.woken, {}
            for lane in woken:
                effects += lane.kick(now)
        return effects

    def _wake(self, lane: FetchLane) -> None:
        self.woken[lane] = None

    def _wanted(self, replica: Replica) -> ReplicaFetcher | None:
        if replica.leader == NO_LEADER:
            return None
        number = _spread(replica.partition) % self._settings.fetchers
        key = (replica.leader, number)
        if key not in self._fetchers:
            self._fetchers[key] = ReplicaFetcher(
                self._host, self._settings, *key, self._throttle, self._wake
            )
        return self._fetchers[key]


def _spread(partition: TopicPartition) -> int:
    """The same on every run: Python's own hash of a string is not."""
    return crc32(partition.topic.encode()) + partition.partition
