"""A partition that another node leads: take what the leader has, give up what it has not.

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
class Taken:
    """What became of an answer's batches; `appended` where there is a write to wait for."""

    effects: list[Effect]
    appended: bool


def take(replica: Replica, data: Buffer, leader_epoch: LeaderEpoch, now: Instant) -> Taken:
    """Append what a leader of `leader_epoch` sent; raises `Refusal` for what cannot follow the log.

    A batch of a later leader epoch ends it (KAFKA-18723): it was read after the one that answers lost its leadership,
    so nothing says that what lies before it here is what lies before it there.
    """
    log = replica.require_log()
    view = memoryview(data)
    headers, size = _checked(replica, view, leader_epoch, _expected(log))
    if not headers:
        return Taken([], False)
    effects: list[Effect] = []
    if headers[0].base_offset < log.log_end_offset:
        # The leader's log starts within this batch: an empty log begins with all of it.
        effects += log.restart_at(headers[0].base_offset)
    config = replica.config
    effects += log.append(headers, (view[:size],), now, config=config, sync=config.sync)
    replica.appended(size)
    return Taken(effects, True)


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


def cut_for(log: Log, leader_epoch: LeaderEpoch, end_offset: Offset) -> Offset:
    """Where to cut, given that the leader's history has `leader_epoch`, which ends there, and not what we have last.

    With an epoch that we don't know it is cut where the largest one below it ends, and the next fetch tells more
    (KIP-279).
    """
    epoch, end = log.epochs.end_offset_for(leader_epoch, log.log_end_offset)
    if epoch == leader_epoch or epoch < 0:
        end = end_offset if epoch < 0 else min(end, end_offset)
    return min(end, log.log_end_offset)


def follow_log_start(replica: Replica, log_start_offset: Offset) -> list[Effect]:
    """The leader deleted what lies below; here only what is known to be committed goes."""
    log = replica.require_log()
    return [*log.trim(min(log_start_offset, replica.high_watermark))]


def left_behind(
    replica: Replica, log_start_offset: Offset, high_watermark: Offset, now: Instant
) -> list[Effect]:
    """The leader has nothing at our log's end: it deleted that long ago, or it never knew our latest leader epoch."""
    log = replica.require_log()
    if log.log_end_offset < log_start_offset:
        return [*log.restart_at(log_start_offset), *replica.moved(now)]
    entries = log.epochs.entries
    offset = entries[-1][1] if entries else min(high_watermark, log.log_end_offset)
    return replica.truncate(max(log.log_start_offset, offset))
