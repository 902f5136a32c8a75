"""What the brokers of this region know of the mirror partitions that they lead, gathered by the link coordinator."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from brokers.ids import OFFSETS_TOPIC, BrokerId, Instant, Offset, TopicPartition
from brokers.metadata.image.image import NO_LEADER
from brokers.region import MirrorPartitionStatus, MirrorStatus
from linker.control.broker_questions import BrokerQuestions, Then
from linker.control.look_pace import LookPace
from linker.records.mirror_record import TailReader
from linker.region_client import Effects, RegionClient

OwnPartition: TypeAlias = Callable[[TopicPartition, Instant], MirrorPartitionStatus | None]


class Progress(NamedTuple):
    """What a broker has done for a mirror topic's record: groups moved back, orphan tails sealed, each with its bytes;
    or why it has not."""

    clamped: Collection[tuple[int, int]]
    sealed: Mapping[int, int]
    because: str


class Readers(NamedTuple):
    """What groups have committed for a topic that is to be restored: (group, partition, offset). `heard`: of which
    partitions of `__consumer_offsets`, each in its leader epoch."""

    committed: tuple[tuple[str, int, Offset], ...] = ()
    heard: Collection[tuple[int, int]] = ()


_NONE: Final = Progress((), {}, "")

# This broker's own; None where it has no record of the topic.
OwnProgress: TypeAlias = Callable[[str], Progress | None]
OwnReaders: TypeAlias = Callable[[str], Readers | None]


@dataclass(slots=True)
class _Report:
    """Of one broker about one mirror topic."""

    record_version: Offset
    partitions: dict[int, MirrorPartitionStatus]
    progress: Progress
    readers: Readers


class MirrorReports:
    """`collect` asks; `of` returns what is known in the leader epoch that the metadata has now.

    `pace` is of those that ask for one topic again and again.
    """

    def __init__(
        self,
        region: RegionClient,
        own_progress: OwnProgress,
        own_readers: OwnReaders,
        own_partition: OwnPartition,
    ) -> None:
        self.pace = LookPace()
        self._region = region
        self._own_progress = own_progress
        self._own_readers = own_readers
        self._own_partition = own_partition
        self._reports: dict[tuple[BrokerId, str], _Report] = {}
        self._questions = BrokerQuestions(
            region, lambda broker, topics, answer: self.heard(broker, topics, answer.mirrors or ())
        )

    def of(
        self, partition: TopicPartition, now: Instant, record_version: Offset = -1
    ) -> MirrorPartitionStatus | None:
        """None where the leader has not answered, or knows an older record of the mirror topic."""
        placed = self._region.view.image.partition(partition)
        if placed is None or placed.leader == NO_LEADER:
            return None
        if placed.leader == self._region.view.broker_id:
            return self._own_partition(partition, now)
        report = self._reports.get((placed.leader, partition.topic))
        if report is None or report.record_version < record_version:
            return None
        found = report.partitions.get(partition.partition)
        return found if found is not None and found.leader_epoch == placed.leader_epoch else None

    def is_clamped(self, topic: str, record_version: Offset) -> bool:
        """Whether every group of this region is moved back to the cut of this version of the record."""
        return self._covers(
            place
            for broker_id in self._coordinators()
            for place in self._progress(broker_id, topic, record_version).clamped
        )

    def _coordinators(self) -> set[BrokerId]:
        """The brokers that coordinate groups."""
        offsets = self._region.view.image.topics_by_name.get(OFFSETS_TOPIC)
        return {one.leader for one in offsets.partitions} if offsets is not None else set()

    def _covers(self, places: Iterable[tuple[int, int]]) -> bool:
        """Whether these are all partitions of `__consumer_offsets`, each in its leader epoch."""
        offsets = self._region.view.image.topics_by_name.get(OFFSETS_TOPIC)
        wanted = enumerate(offsets.partitions if offsets is not None else ())
        return {(index, placed.leader_epoch) for index, placed in wanted} <= set(places)

    def readers(self, topic: str, record_version: Offset) -> tuple[list[TailReader], bool]:
        """What groups have committed for the topic; and whether that is known of all groups."""
        found: list[TailReader] = []
        heard: set[tuple[int, int]] = set()
        for broker_id in sorted(self._coordinators()):
            each = self._readers(broker_id, topic, record_version)
            found += (TailReader(*one) for one in each.committed)
            heard |= set(each.heard)
        return found, self._covers(heard)

    def _readers(self, broker_id: BrokerId, topic: str, record_version: Offset) -> Readers:
        if broker_id == self._region.view.broker_id:
            return self._own_readers(topic) or Readers()
        report = self._reports.get((broker_id, topic))
        return report.readers if report and report.record_version >= record_version else Readers()

    def _progress(self, broker_id: BrokerId, topic: str, record_version: Offset) -> Progress:
        if broker_id == self._region.view.broker_id:
            return self._own_progress(topic) or _NONE
        report = self._reports.get((broker_id, topic))
        return report.progress if report and report.record_version >= record_version else _NONE

    def not_sealed(self, topic: str, record_version: Offset, partitions: int) -> str:
        """Which in-sync replica has not sealed its orphan tail for this version of the record; empty if all have.

        Of the first `partitions` of the topic: those that the source got later have no tail.
        """
        image = self._region.view.image.topics_by_name.get(topic)
        placements = image.partitions if image is not None else ()
        for index, placed in enumerate(placements[:partitions]):
            for broker_id in placed.isr:
                progress = self._progress(broker_id, topic, record_version)
                if index not in progress.sealed:
                    why = f": {progress.because}" if progress.because else ""
                    return f"broker {broker_id} has not sealed the tail of partition {index}{why}"
        return ""

    def sealed_bytes(self, partition: TopicPartition, record_version: Offset) -> int:
        """Of the orphan tail that the leader has sealed for this version of the record; -1 unknown."""
        placed = self._region.view.image.partition(partition)
        leader = placed.leader if placed is not None else NO_LEADER
        progress = self._progress(leader, partition.topic, record_version)
        return progress.sealed.get(partition.partition, -1)

    def trouble(self, topic: str) -> str:
        """Why some broker has not done what is pending."""
        brokers = self._region.view.image.brokers
        found = (self._progress(broker_id, topic, -1).because for broker_id in brokers)
        return next(filter(None, found), "")

    # --- asking ---

    def collect(
        self,
        topics: Iterable[str],
        then: Then,
        now: Instant,
        *,
        groups: bool = False,
        replicas: bool = False,
    ) -> Effects:
        """`then` runs once the leaders of these mirror topics have answered, or have not in time.

        With `groups`, those are asked too that coordinate groups; with `replicas`, those that are in sync.
        """
        names = list(topics)
        brokers = self.leaders(names + ([OFFSETS_TOPIC] if groups else []))
        if replicas:
            brokers = [*brokers, *self._in_sync(names)]
        return self._questions.ask(dict.fromkeys(brokers, names), then, now)

    def leaders(self, topics: Iterable[str]) -> list[BrokerId]:
        """The other brokers that lead partitions of these topics."""
        image = self._region.view.image
        found: dict[BrokerId, None] = {}
        for name in topics:
            topic = image.topics_by_name.get(name)
            for placed in topic.partitions if topic is not None else ():
                found[placed.leader] = None
        return [each for each in found if each not in (NO_LEADER, self._region.view.broker_id)]

    def _in_sync(self, topics: Iterable[str]) -> list[BrokerId]:
        """The other brokers in the in-sync sets of these topics."""
        image, own = self._region.view.image, self._region.view.broker_id
        found = (image.topics_by_name.get(name) for name in topics)
        return [
            broker_id
            for topic in found
            for placed in (topic.partitions if topic is not None else ())
            for broker_id in placed.isr
            if broker_id != own
        ]

    def heard(
        self, broker_id: BrokerId, topics: Iterable[str], mirrors: Iterable[MirrorStatus]
    ) -> None:
        """What a broker has said of these topics; nothing of those that are not in `mirrors`."""
        for topic in topics:
            self._reports.pop((broker_id, topic), None)
        for each in mirrors:
            self._reports[broker_id, each.topic] = _Report(
                each.record_version,
                {one.index: one for one in each.partitions},
                Progress(frozenset(each.clamped), each.sealed, each.because),
                Readers(each.committed, frozenset(each.heard)),
            )
