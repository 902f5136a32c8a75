"""Append a producer's batch: check it, assign its offsets, append it to the log.

The order of the checks is Kafka's, as its errors show it. A batch is decompressed only where its topic has a codec of
its own, and the batch has another, or the topic is compacted.
"""

from collections.abc import Sequence
from typing import NamedTuple

from brokers.effects import Effect
from brokers.errors import KafkaError, Refusal
from brokers.ids import OFFSET_MAX, Buffer, Instant, Offset
from brokers.log.config import LogConfig
from brokers.log.log import Log
from brokers.log.producers import Duplicate
from brokers.partition.replica import Replica
from brokers.records.batch import (
    CONTROL,
    HEADER_SIZE,
    TRANSACTIONAL,
    ZSTD,
    BatchError,
    BatchHeader,
    contradiction,
    parse_header,
    stamp,
    stamp_append_time,
    stamped,
    verify_crc,
)
from brokers.records.compression import decompress
from brokers.records.raw_records import first_without_key
from brokers.records.recompression import Recompressed, Recompression, recompressed

ZSTD_FIRST_PRODUCE_VERSION = 7  # KIP-110


class Appended(NamedTuple):
    """The result of an append; `effects` is empty for a duplicate of an appended batch."""

    base_offset: Offset
    next_offset: Offset
    append_time: Instant  # -1 for CreateTime
    log_start_offset: Offset
    effects: Sequence[Effect]
    is_idempotent: bool


def append(
    replica: Replica,
    data: Buffer | None,
    version: int,
    now: Instant,
    ready: Recompressed | None = None,
) -> Appended:
    """One producer's batch, stamped in place; raises `Refusal` with Kafka's error.

    `ready`: what `recompression` of the same data made, where that was done beforehand.
    """
    log, config = replica.require_log(), replica.config
    header = _one_batch(data)
    assert data is not None and not isinstance(data, bytes)  # the receive buffer: stamped in place
    _check_size(header, config, version)
    if not verify_crc(data, header):
        raise Refusal(KafkaError.CORRUPT_MESSAGE, "the batch's checksum does not match its bytes")
    _check_header(header)
    _check_time(header, config, now)
    if config.compact:
        _check_keys(replica, header, data)
    verdict = log.producers.check(header)
    if isinstance(verdict, Duplicate):
        return Appended(*verdict, log.log_start_offset, (), is_idempotent=True)
    if isinstance(verdict, KafkaError):
        raise Refusal(verdict)
    if config.codec is not None and header.compression != config.codec:
        wanted = (config.codec, config.compression_level)
        is_ready = ready is not None and ready[:2] == wanted  # the topic may have changed
        data = ready.batch if ready and is_ready else recompressed(data, header, *wanted)
        header = parse_header(data)
        _check_length(header, config)
    return _place(replica, log, header, data, now)


def recompression(replica: Replica, data: Buffer) -> Recompression | None:
    """What `append` would spend its time with; None where it would keep the codec, or refuse the batch."""
    config = replica.config
    if config.codec is None or replica.writer is not None:
        return None
    try:
        header = _one_batch(data)
        _check_length(header, config)
    except Refusal:
        return None
    if header.compression == config.codec:
        return None
    return Recompression(data, header, config.codec, config.compression_level)


def repeated(replica: Replica, data: Buffer | None) -> Appended | None:
    """The batch that an idempotent producer sends again, where its first copy is in the log; None for any other."""
    log = replica.require_log()
    header = _one_batch(data)
    _check_header(header)
    verdict = log.producers.check(header)
    if not isinstance(verdict, Duplicate):
        return None
    return Appended(*verdict, log.log_start_offset, (), is_idempotent=True)


def append_own(replica: Replica, data: bytearray, now: Instant) -> Appended:
    """Append a batch that this node built (group offsets): there is no producer to check."""
    return _place(replica, replica.require_log(), parse_header(data), data, now)


def _place(
    replica: Replica, log: Log, header: BatchHeader, data: bytearray | memoryview, now: Instant
) -> Appended:
    config, base, leader_epoch = replica.config, log.log_end_offset, replica.leader_epoch
    if base + header.last_offset_delta >= OFFSET_MAX:
        raise Refusal(KafkaError.OFFSET_OUT_OF_RANGE, f"{replica.partition} has no offsets left")
    append_time = -1
    if config.append_time:
        header = stamp_append_time(data, 0, now)
        append_time = now
    stamp(data, 0, base, leader_epoch)
    header = stamped(header, base, leader_epoch)
    sync = log.syncs(config, header.last_offset_delta + 1, now)
    effects = log.append((header,), (data,), now, config=config, sync=sync)
    replica.appended(header.length)
    is_idempotent = header.producer_id >= 0
    return Appended(
        base, log.log_end_offset, append_time, log.log_start_offset, effects, is_idempotent
    )


def _one_batch(data: Buffer | None) -> BatchHeader:
    if not data:
        raise Refusal(KafkaError.INVALID_RECORD, "no batch")
    header = parse_header(data)
    if header.length == len(data):
        return header
    if header.length > len(data):
        raise Refusal(KafkaError.CORRUPT_MESSAGE, "the batch's length does not match the request's")
    raise Refusal(KafkaError.INVALID_RECORD, "more than one batch for one partition")


def _check_size(header: BatchHeader, config: LogConfig, version: int) -> None:
    if version < ZSTD_FIRST_PRODUCE_VERSION and header.compression == ZSTD:
        raise Refusal(KafkaError.UNSUPPORTED_COMPRESSION_TYPE, "zstd needs Produce version 7")
    _check_length(header, config)


def _check_length(header: BatchHeader, config: LogConfig) -> None:
    length = header.length
    if length > config.max_message_bytes:
        raise Refusal(
            KafkaError.MESSAGE_TOO_LARGE,
            f"{length} bytes; max.message.bytes is {config.max_message_bytes}",
        )
    if length > config.segment_bytes:
        raise Refusal(KafkaError.RECORD_LIST_TOO_LARGE, "the batch is longer than a segment")


def _check_header(header: BatchHeader) -> None:
    attributes = header.attributes
    if header.base_offset != 0:
        raise Refusal(KafkaError.INVALID_RECORD, "a producer's base offset must be 0")
    if header.record_count <= 0 or header.record_count != header.last_offset_delta + 1:
        raise Refusal(KafkaError.INVALID_RECORD, "the record count does not match the offsets")
    if attributes & CONTROL:
        raise Refusal(KafkaError.INVALID_RECORD, "clients may not write control batches")
    if header.base_sequence < 0 <= header.producer_id:
        raise Refusal(KafkaError.INVALID_RECORD, "an idempotent batch without a sequence")
    if attributes & TRANSACTIONAL:
        raise Refusal(KafkaError.INVALID_TXN_STATE, "transactions are not supported by this broker")
    if because := contradiction(header):
        raise Refusal(KafkaError.INVALID_RECORD, because)


def _check_keys(replica: Replica, header: BatchHeader, data: Buffer) -> None:
    """A record without a key would be lost in a compacted topic; one that can't be read would end its compaction."""
    packed = memoryview(data)[HEADER_SIZE : header.length]
    try:
        opened = bytes(decompress(header.compression, packed))
        without = first_without_key(opened, header.record_count)
    except BatchError as error:
        raise Refusal(KafkaError.INVALID_RECORD, error.because) from None
    if without is not None:
        raise Refusal(
            KafkaError.INVALID_RECORD,
            "Compacted topic cannot accept message without key in topic partition"
            f" {replica.partition}: record {without} of the batch has none",
        )


def _check_time(header: BatchHeader, config: LogConfig, now: Instant) -> None:
    if header.is_append_time:
        raise Refusal(KafkaError.INVALID_TIMESTAMP, "producers must not set LogAppendTime")
    if config.append_time:
        return
    if header.max_timestamp > now + config.timestamp_after_max_ms:
        raise Refusal(
            KafkaError.INVALID_TIMESTAMP, "further ahead than message.timestamp.after.max.ms"
        )
    if 0 <= header.base_timestamp < now - config.timestamp_before_max_ms:
        raise Refusal(KafkaError.INVALID_TIMESTAMP, "older than message.timestamp.before.max.ms")
