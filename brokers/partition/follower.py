"""A follower's log: append what was fetched, truncate what the leader does not have.

Batches are opaque: they are checked, never opened, and stored at the offsets and with the leader epochs they carry.
"""

from dataclasses import dataclass

from brokers.effects import Effect
from brokers.errors import KafkaError, Refusal
from brokers.ids import Buffer, Instant, LeaderEpoch, Offset
from brokers.log.log import Log
from brokers.partition.replica import Replica
from brokers.records.batch import BatchError, BatchHeader, iter_headers, verify_crc


@dataclass(frozen=True, slots=True)
class FetchedAppend:
    """The result of an append; `appended` if there is a write to wait for."""

    effects: list[Effect]
    appended: bool


def append_fetched(
    replica: Replica,
    data: Buffer,
    leader_epoch: LeaderEpoch,
    now: Instant,
    complete_from: Offset = -1,
) -> FetchedAppend:
    """Append what a leader of `leader_epoch` sent; raises `Refusal` for what cannot follow the log. Below
    `complete_from` the leader's log may lack records; -1: it has not said so.

    It stops before a batch of a later leader epoch (KAFKA-18723): the leader read that batch after it had lost its
    leadership, so this log may differ from the leader's before it.
    """
    log = replica.require_log()
    view = memoryview(data)
    headers, size = _checked(replica, view, leader_epoch, _expected(log))
    if not headers:
        return FetchedAppend([], False)
    effects: list[Effect] = []
    if headers[0].base_offset < log.log_end_offset:
        # The leader's log starts inside this batch; an empty log starts with the whole batch.
        effects += log.restart_at(headers[0].base_offset)
    config = replica.config
    sync = log.syncs(config, headers[-1].next_offset - headers[0].base_offset, now)
    effects += log.append(
        headers, (view[:size],), now, config=config, sync=sync, complete_from=complete_from
    )
    replica.appended(size)
    return FetchedAppend(effects, True)


def _expected(log: Log) -> Offset:
    return 0 if log.log_start_offset == log.log_end_offset else log.log_end_offset


def _checked(
    replica: Replica, data: memoryview, leader_epoch: LeaderEpoch, expected: Offset
) -> tuple[tuple[BatchHeader, ...], int]:
    headers: list[BatchHeader] = []
    size = 0
    try:
        for position, header in iter_headers(data):
            if header.leader_epoch > leader_epoch:
                break
            _check(data[position : position + header.length], header, expected)
            expected, size = header.next_offset, position + header.length
            headers.append(header)
    except BatchError as error:
        raise Refusal(error.error, f"{replica.partition}: {error.because}") from error
    return tuple(headers), size


def _check(batch: memoryview, header: BatchHeader, expected: Offset) -> None:
    if header.base_offset < expected or header.last_offset_delta < 0:
        because = f"offset {header.base_offset} comes after {expected - 1}"
        raise BatchError(KafkaError.CORRUPT_MESSAGE, because)
    if not verify_crc(batch, header):
        because = f"bad checksum at offset {header.base_offset}"
        raise BatchError(KafkaError.CORRUPT_MESSAGE, because)


def truncation_offset(log: Log, leader_epoch: LeaderEpoch, end_offset: Offset) -> Offset:
    """Where to truncate: the leader does not have this log's latest epoch, and its `leader_epoch` ends at `end_offset`.

    If this log does not have that epoch, it is the end of the largest smaller one; the next fetch goes on (KIP-279).
    """
    epoch, end = log.epochs.end_offset_for(leader_epoch, log.log_end_offset)
    if epoch == leader_epoch or epoch < 0:
        end = end_offset if epoch < 0 else min(end, end_offset)
    return min(end, log.log_end_offset)


def follow_log_start(replica: Replica, log_start_offset: Offset) -> list[Effect]:
    """Trim to the leader's log start offset, but not above the high watermark."""
    log = replica.require_log()
    return [*log.trim(min(log_start_offset, replica.high_watermark))]


def on_out_of_range(
    replica: Replica, log_start_offset: Offset, high_watermark: Offset, now: Instant
) -> list[Effect]:
    """The leader's log lacks this log's end offset (its records are deleted), or this log's latest leader epoch."""
    log = replica.require_log()
    if log.log_end_offset < log_start_offset:
        return [*log.restart_at(log_start_offset), *replica.restarted(now)]
    entries = log.epochs.entries
    offset = entries[-1][1] if entries else min(high_watermark, log.log_end_offset)
    if offset <= log.log_start_offset:  # nothing is left: what the leader has below comes, too
        offset = min(offset, log_start_offset)
    return replica.truncate(offset)
