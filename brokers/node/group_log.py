"""The group coordinator's records, to and from the partitions of `__consumer_offsets`."""

from collections.abc import Iterable

from brokers.api.context import Context
from brokers.effects import Changed, Effect, ReadRange
from brokers.errors import KafkaError, Refusal
from brokers.events import LogAnswer, RangeRead
from brokers.groups.effects import AppendRecords, GroupEffect, GroupReply, OffsetsCommitted
from brokers.ids import OFFSETS_TOPIC, Buffer, Instant, Offset, TopicPartition
from brokers.log.config import LogConfig
from brokers.partition import leader
from brokers.partition.replica import Replica
from brokers.records.batch import BatchError, iter_headers
from brokers.records.builder import NewRecord, build_batch
from brokers.records.record import open_batch
from brokers.region import GroupOffsetsChanged

READ_BYTES = 1 << 20

_TOO_LARGE = (KafkaError.MESSAGE_TOO_LARGE, KafkaError.RECORD_LIST_TOO_LARGE)
_ELSEWHERE = KafkaError.COORDINATOR_NOT_AVAILABLE  # or later: the client looks again


class GroupLog:
    """Performs the coordinator's effects and loads it from what the logs hold."""

    def __init__(self) -> None:
        self.context: Context
        self.loading: dict[TopicPartition, Offset] = {}  # up to where
        self._served: set[TopicPartition] = set()  # loaded here, or being loaded

    def run(self, effects: Iterable[GroupEffect], now: Instant) -> list[Effect]:
        out: list[Effect] = []
        for effect in effects:
            match effect:
                case GroupReply():
                    out += self.context.replied(effect)
                case AppendRecords():
                    out += self._append(effect, now)
                case OffsetsCommitted(group, offsets):
                    out.append(GroupOffsetsChanged(group, offsets))
                case Changed():
                    out.append(effect)
        return out

    def _append(self, effect: AppendRecords, now: Instant) -> list[Effect]:
        groups = self.context.groups
        try:
            partition = TopicPartition(OFFSETS_TOPIC, effect.offsets_partition)
            replica = self.context.require_leader(partition)
            if replica.leadership is not None:
                replica.leadership.require_in_sync()
            records = [NewRecord(key=key, value=value) for key, value in effect.records]
            batch = build_batch(records, timestamp=now)
            _require_size(effect, len(batch), replica.config)
            done = leader.append_own(replica, batch, now)
        except Refusal as refusal:
            error = refusal.error if refusal.error in _TOO_LARGE else _ELSEWHERE
            return self.run(groups.append_failed(effect.token, error, now), now)

        def placed(error: KafkaError, at: Instant) -> list[Effect]:
            if error:
                return self.run(groups.append_failed(effect.token, _ELSEWHERE, at), at)
            return self.run(groups.committed(effect.token, at), at)

        replica.waiting.for_offset(done.next_offset, placed)
        return [*done.effects]

    def follow(self, now: Instant) -> list[Effect]:
        """The leaders of offsets partitions may have changed: whoever leads one coordinates its groups."""
        topic = self.context.image.topics_by_name.get(OFFSETS_TOPIC)
        effects: list[Effect] = []
        for partition in () if topic is None else topic.each():
            replica = self.context.partitions.get(partition)
            if replica is not None and not replica.follows:
                effects += self.opened(replica, now)
            elif partition in self._served:
                effects += self.lost(partition, now)
        return effects

    def opened(self, replica: Replica, now: Instant) -> list[Effect]:
        """The log may be there, and this node may lead it."""
        if replica.follows or replica.log is None or replica.partition in self._served:
            return []
        return self.load(replica, now)

    def load(self, replica: Replica, now: Instant) -> list[Effect]:
        """Read one partition from its start; the coordinator serves its groups when all of it has been read.

        All of it is more than is known to be committed: what the leader has, it will commit.
        """
        log = replica.require_log()
        self._served.add(replica.partition)
        self.loading[replica.partition] = log.log_end_offset
        self.context.groups.start_loading(replica.partition.partition)
        return self._read(replica, log.log_start_offset, log.log_end_offset, now)

    def _read(self, replica: Replica, offset: Offset, bound: Offset, now: Instant) -> list[Effect]:
        if offset >= bound:
            self.loading.pop(replica.partition, None)
            loaded = self.context.groups.finish_loading(replica.partition.partition, now)
            return self.run(loaded, now)
        ticket = self.context.new_ticket()

        def answered(event: LogAnswer, at: Instant) -> list[Effect]:
            assert isinstance(event, RangeRead)
            if self.loading.get(replica.partition) != bound:
                return []  # the leadership was lost meanwhile
            if event.error or event.next_offset <= offset:
                self.loading.pop(replica.partition, None)
                return _not_loaded(event)
            self._replay(replica.partition, event.data)
            return self._read(replica, event.next_offset, bound, at)

        self.context.answered[ticket] = answered
        return [ReadRange(ticket, replica.partition, offset, bound, READ_BYTES, at_least_one=True)]

    def _replay(self, partition: TopicPartition, data: Buffer) -> None:
        """Control batches of a foreign writer would carry no group records; ours never write any.

        Nor do ours write what cannot be opened; but tools may write here, and their mistakes must not keep a node down.
        """
        view, groups = memoryview(data), self.context.groups
        for position, header in iter_headers(view):
            if header.is_control:
                continue
            batch = view[position : position + header.length]
            try:
                groups.replay(partition.partition, open_batch(batch))
            except BatchError as damage:
                why = f"the batch at offset {header.base_offset}: {damage.because}"
                groups.skip(partition.partition, why)

    def lost(self, partition: TopicPartition, now: Instant) -> list[Effect]:
        """The partition went offline, or to another leader: its groups have no coordinator here."""
        self._served.discard(partition)
        self.loading.pop(partition, None)
        return self.run(self.context.groups.unload(partition.partition, now), now)


def _not_loaded(event: RangeRead) -> list[Effect]:
    """A log that failed is told as such, and loaded when it opens again. Of anything else nobody else tells."""
    if event.error is KafkaError.KAFKA_STORAGE_ERROR:
        return []
    why = f"its log ends or is damaged at offset {event.next_offset}: {event.error.name}"
    return [Changed(f"group records of {event.partition}", "not loaded", why)]


def _require_size(append: AppendRecords, size: int, config: LogConfig) -> None:
    """Followers copy these: one record is held to max.message.bytes, many together to what a segment takes."""
    largest = max(len(key) + len(value or b"") for key, value in append.records)
    if largest > config.max_message_bytes:
        raise Refusal(KafkaError.MESSAGE_TOO_LARGE)
    if size > config.segment_bytes:
        raise Refusal(KafkaError.RECORD_LIST_TOO_LARGE)
