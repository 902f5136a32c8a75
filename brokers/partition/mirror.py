"""A partition that a link writes: whole batches, at the source's offsets, with the source's leader epochs.

Promise P2: a range that does not continue the log exactly is refused, never adjusted. Promise P4: only the link that
the metadata names as the writer may append.

A range may lack records that compaction has removed at the source: offsets between two batches, or in one. The source
says up to where that may be so (`complete_from`). A gap that ends above is a loss, and is refused.
"""

from collections.abc import Sequence

from brokers.effects import Effect
from brokers.errors import KafkaError, Refusal
from brokers.ids import OFFSET_MAX, Buffer, Instant, Offset
from brokers.log.completeness import gap_end
from brokers.partition.replica import Replica
from brokers.records.batch import BatchHeader, contradiction, iter_headers, verify_crc


def place(
    replica: Replica,
    writer: str,
    offset: Offset,
    data: Buffer,
    *,
    roll: bool,
    complete_from: Offset,
    now: Instant,
) -> tuple[Offset, Sequence[Effect]]:
    """Append the batches in `data` as they are -> (next offset, effects); raises `Refusal`.

    `offset` is the start of the range at the source, which may have gaps below `complete_from`: it must be this log's
    end, so that a lost or repeated range is detected. An empty log may start with a batch that begins below `offset`,
    if the source's log start offset lies inside that batch.
    """
    log = replica.require_log()
    _require_writer(replica, writer)
    if offset != log.log_end_offset:
        because = f"{replica.partition} ends at {log.log_end_offset}, not at {offset}"
        raise Refusal(KafkaError.OFFSET_OUT_OF_RANGE, because)
    headers = _checked(replica, memoryview(data), offset, holds_start=log.is_empty)
    base = headers[0].base_offset
    _check_gaps(replica, headers, offset, complete_from)
    effects = log.step_back(base) if base < offset else []
    effects += log.append(
        headers,
        (data,),
        now,
        config=replica.config,
        sync=log.syncs(replica.config, headers[-1].next_offset - base, now),
        behind=replica.leadership is None,  # followers may read unwritten batches
        roll_first=roll,
        complete_from=complete_from,
    )
    replica.appended(len(data))
    return log.log_end_offset, effects


def skip_to(replica: Replica, writer: str, offset: Offset) -> list[Effect]:
    """Let the log start and end at `offset`, which is above everything it holds (a hole, already recorded: P8)."""
    log = replica.require_log()
    _require_writer(replica, writer)
    if offset < log.log_end_offset:
        raise Refusal(KafkaError.OFFSET_OUT_OF_RANGE, f"{replica.partition} already holds {offset}")
    if offset > OFFSET_MAX:
        raise Refusal(KafkaError.OFFSET_OUT_OF_RANGE, f"no log goes up to offset {offset}")
    return [*log.restart_at(offset)]


def trim(replica: Replica, writer: str, log_start_offset: Offset) -> list[Effect]:
    """Follow the source's log start offset."""
    replica.require_log()
    _require_writer(replica, writer)
    return replica.trim(min(log_start_offset, replica.high_watermark))


def truncate(replica: Replica, writer: str, offset: Offset, now: Instant) -> list[Effect]:
    """Cut the log from `offset` on, which is sealed (P5); `Replica.opened` has what is left."""
    log = replica.require_log()
    _require_writer(replica, writer)
    if replica.leadership is not None:
        # Followers have acknowledged what is cut now: this leader epoch must end.
        replica.leadership.on_sent(log.log_end_offset)
    truncation = replica.truncate(offset)
    # Afterwards: consumers' fetches wait on if they find the log open.
    return [*replica.delayed.fail(KafkaError.NOT_LEADER_OR_FOLLOWER, now), *truncation]


def _require_writer(replica: Replica, writer: str) -> None:
    replica.require_leader()
    require_mirror(replica, writer)


def require_mirror(replica: Replica, writer: str) -> None:
    """Raises `Refusal` unless the link writes the partition, which this node may lead or follow."""
    if replica.writer != writer:
        raise Refusal(
            KafkaError.POLICY_VIOLATION,
            f"{replica.partition} is not written by link {writer!r} (any more)",
        )


def _check_gaps(
    replica: Replica, headers: Sequence[BatchHeader], expected: Offset, complete_from: Offset
) -> None:
    """Raises `Refusal` where records are missing that compaction has not removed."""
    end = gap_end(headers, expected)
    if end > complete_from:
        raise Refusal(
            KafkaError.INVALID_RECORD,
            f"the source's log of {replica.partition} lacks records below {end}, and it was compacted up to"
            f" {max(0, complete_from)} only: they are lost there",
        )


def _checked(
    replica: Replica, data: memoryview, expected: Offset, *, holds_start: bool
) -> tuple[BatchHeader, ...]:
    headers = []
    covered = 0
    for position, header in iter_headers(data):
        if not 0 <= header.base_offset < header.next_offset <= OFFSET_MAX:
            because = f"a batch from {header.base_offset} to {header.next_offset}"
            raise Refusal(KafkaError.CORRUPT_MESSAGE, because)
        first = header.next_offset - 1 if holds_start and position == 0 else header.base_offset
        if first < expected:
            raise Refusal(
                KafkaError.OFFSET_OUT_OF_RANGE, f"offset {header.base_offset} comes again"
            )
        if header.leader_epoch > replica.leader_epoch:
            raise Refusal(
                KafkaError.UNKNOWN_LEADER_EPOCH,
                f"leader epoch {header.leader_epoch} is above the partition's {replica.leader_epoch}",
            )
        if not verify_crc(data[position : position + header.length], header):
            raise Refusal(
                KafkaError.CORRUPT_MESSAGE, f"bad checksum at offset {header.base_offset}"
            )
        if because := contradiction(header):
            raise Refusal(KafkaError.CORRUPT_MESSAGE, f"{because} at offset {header.base_offset}")
        expected = header.next_offset
        covered = position + header.length
        headers.append(header)
    if not headers or covered != len(data):
        raise Refusal(KafkaError.CORRUPT_MESSAGE, "not a sequence of whole batches")
    return tuple(headers)
