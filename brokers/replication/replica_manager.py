"""Replication of one node: which of its partitions lead and which follow, and what that takes."""

from collections.abc import Callable

from brokers.effects import Effect
from brokers.events import Request
from brokers.ids import BrokerId, Instant, Offset, TopicPartition
from brokers.metadata.image.image import ImageDelta, PartitionImage
from brokers.partition.isr_state import PendingIsr
from brokers.partition.replica import Replica
from brokers.replication.alter_partition_manager import AlterPartitionManager
from brokers.replication.delayed_fetch import LINGER_MS, FetchPurgatory
from brokers.replication.follower_fetches import FollowerFetches
from brokers.replication.host import Host
from brokers.replication.isolation import IsolationCheck
from brokers.replication.replica_fetcher_manager import ReplicaFetcherManager
from brokers.replication.replica_selector import preferred_replica
from brokers.replication.replication_quota import FOLLOWER, LEADER, ReplicationQuota
from brokers.replication.settings import ReplicationSettings


class ReplicaManager:
    """`placed` and `closed` follow the image, `settle` ends every step. Is the `Others` of the node's replicas."""

    def __init__(
        self,
        host: Host,
        settings: ReplicationSettings,
        on_advanced: Callable[[TopicPartition], list[Effect]],
    ) -> None:
        """`on_advanced` is called for each partition whose end or high watermark moved."""
        self.node_id = host.config.node_id
        self.lag_ms_max = settings.lag_ms_max
        self._host = host
        self._leader_side, self._follower_side = (
            ReplicationQuota(LEADER),
            ReplicationQuota(FOLLOWER),
        )
        self._fetchers = ReplicaFetcherManager(host, settings, self._follower_side)
        self._is_rack_aware = settings.rack_aware
        # Consumers that read from followers want the high watermark there at once.
        linger_ms = 0 if settings.rack_aware else LINGER_MS
        self._serving = FollowerFetches(
            FetchPurgatory(host, self._leader_side, linger_ms), settings.lag_ms_max
        )
        self._proposals = AlterPartitionManager(host)
        self.stranding = IsolationCheck(host, settings)
        self._on_advanced = on_advanced

    def start(self, now: Instant) -> None:
        """Look for followers that fell behind, twice as often as they may (as Kafka does)."""
        self._host.timers.set(now + max(1, self.lag_ms_max // 2), self._look_around)

    def _look_around(self, now: Instant) -> list[Effect]:
        self.start(now)
        effects: list[Effect] = []
        for replica in self._host.partitions.values():
            if replica.leadership is not None:
                replica.leadership.shrink(now)
                effects += replica.leadership.look_again(now)
        return effects

    # --- what was counted since this process began ---

    @property
    def bytes_in(self) -> int:
        """Of record batches that leaders sent to this node's replicas."""
        return self._fetchers.bytes_in

    @property
    def failed_isr_updates(self) -> int:
        """Changes of in-sync sets that the controller refused, one a partition."""
        return self._proposals.failed

    # --- roles ---

    def placed(
        self, replica: Replica, placed: PartitionImage, writer: str | None, now: Instant
    ) -> list[Effect]:
        """What the image says of a partition that this node holds."""
        if placed.leader == self.node_id:
            self._fetchers.leave(replica)
            return replica.lead(placed, writer, now)
        followed = (replica.leader, replica.leader_epoch) if replica.follows else None
        effects = replica.follow(placed, writer, now)
        if followed != (placed.leader, placed.leader_epoch):
            effects += self._fetchers.follow(replica, now)
        return effects

    def closed(self, replica: Replica) -> None:
        """This node holds it no more."""
        self._fetchers.leave(replica)

    def follow(self, delta: ImageDelta, now: Instant) -> list[Effect]:
        """The image has become another; of its partitions `placed` tells."""
        effects: list[Effect] = []
        configured = (*delta.topics_created, *delta.topic_configs_changed, *delta.topics_deleted)
        if configured:
            for throttle in (self._leader_side, self._follower_side):
                throttle.configure(self._host.image, self.node_id, configured, now)
            effects += self._fetchers.rethink(now)
        if delta.brokers_changed:
            effects += self._follow_brokers(delta.brokers_changed, now)
        return effects

    def _follow_brokers(self, brokers: tuple[BrokerId, ...], now: Instant) -> list[Effect]:
        """They may have another address, be there again, or be let into in-sync sets."""
        for replica in self._host.partitions.values():
            leadership = replica.leadership
            if leadership is not None and leadership.progress.lacks(brokers):
                leadership.expand(now)
        return self._fetchers.kick(brokers, now)

    # --- what a leader must know of others ---

    def may_join(self, broker: BrokerId, broker_epoch: int) -> bool:
        """The image may be behind: the controller has the last word. -1 comes from whoever knows no broker epochs."""
        known = self._host.image.brokers.get(broker)
        return known is not None and known.is_active and broker_epoch in (-1, known.broker_epoch)

    def propose(self, replica: Replica, proposal: PendingIsr) -> None:
        self._proposals.put(replica, proposal)

    def advanced(self, replica: Replica) -> list[Effect]:
        return self._on_advanced(replica.partition)

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
        return self._serving.on_fetch(request, now)

    @property
    def is_due(self) -> bool:
        """Whether `settle` has anything to do."""
        return bool(self._serving.is_due or self._fetchers.woken or self._proposals.waiting)

    def settle(self, now: Instant) -> list[Effect]:
        """What the step has to do once, however often it was asked for."""
        served = self._serving.settle(now)
        return served + self._fetchers.settle(now) + self._proposals.flush(now)
