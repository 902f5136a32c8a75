"""Begins a new segment, and seals the one before."""

from brokers.effects import Roll
from brokers.events import Event, Written
from brokers.ids import TopicPartition
from brokers.storage.directories.log_dir_checkpoints import LogDirCheckpoints
from brokers.storage.logs.local_log import LocalLog
from brokers.storage.logs.syncing import Syncs


def roll_log(root: LogDirCheckpoints, syncs: Syncs, effect: Roll, log: LocalLog) -> list[Event]:
    """Also requests the sync of the sealed segment. Raises `DiskError`."""
    sealed, end = log.active, log.next_offset
    if effect.base_offset < end:
        # An empty log begins again below, where nothing is synced yet.
        root.lower(effect.partition, effect.base_offset)
        log.synced_offset = min(log.synced_offset, effect.base_offset)
    log.roll(effect.base_offset, effect.producers, effect.index_interval_bytes)
    syncs.add(effect.partition, log, sealed)
    return _settle_gap(root, syncs, effect.partition, log) if effect.base_offset > end else []


def _settle_gap(
    root: LogDirCheckpoints, syncs: Syncs, partition: TopicPartition, log: LocalLog
) -> list[Event]:
    """Sync a gap between two segments: recovery treats a gap above the recovery point as a loss."""
    syncs.sync_now(partition, log)
    was_promised = log.is_synced_to(log.next_offset)
    root.save_recovery_point(partition, log.synced_offset)
    return [Written(partition, log.synced_offset)] if was_promised else []
