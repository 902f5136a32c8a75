"""The group coordinator's records, to and from the partitions of `__consumer_offsets`."""

from collections.abc import Iterable

from brokers.api.context import Context
from brokers.effects import Effect, ReadRange
from brokers.errors import KafkaError, Refusal
from brokers.events import RangeRead, TimestampFound
from brokers.groups.effects import Answer, AppendRecords, GroupEffect, OffsetsCommitted
from brokers.ids import OFFSETS_TOPIC, Instant, Offset, TopicPartition
from brokers.partition import leader
from brokers.partition.replica import Replica
from brokers.records.batch import BatchError, iter_headers
from brokers.records.builder import NewRecord, build_batch
from brokers.records.record import Record, open_batch
from brokers.region import OffsetsCommitted as RegionOffsetsCommitted
from brokers.region import RegionEffect

READ_BYTES = 1 << 20


class GroupLog:
    """Performs the coordinator's effects and loads it from what the logs hold."""

    def __init__(self) -> None:
        self.context: Context
        self.loading: dict[TopicPartition, None] = {}

    def run(self, effects: Iterable[GroupEffect], now: Instant) -> list[Effect | RegionEffect]:
        out: list[Effect | RegionEffect] = []
        for effect in effects:
            match effect:
                case Answer():
                    out += self.context.replied(effect)
                case AppendRecords():
                    out += self._append(effect, now)
                case OffsetsCommitted(group, offsets):
                    out.append(RegionOffsetsCommitted(group, offsets))
        return out

    def _append(self, effect: AppendRecords, now: Instant) -> list[Effect | RegionEffect]:
        groups = self.context.groups
        try:
            replica = self.context.require(TopicPartition(OFFSETS_TOPIC, effect.offsets_partition))
            records = [NewRecord(key=key, value=value) for key, value in effect.records]
            done = leader.append_own(replica, build_batch(records, timestamp=now), now)
        except Refusal:
            failed = groups.append_failed(effect.token, KafkaError.COORDINATOR_NOT_AVAILABLE, now)
            return self.run(failed, now)

        def placed(error: KafkaError, at: Instant) -> list[Effect | RegionEffect]:
            if error:
                return self.run(
                    groups.append_failed(effect.token, KafkaError.COORDINATOR_NOT_AVAILABLE, at), at
                )
            return self.run(groups.committed(effect.token, at), at)

        replica.waiting.for_offset(done.next_offset, placed)
        return [*done.effects]

    def load(self, replica: Replica, now: Instant) -> list[Effect | RegionEffect]:
        """Read one partition from its start; the coordinator serves its groups when all of it has been read."""
        self.loading[replica.partition] = None
        return self._read(replica, replica.require_log().log_start_offset, [], now)

    def _read(
        self, replica: Replica, offset: Offset, records: list[Record], now: Instant
    ) -> list[Effect | RegionEffect]:
        if offset >= replica.high_watermark:
            del self.loading[replica.partition]
            loaded = self.context.groups.load(replica.partition.partition, records, now)
            return self.run(loaded, now)
        ticket = self.context.new_ticket()

        def answered(event: RangeRead | TimestampFound, at: Instant) -> list[Effect | RegionEffect]:
            assert isinstance(event, RangeRead)
            if event.error or event.next_offset <= offset:
                self.loading.pop(replica.partition, None)
                return []  # the log failed meanwhile: it is loaded when it opens again
            for position, header in iter_headers(event.data):
                batch = memoryview(event.data)[position : position + header.length]
                try:
                    records.extend(open_batch(batch))
                except BatchError:
                    continue  # recovery has verified the checksums: nothing of ours is in it
            return self._read(replica, event.next_offset, records, at)

        self.context.answered[ticket] = answered
        bound = replica.high_watermark
        return [ReadRange(ticket, replica.partition, offset, bound, READ_BYTES, at_least_one=True)]

    def lost(self, partition: TopicPartition, now: Instant) -> list[Effect | RegionEffect]:
        """The partition went offline: its groups have no coordinator here."""
        self.loading.pop(partition, None)
        return self.run(self.context.groups.unload(partition.partition, now), now)
