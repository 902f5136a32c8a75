"""The replica that a consumer should read from: one in its rack (KIP-392, Kafka's RackAwareReplicaSelector).

Only replicas in sync and observers that keep up are selected, never one that lags or has not fetched.
"""

from brokers.ids import BrokerId, Instant, Offset
from brokers.metadata.image.image import Image
from brokers.partition.replica import Replica


def preferred_replica(
    image: Image, replica: Replica, rack: str, offset: Offset, lag_ms_max: int, now: Instant
) -> BrokerId | None:
    """The preferred replica of a partition that this node leads; None for the leader itself."""
    leadership, log = replica.leadership, replica.log
    own = image.brokers.get(replica.leader)
    if not rack or leadership is None or log is None or (own is not None and own.rack == rack):
        return None
    found: list[tuple[Offset, BrokerId]] = []
    for broker_id, state in leadership.isr_state.followers.items():
        broker = image.brokers.get(broker_id)
        if broker is None or broker.fenced or broker.rack != rack:
            continue
        keeps_up = broker_id in leadership.isr_state.isr or (
            state.is_fetching(now, lag_ms_max)
            and state.is_caught_up(log.log_end_offset, now, lag_ms_max)
        )
        holds_it = 0 <= state.log_start_offset <= offset <= state.log_end_offset
        is_same = state.broker_epoch in (-1, broker.broker_epoch)
        if keeps_up and holds_it and is_same:
            found.append((state.log_end_offset, broker_id))
    return max(found)[1] if found else None
