"""All that one fetcher asks of one leader.

There are two lanes, because a request that waits at the leader cannot be told of another partition: what is added while
the first lane's request is under way is asked for in the second, and moves over when both come to an end. So a new
leader hears of its followers at once, and what it commits is not held up by the length of a long poll.
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

# A request so close to its end is waited for: what is written meanwhile waits, too, once after each change of leader.
_ABOUT_TO_END_MS = 20


class ReplicaFetcher:
    """Replicas come and go with `follow` and `leave`."""

    def __init__(
        self,
        host: Host,
        settings: ReplicationSettings,
        leader: BrokerId,
        number: int,
        throttle: ReplicationQuota,
        wake: Callable[[FetchLane], None],
    ) -> None:
        self.bytes_in = 0  # of record batches, from this leader
        self._throttle = throttle
        self._held: dict[
            PartitionFetch, int
        ] = {}  # they have had their share for now; until a timer
        self._host = host
        self._wake = (
            wake  # let a lane be kicked at the end of the step, with all that the step brings
        )
        self._settings = settings
        self._followings: dict[Key, PartitionFetch] = {}
        self._lane_of: dict[PartitionFetch, FetchLane] = {}
        channel = f"replica-{number}"
        self._main = FetchLane(host, settings, self, leader, channel)
        self._second = FetchLane(host, settings, self, leader, f"{channel}-new")

    def __len__(self) -> int:
        return len(self._followings)

    def follow(self, replica: Replica, now: Instant) -> list[Effect]:
        """Fetch this partition, or fetch it under its new leader epoch."""
        following = PartitionFetch(replica, self)
        known = self._followings.get(following.key)
        if known is not None:
            self._take_out(known)
        self._followings[following.key] = following
        replica.source = following
        return self.able(following, now) if following.is_able else []

    def leave(self, replica: Replica) -> None:
        """Fetch it no more."""
        source = replica.source
        if isinstance(source, PartitionFetch) and self._followings.get(source.key) is source:
            del self._followings[source.key]
            self._take_out(source)
            replica.source = None

    def kick(self, now: Instant) -> list[Effect]:
        """The leader may have another address, or have come back."""
        return self._main.kick(now) + self._second.kick(now)

    # --- an `Asker` of its partitions ---

    def able(self, following: PartitionFetch, now: Instant) -> list[Effect]:
        """It can be asked for: in the lane whose next request is the soonest."""
        if self._followings.get(following.key) is not following:
            return []
        self._take_out(following)
        is_busy = self._main.is_asking and self._main.ends_at > now
        lane = self._second if is_busy and not self._second.is_asking else self._main
        self._lane_of[following] = lane
        lane.put(following)
        self._wake(lane)
        return []

    def unable(self, following: PartitionFetch, now: Instant) -> list[Effect]:
        self._take_out(following)
        return []

    def stored(self, following: PartitionFetch, now: Instant) -> list[Effect]:
        lane = self._lane_of.get(following)
        return self._again(following, now) if lane is None else lane.stored(following, now)

    def _take_out(self, following: PartitionFetch) -> None:
        lane = self._lane_of.pop(following, None)
        if lane is not None:
            lane.take_out(following)
            self._wake(lane)  # it may have been the last that the others in the lane waited for

    # --- the `Owner` of its lanes ---

    def round_over(self, lane: FetchLane, now: Instant) -> list[Effect]:
        """The second lane gives its partitions to the first, once that can take them.

        Not before they are stored: what is on its way to the disk would be asked for once more.
        """
        if lane is self._main:
            if self._second.is_at_rest:
                self._merge()
            return []
        if self._main.is_asking and self._main.ends_at > now + _ABOUT_TO_END_MS:
            return []
        self._merge()
        return self._main.kick(now)

    def wait_ms(self, lane: FetchLane, now: Instant) -> int:
        """The second lane's request comes back a little before the first one's, so that they can be one."""
        longest = self._settings.wait_ms_max
        if lane is self._main or not self._main.is_asking:
            return longest
        return min(longest, max(0, self._main.ends_at - _ABOUT_TO_END_MS // 2 - now))

    def _merge(self) -> None:
        for following in list(self._second.asking.members.values()):
            self._second.take_out(following)
            self._lane_of[following] = self._main
            self._main.put(following)

    def taken(self, following: PartitionFetch, size: int, now: Instant) -> None:
        """What a replica that catches up gets beyond its share it waits for."""
        self.bytes_in += size
        if not self._throttle.is_set:
            return
        node_id, partition = self._host.config.node_id, following.replica.partition
        placed = self._host.image.partition(partition)
        if placed is None or node_id in placed.isr:
            return
        self._throttle.spend(partition, node_id, size, now)
        self._hold(following, now)

    def rethink(self, now: Instant) -> list[Effect]:
        """The throttle is another: who was held back by the old one may go on sooner, or later."""
        effects: list[Effect] = []
        held, self._held = self._held, {}
        for following, timer in held.items():
            self._host.timers.cancel(timer)
            self._hold(following, now)
            effects += self._again(following, now)
        return effects

    def _hold(self, following: PartitionFetch, now: Instant) -> None:
        """Until the throttle lets it fetch on, if it does not now."""
        partition = following.replica.partition
        wait_ms = self._throttle.wait_ms(partition, self._host.config.node_id, now)
        if wait_ms > 0:
            self._take_out(following)
            self._held[following] = self._host.timers.set(
                now + wait_ms, lambda at: self._released(following, at)
            )

    def _released(self, following: PartitionFetch, now: Instant) -> list[Effect]:
        self._held.pop(following, None)
        return self._again(following, now)

    def failed(self, lane: FetchLane, following: PartitionFetch, now: Instant) -> None:
        self._lane_of.pop(following, None)
        delay = backoff_ms(following.failures - 1, self._settings.backoff_ms_max)
        self._host.timers.set(now + delay, lambda at: self._again(following, at))

    def _again(self, following: PartitionFetch, now: Instant) -> list[Effect]:
        if following in self._lane_of or following in self._held or not following.is_able:
            return []
        return self.able(following, now)
