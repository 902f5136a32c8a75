"""Which replica a consumer should read from: one in its rack that has what it wants (KIP-392).

Kafka's RackAwareReplicaSelector. Only replicas whose progress the leader knows come into question, in sync or observers
that keep up: never one that lags, never one that was not heard of.
"""

from brokers.ids import BrokerId, Instant, Offset
from brokers.metadata.image.image import Image
from brokers.partition.replica import Replica


def preferred_replica(
    image: Image, replica: Replica, rack: str, offset: Offset, lag_ms_max: int, now: Instant
) -> BrokerId | None:
    """Of a leader's replica: the closest other one, or None where the leader itself is as good as any."""
    leadership, log = replica.leadership, replica.log
    own = image.brokers.get(replica.leader)
    if not rack or leadership is None or log is None or (own is not None and own.rack == rack):
        return None
    found: list[tuple[Offset, BrokerId]] = []
    for broker_id, state in leadership.progress.followers.items():
        broker = image.brokers.get(broker_id)
        if broker is None or broker.fenced or broker.rack != rack:
            continue
        keeps_up = broker_id in leadership.progress.isr or (
            state.is_in_touch(now, lag_ms_max)
            and state.is_caught_up(log.log_end_offset, now, lag_ms_max)
        )
        holds_it = 0 <= state.log_start_offset <= offset <= state.log_end_offset
        is_same = state.broker_epoch in (-1, broker.broker_epoch)
        if keeps_up and holds_it and is_same:
            found.append((state.log_end_offset, broker_id))
    return max(found)[1] if found else None
