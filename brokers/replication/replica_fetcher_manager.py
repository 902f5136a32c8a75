"""The fetchers: `num.replica.fetchers` for each leader (Kafka's ReplicaFetcherManager)."""

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
    """Assigns each follower to a fetcher of its leader."""

    def __init__(self, host: Host, settings: ReplicationSettings, quota: ReplicationQuota) -> None:
        self._host = host
        self._quota = quota
        self._settings = settings
        self._fetchers: dict[tuple[BrokerId, int], ReplicaFetcher] = {}
        self._fetcher_of: dict[Replica, ReplicaFetcher] = {}
        self.woken: dict[FetchLane, None] = {}

    @property
    def bytes_in(self) -> int:
        """Bytes of record batches from all leaders since the process started."""
        return sum(fetcher.bytes_in for fetcher in self._fetchers.values())

    def add_partition(self, replica: Replica, now: Instant) -> list[Effect]:
        """The replica follows a new leader, or in a new leader epoch."""
        known = self._fetcher_of.get(replica)
        wanted = self._fetcher_for(replica)
        if known is not None and known is not wanted:
            self.remove_partition(replica)
        if wanted is None:
            return []
        self._fetcher_of[replica] = wanted
        return wanted.add_partition(replica, now)

    def remove_partition(self, replica: Replica) -> None:
        """The replica leads, or was removed."""
        fetcher = self._fetcher_of.pop(replica, None)
        if fetcher is not None:
            fetcher.remove_partition(replica)

    def send_next(self, brokers: tuple[BrokerId, ...], now: Instant) -> list[Effect]:
        """These brokers' registrations changed."""
        effects: list[Effect] = []
        for (leader, _), fetcher in self._fetchers.items():
            if leader in brokers:
                effects += fetcher.send_next(now)
        return effects

    def quota_changed(self, now: Instant) -> list[Effect]:
        return [
            effect for fetcher in self._fetchers.values() for effect in fetcher.quota_changed(now)
        ]

    def settle(self, now: Instant) -> list[Effect]:
        """At the end of a step: send one request for all partitions that the step added."""
        effects: list[Effect] = []
        while self.woken:
            woken, self.woken = self.woken, {}
            for lane in woken:
                effects += lane.send_next(now)
        return effects

    def _wake(self, lane: FetchLane) -> None:
        self.woken[lane] = None

    def _fetcher_for(self, replica: Replica) -> ReplicaFetcher | None:
        if replica.leader == NO_LEADER:
            return None
        number = _hash(replica.partition) % self._settings.fetchers
        key = (replica.leader, number)
        if key not in self._fetchers:
            self._fetchers[key] = ReplicaFetcher(
                self._host, self._settings, *key, self._quota, self._wake
            )
        return self._fetchers[key]


def _hash(partition: TopicPartition) -> int:
    """A hash that is equal in every process, unlike Python's."""
    return crc32(partition.topic.encode()) + partition.partition
