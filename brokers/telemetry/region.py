"""This node in its region: its state in the quorum, its lag in the metadata log, its replication as a follower."""

from collections.abc import Iterator
from typing import Final

from brokers.ids import Instant
from brokers.node.parts import Parts
from brokers.telemetry.exposition import family, labelled

STATE: Final = "kafka_server_raft_metrics_current_state_info"
BROKER_LAG: Final = "kafka_server_broker_metadata_metrics_last_applied_record_lag_ms"
CONTROLLER_LAG: Final = "kafka_controller_kafkacontroller_lastappliedrecordlagms"
FAILED_UPDATES: Final = "kafka_server_replicamanager_failedisrupdates_total"
BYTES_IN: Final = "kafka_server_brokertopicmetrics_replicationbytesin_total"


def region_text(parts: Parts, now: Instant) -> Iterator[str]:
    state = parts.raft.quorum_state
    if state is not None:
        about = "What this node is in the quorum: leader, follower, observer, candidate ..."
        yield from family(STATE, "gauge", about, iter([(1, labelled(state=state))]))
    yield from _lag(parts, now)
    if parts.config.is_broker:
        yield from _followers(parts)


def _lag(parts: Parts, now: Instant) -> Iterator[str]:
    lag_ms = parts.raft.lag_ms(now)
    if lag_ms is None:
        return
    about = "Milliseconds since the last record that this node goes by was written; 0 where it is the active controller"
    names = [BROKER_LAG] if parts.config.is_broker else []
    if parts.config.is_controller:
        names.append(CONTROLLER_LAG)
    for name in names:
        yield from family(name, "gauge", about, iter([(lag_ms, "")]))


def _followers(parts: Parts) -> Iterator[str]:
    replication = parts.replication
    about = "Changes of in-sync sets that the controller refused, one a partition"
    yield from family(
        FAILED_UPDATES, "counter", about, iter([(replication.failed_isr_updates, "")])
    )
    about = "Bytes of record batches that followers here were sent"
    yield from family(BYTES_IN, "counter", about, iter([(replication.bytes_in, "")]))
