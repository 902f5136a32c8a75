"""The replication of one node (the replication side of Kafka's ReplicaManager)."""

from collections.abc import Callable

from brokers.effects import Effect
from brokers.events import Request
from brokers.ids import BrokerId, Instant, Offset, TopicPartition
from brokers.metadata.image.image import ImageDelta, PartitionImage
from brokers.partition.isr_state import PendingIsr
from brokers.partition.replica import Replica
from brokers.replication.alter_partition_manager import AlterPartitionManager
from brokers.replication.delayed_fetch import LINGER_MS, DelayedFetches
from brokers.replication.follower_fetches import FollowerFetches
from brokers.replication.host import Host
from brokers.replication.isolation import IsolationCheck
from brokers.replication.replica_fetcher_manager import ReplicaFetcherManager
from brokers.replication.replica_selector import preferred_replica
from brokers.replication.replication_quota import FOLLOWER, LEADER, ReplicationQuota
from brokers.replication.settings import ReplicationSettings


class ReplicaManager:
    """The `LeaderHost` of the node's replicas. `settle` ends every step."""

    def __init__(
        self,
        host: Host,
        settings: ReplicationSettings,
        on_advanced: Callable[[TopicPartition], list[Effect]],
    ) -> None:
        """`on_advanced` is called for each partition whose high watermark advanced."""
        self.node_id = host.config.node_id
        self.lag_ms_max = settings.lag_ms_max
        self._host = host
        self._leader_quota, self._follower_quota = (
            ReplicationQuota(LEADER),
            ReplicationQuota(FOLLOWER),
        )
        self._fetchers = ReplicaFetcherManager(host, settings, self._follower_quota)
        self._is_rack_aware = settings.rack_aware
        # Consumers read from followers, which then need the high watermark at once.
        linger_ms = 0 if settings.rack_aware else LINGER_MS
        self._follower_fetches = FollowerFetches(
            DelayedFetches(host, self._leader_quota, linger_ms), settings.lag_ms_max
        )
        self._alter_partition = AlterPartitionManager(host)
        self.isolation = IsolationCheck(host, settings)
        self._on_advanced = on_advanced

    def start(self, now: Instant) -> None:
        """Remove slow followers from in-sync sets, every half `replica.lag.time.max.ms` (as Kafka does)."""
        self._host.timers.set(now + max(1, self.lag_ms_max // 2), self._maybe_shrink_isr)

    def _maybe_shrink_isr(self, now: Instant) -> list[Effect]:
        self.start(now)
        effects: list[Effect] = []
        for replica in self._host.partitions.values():
            if replica.leadership is not None:
                replica.leadership.shrink(now)
                effects += replica.leadership.expand_late(now)
        return effects

    # --- counts since the process started ---

    @property
    def bytes_in(self) -> int:
        """Bytes of record batches fetched from leaders."""
        return self._fetchers.bytes_in

    @property
    def failed_isr_updates(self) -> int:
        """Changes of in-sync sets that the controller refused."""
        return self._alter_partition.failed

    # --- the image ---

    def apply_partition(
        self, replica: Replica, state: PartitionImage, writer: str | None, now: Instant
    ) -> list[Effect]:
        """Lead or follow a partition that this node holds."""
        if state.leader == self.node_id:
            self._fetchers.remove_partition(replica)
            return replica.make_leader(state, writer, now)
        followed = (replica.leader, replica.leader_epoch) if replica.follows else None
        effects = replica.make_follower(state, writer, now)
        if followed != (state.leader, state.leader_epoch):
            effects += self._fetchers.add_partition(replica, now)
        return effects

    def remove_replica(self, replica: Replica) -> None:
        self._fetchers.remove_partition(replica)

    def apply_delta(self, delta: ImageDelta, now: Instant) -> list[Effect]:
        """Apply changes of topic configs and brokers; `apply_partition` applies those of partitions."""
        effects: list[Effect] = []
        configured = (*delta.topics_created, *delta.topic_configs_changed, *delta.topics_deleted)
        if configured:
            for quota in (self._leader_quota, self._follower_quota):
                quota.configure(self._host.image, self.node_id, configured, now)
            effects += self._fetchers.quota_changed(now)
        if delta.brokers_changed:
            effects += self._brokers_changed(delta.brokers_changed, now)
        return effects

    def _brokers_changed(self, brokers: tuple[BrokerId, ...], now: Instant) -> list[Effect]:
        """The brokers may have another endpoint, be back, or be eligible for in-sync sets."""
        for replica in self._host.partitions.values():
            leadership = replica.leadership
            if leadership is not None and leadership.isr_state.has_out_of_sync(brokers):
                leadership.expand(now)
        return self._fetchers.send_next(brokers, now)

    # --- `LeaderHost` ---

    def is_isr_eligible(self, broker: BrokerId, broker_epoch: int) -> bool:
        """Whether the image, which may be behind, has the broker as active with this broker epoch (-1: any)."""
        known = self._host.image.brokers.get(broker)
        return known is not None and known.is_active and broker_epoch in (-1, known.broker_epoch)

    def propose(self, replica: Replica, proposal: PendingIsr) -> None:
        self._alter_partition.put(replica, proposal)

    def advanced(self, replica: Replica) -> list[Effect]:
        return [] if replica.follows else self._on_advanced(replica.partition)

    # --- consumers ---

    def preferred_replica(
        self, replica: Replica, rack: str, offset: Offset, now: Instant
    ) -> BrokerId | None:
        """Another replica that a consumer in this rack should read from, if any (`replica.selector.class`)."""
        if not self._is_rack_aware:
            return None
        return preferred_replica(self._host.image, replica, rack, offset, self.lag_ms_max, now)

    # --- each step ---

    def on_fetch(self, request: Request, now: Instant) -> list[Effect]:
        """A follower's Fetch."""
        return self._follower_fetches.on_fetch(request, now)

    @property
    def is_due(self) -> bool:
        """Whether `settle` has anything to do."""
        return bool(
            self._follower_fetches.is_due or self._fetchers.woken or self._alter_partition.unsent
        )

    def settle(self, now: Instant) -> list[Effect]:
        """At the end of a step: send what it collected."""
        served = self._follower_fetches.settle(now)
        return served + self._fetchers.settle(now) + self._alter_partition.flush(now)
