"""The lag of this node's followers, and of the followers of partitions that this node leads."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from brokers.ids import Instant, TopicPartition
from brokers.partition.replica import Replica
from brokers.telemetry.exposition import family, head, labelled

MAX_LAG: Final = "kafka_server_replicafetchermanager_maxlag"
CAUGHT_UP: Final = "kafka_cluster_partition_caughtupreplicascount"


def lag_text(
    replicas: Sequence[tuple[TopicPartition, Replica]], lag_ms_max: int, now: Instant
) -> Iterator[str]:
    """`lag_ms_max` (replica.lag.time.max.ms): a follower that had everything so long ago still counts as caught up."""
    about = "Records by which the slowest replica here is behind what its leader has committed"
    lag = max((_behind(replica) for _, replica in replicas), default=0)
    yield from family(MAX_LAG, "gauge", about, iter([(lag, labelled(clientId="Replica"))]))
    yield from _caught_up(replicas, lag_ms_max, now)


def _behind(replica: Replica) -> int:
    if not replica.follows or replica.log is None:
        return 0
    return max(0, replica.leader_high_watermark - replica.log.log_end_offset)


def _caught_up(
    replicas: Iterable[tuple[TopicPartition, Replica]], lag_ms_max: int, now: Instant
) -> Iterator[str]:
    """For each partition that this node leads with followers; observers count too."""
    yield head(CAUGHT_UP, "gauge", "Replicas that have all that there is, or had lately")
    for (topic, index), replica in replicas:
        leadership = replica.leadership
        if leadership is not None:
            others = leadership.isr_state.followers.values()
            count = 1 + sum(each.is_caught_up(leadership.end, now, lag_ms_max) for each in others)
            yield f'{CAUGHT_UP}{{topic="{topic}",partition="{index}"}} {count}\n'
        yield ""
