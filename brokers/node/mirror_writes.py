"""What a link writes to this node's replicas of mirror partitions, through `region_port`."""

from typing import Any

from brokers.config.broker_config import BrokerConfig
from brokers.continuations import Continuations
from brokers.effects import Effect, SealTail
from brokers.errors import KafkaError, Refusal
from brokers.events import LogAnswer, TailSealed
from brokers.ids import Instant, LeaderEpoch, Offset, Ticket, TopicPartition
from brokers.log.log import Log
from brokers.membership.log_dirs import OwnDirectories
from brokers.partition import mirror
from brokers.partition.hosted_partitions import HostedPartitions
from brokers.partition.replica import Replica
from brokers.region import (
    PlaceBatches,
    Placed,
    PlaceRefused,
    SealOrphans,
    SkipTo,
    TrimMirror,
    TruncateMirror,
)
from brokers.timers import Timers

PAUSE_MS = 5  # between two steps of a sealing, in which other requests are served

MirrorWrite = PlaceBatches | SkipTo | TrimMirror | TruncateMirror | SealOrphans


class MirrorWrites:
    """`perform` returns `Placed` or `PlaceRefused` as an effect, at once or later."""

    def __init__(
        self,
        config: BrokerConfig,
        partitions: HostedPartitions,
        continuations: Continuations,
        timers: Timers,
        log_dirs: OwnDirectories,
    ) -> None:
        self._log_dirs = log_dirs
        self._config = config
        self._partitions = partitions
        self._continuations = continuations
        self._timers = timers

    def perform(self, event: MirrorWrite, now: Instant) -> list[Effect]:
        replica = self._partitions.get(event.partition)
        try:
            if replica is None:
                raise Refusal(KafkaError.UNKNOWN_TOPIC_OR_PARTITION, f"no {event.partition} here")
            return self._write(replica, event, now)
        except Refusal as refusal:
            end = (
                replica.log.log_end_offset
                if replica is not None and replica.log is not None
                else -1
            )
            return [
                PlaceRefused(event.ticket, event.partition, refusal.error, refusal.because, end)
            ]

    def _write(self, replica: Replica, event: MirrorWrite, now: Instant) -> list[Effect]:
        match event:
            case PlaceBatches(ticket, writer, partition, offset, data, roll, complete_from):
                self._require_room(partition)
                end, effects = mirror.place(
                    replica, writer, offset, data, roll=roll, complete_from=complete_from, now=now
                )
                self._log_dirs.took(partition, len(data))
                replica.delayed.for_offset(end, self._when_placed(ticket, partition, end))
                return [*effects]
            case SkipTo(ticket, writer, partition, offset):
                skipped = mirror.skip_to(replica, writer, offset)
                return [*skipped, *replica.restarted(now), Placed(ticket, partition, offset)]
            case TrimMirror(ticket, writer, partition, log_start_offset):
                trimmed = mirror.trim(replica, writer, log_start_offset)
                end = replica.require_log().log_end_offset
                return [*trimmed, Placed(ticket, partition, end)]
            case TruncateMirror(ticket, writer, partition, offset):
                truncated = mirror.truncate(replica, writer, offset, now)
                return [*truncated, Placed(ticket, partition, offset)]
            case SealOrphans():
                mirror.require_mirror(replica, event.writer)
                return self._seal(event, _last_epoch(replica.require_log(), event.end))

    def _require_room(self, partition: TopicPartition) -> None:
        """A link waits, as producers do: its source keeps what the mirror does not have yet."""
        if because := self._log_dirs.shortage(partition):
            raise Refusal(KafkaError.KAFKA_STORAGE_ERROR, because)

    def _when_placed(self, ticket: Ticket, partition: TopicPartition, end: int) -> Any:
        def placed(error: KafkaError, now: Instant) -> list[Any]:
            if error:
                return [PlaceRefused(ticket, partition, error, _because(error), -1)]
            return [Placed(ticket, partition, end)]

        return placed

    def _seal(self, event: SealOrphans, last_epoch: LeaderEpoch) -> list[Effect]:
        """One step of it; the answer leads to the next one."""

        def answered(answer: LogAnswer, now: Instant) -> list[Any]:
            assert isinstance(answer, TailSealed)
            if answer.error:
                return [_not_sealed(event, answer.error, answer.next_offset)]
            if not answer.done:
                self._timers.set(now + PAUSE_MS, lambda _: self._seal(event, last_epoch))
                return []
            return [Placed(event.ticket, event.partition, answer.next_offset, answer.size)]

        limit = self._config.orphan_store_max_bytes
        ticket = self._continuations.on_storage(answered)
        sealed: Effect = SealTail(
            ticket,
            event.partition,
            event.offset,
            event.reason,
            limit,
            event.readers,
            event.end,
            last_epoch,
        )
        return [sealed]


def _because(error: KafkaError) -> str:
    """Why a write that was begun is not on the replicas in sync."""
    if error is KafkaError.KAFKA_STORAGE_ERROR:
        return "the disk refused the write"
    return "another broker may lead it by now, or it was truncated"


def _last_epoch(log: Log, end: Offset) -> LeaderEpoch:
    """Of the last record below `end`; -1: below the log's end."""
    return log.epochs.epoch_at((log.log_end_offset if end < 0 else end) - 1)


def _not_sealed(event: SealOrphans, because: str, next_offset: Offset) -> Any:
    error = KafkaError.KAFKA_STORAGE_ERROR
    return PlaceRefused(event.ticket, event.partition, error, because, next_offset)
