"""The fetches from one leader (Kafka's ReplicaFetcherThread).

A request that waits at the leader cannot get another partition. So there are two lanes: a partition that is added while
the first lane's request is in flight is fetched in the second one, and moves when both have ended. A new leader thus
knows its followers at once, and commits without the delay of a long poll.
"""

from collections.abc import Callable

from brokers.effects import Effect
from brokers.ids import BrokerId, Instant
from brokers.partition.replica import Replica
from brokers.replication.fetch_lane import FetchLane, backoff_ms
from brokers.replication.fetch_sessions import Key
from brokers.replication.host import Host
from brokers.replication.partition_fetch import PartitionFetch
from brokers.replication.replication_quota import ReplicationQuota
from brokers.replication.settings import ReplicationSettings

# The second lane waits for a request of the first one that ends so soon.
_ABOUT_TO_END_MS = 20
# Of a partition whose disk is nearly full.
_FULL_PAUSE_MS = 500


class ReplicaFetcher:
    """Fetches the replicas between `add_partition` and `remove_partition`."""

    def __init__(
        self,
        host: Host,
        settings: ReplicationSettings,
        leader: BrokerId,
        number: int,
        quota: ReplicationQuota,
        wake: Callable[[FetchLane], None],
    ) -> None:
        self.bytes_in = 0  # of record batches, from this leader
        self._quota = quota
        self._throttled: dict[PartitionFetch, int] = {}  # -> timer
        self._host = host
        # Sends the next request of a lane at the end of the step.
        self._wake = wake
        self._settings = settings
        self._fetches: dict[Key, PartitionFetch] = {}
        self._lane_of: dict[PartitionFetch, FetchLane] = {}
        channel = f"replica-{number}"
        self._main = FetchLane(host, settings, self, leader, channel)
        self._second = FetchLane(host, settings, self, leader, f"{channel}-new")

    def __len__(self) -> int:
        return len(self._fetches)

    def add_partition(self, replica: Replica, now: Instant) -> list[Effect]:
        """Fetch this partition, or fetch it under its new leader epoch."""
        fetch = PartitionFetch(replica, self)
        known = self._fetches.get(fetch.key)
        if known is not None:
            self._remove(known)
        self._fetches[fetch.key] = fetch
        replica.source = fetch
        return self.ready(fetch, now) if fetch.is_ready else []

    def remove_partition(self, replica: Replica) -> None:
        """Stop fetching this partition."""
        source = replica.source
        if isinstance(source, PartitionFetch) and self._fetches.get(source.key) is source:
            del self._fetches[source.key]
            self._remove(source)
            replica.source = None

    def send_next(self, now: Instant) -> list[Effect]:
        """The leader may have another endpoint, or be back."""
        return self._main.send_next(now) + self._second.send_next(now)

    # --- `PartitionFetcher` ---

    def ready(self, fetch: PartitionFetch, now: Instant) -> list[Effect]:
        """The partition can be fetched: in the lane with the earlier next request."""
        if self._fetches.get(fetch.key) is not fetch:
            return []
        self._remove(fetch)
        is_busy = self._main.is_fetching and self._main.ends_at > now
        lane = self._second if is_busy and not self._second.is_fetching else self._main
        self._lane_of[fetch] = lane
        lane.add(fetch)
        self._wake(lane)
        return []

    def not_ready(self, fetch: PartitionFetch, now: Instant) -> list[Effect]:
        self._remove(fetch)
        return []

    def stored(self, fetch: PartitionFetch, now: Instant) -> list[Effect]:
        lane = self._lane_of.get(fetch)
        return self._resume(fetch, now) if lane is None else lane.stored(fetch, now)

    def changed(self, fetch: PartitionFetch) -> None:
        """The leader must be told in the next request (KIP-227: a session lists what has changed)."""
        lane = self._lane_of.get(fetch)
        if lane is not None:
            lane.session.add(fetch)

    def _remove(self, fetch: PartitionFetch) -> None:
        lane = self._lane_of.pop(fetch, None)
        if lane is not None:
            lane.remove(fetch)
            self._wake(lane)  # the lane may have waited only for this partition

    # --- `LaneFetcher` ---

    def round_ended(self, lane: FetchLane, now: Instant) -> list[Effect]:
        """Move the second lane's partitions to the first lane, when neither has a request in flight.

        Not before their batches are written: they would be fetched again.
        """
        if lane is self._main:
            if self._second.is_idle:
                self._merge()
            return []
        if self._main.is_fetching and self._main.ends_at > now + _ABOUT_TO_END_MS:
            return []
        self._merge()
        return self._main.send_next(now)

    def wait_ms(self, lane: FetchLane, now: Instant) -> int:
        """The second lane's request ends a little before the first one's, so that the lanes can merge."""
        longest = self._settings.wait_ms_max
        if lane is self._main or not self._main.is_fetching:
            return longest
        return min(longest, max(0, self._main.ends_at - _ABOUT_TO_END_MS // 2 - now))

    def _merge(self) -> None:
        for fetch in list(self._second.session.partitions.values()):
            self._second.remove(fetch)
            self._lane_of[fetch] = self._main
            self._main.add(fetch)

    def on_appended(self, fetch: PartitionFetch, size: int, now: Instant) -> None:
        """Count the bytes; a replica waits while its disk is nearly full, and one that is not in sync by the quota."""
        self.bytes_in += size
        if self._host.is_full(fetch.replica.partition, size):
            self._remove(fetch)
            self._wait(fetch, now + _FULL_PAUSE_MS)
            return
        if not self._quota.is_set:
            return
        node_id, partition = self._host.config.node_id, fetch.replica.partition
        state = self._host.image.partition(partition)
        if state is None or node_id in state.isr:
            return
        self._quota.spend(partition, node_id, size, now)
        self._throttle(fetch, now)

    def is_full(self, fetch: PartitionFetch) -> bool:
        return self._host.is_full(fetch.replica.partition)

    def not_taken(self, now: Instant) -> None:
        """A disk is nearly full: all its partitions are asked for together after a pause, for what else their leaders
        say. A log start may free space.

        Those that are behind leave the in-sync replicas after `replica.lag.time.max.ms`.
        """
        for fetch in [each for each in self._lane_of if self.is_full(each)]:
            self._remove(fetch)
            self._wait(fetch, now + _FULL_PAUSE_MS)

    def quota_changed(self, now: Instant) -> list[Effect]:
        """The quota changed: throttle the waiting partitions by the new one."""
        effects: list[Effect] = []
        held, self._throttled = self._throttled, {}
        for fetch, timer in held.items():
            self._host.timers.cancel(timer)
            self._throttle(fetch, now)
            effects += self._resume(fetch, now)
        return effects

    def _throttle(self, fetch: PartitionFetch, now: Instant) -> None:
        """Remove the partition until the quota allows it again, if it does not now."""
        partition = fetch.replica.partition
        wait_ms = self._quota.wait_ms(partition, self._host.config.node_id, now)
        if wait_ms > 0:
            self._remove(fetch)
            self._wait(fetch, now + wait_ms)

    def _wait(self, fetch: PartitionFetch, due: Instant) -> None:
        if (timer := self._throttled.get(fetch)) is not None:
            self._host.timers.cancel(timer)
        self._throttled[fetch] = self._host.timers.set(
            due, lambda at: self._after_throttle(fetch, at)
        )

    def _after_throttle(self, fetch: PartitionFetch, now: Instant) -> list[Effect]:
        self._throttled.pop(fetch, None)
        return self._resume(fetch, now)

    def failed(self, lane: FetchLane, fetch: PartitionFetch, now: Instant) -> None:
        self._lane_of.pop(fetch, None)
        delay = backoff_ms(fetch.failures - 1, self._settings.backoff_ms_max)
        self._host.timers.set(now + delay, lambda at: self._resume(fetch, at))

    def _resume(self, fetch: PartitionFetch, now: Instant) -> list[Effect]:
        if fetch in self._lane_of or fetch in self._throttled or not fetch.is_ready:
            return []
        return self.ready(fetch, now)
