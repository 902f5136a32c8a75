"""The mirror topics of one link, from their records in the metadata log, each with its failover."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from uuid import UUID

from brokers.errors import KafkaError, Refusal
from brokers.ids import Instant, Offset, TopicPartition
from brokers.metadata.commands.document_commands import PutDocuments
from brokers.metadata.image.image import Document
from brokers.region import MirrorPartitionStatus, MirrorStatus
from linker.control.failover import MirrorFailover
from linker.control.failover_phases import FailoverProgress
from linker.control.group_sync import GroupSync
from linker.control.hold_requests import HoldRequests
from linker.control.hole_policy import HolePolicyOfMirror
from linker.control.link_settings import LinkSettings
from linker.control.mirror_reports import MirrorReports, Progress, Readers
from linker.control.mirror_status import (
    mirror_progress,
    mirror_readers,
    mirror_status,
    partition_status,
)
from linker.control.mirror_topic import RETRY_MS, MirrorTopic
from linker.control.pending_mirror import PendingMirror
from linker.control.restore import MirrorRestore
from linker.control.source_brokers import SourceBrokers
from linker.control.stop_lists import StopLists
from linker.data.destination_stream import DestinationStream
from linker.data.mirror_link import Divergence
from linker.errors import MirrorError
from linker.frames import TopicState
from linker.records.hole_ledger import Hole
from linker.records.mirror_record import MIRROR_KIND, MirrorRecord, decode_mirror
from linker.records.mirror_removal import is_left_behind, removal
from linker.records.mirror_state import LIVE, RESTORING, MirrorState
from linker.region_client import Done, Effects, RegionClient
from linker.reversal_frames import ReversalRefused


class MirrorTopics:
    """`by_name`, `failovers`, `restores` and `pending` have the same topics.

    A stopped mirror stays for as long as its topic exists.
    """

    def __init__(
        self,
        region: RegionClient,
        settings: LinkSettings,
        sources: SourceBrokers,
        groups: GroupSync,
        leading_changed: Callable[[], None],
        ask_again: Callable[[str], None],
        deleted: Callable[[str, Instant], Effects],
    ) -> None:
        """`leading_changed` is called when `source_topics` may have changed, `ask_again` with a source topic whose
        state is not known, though the source may have sent one, `deleted` with one whose mirror was deleted."""
        self.by_name: dict[str, MirrorTopic] = {}
        self.creating: list[str] = []  # their topics are created for an operator
        self.failovers: dict[str, MirrorFailover] = {}
        self.restores: dict[str, MirrorRestore] = {}
        self.pending: dict[str, PendingMirror] = {}
        self._hole_policies: dict[str, HolePolicyOfMirror] = {}
        self._region = region
        self._settings = settings
        self._sources = sources
        self._groups = groups
        self._leading_changed = leading_changed
        self._ask_again = ask_again
        self._deleted = deleted
        self.reports = MirrorReports(region, self._progress, self._readers, self.partition_status)
        self.holds = HoldRequests(region, settings, sources, self.by_name)
        self.stop_lists = StopLists(region, settings, self.by_name, self.failovers)

    @property
    def source_topics(self) -> Iterator[str]:
        """Those that this broker has to know: of which it leads a partition; of all live mirrors, as coordinator."""
        for mirror in self.by_name.values():
            is_of_use = mirror.replicators.leads or self._region.is_coordinator
            if is_of_use and mirror.record.state in LIVE:
                yield mirror.record.source_topic

    def mirror_of(self, source_topic: str) -> str | None:
        """The topic of this region that takes the group offsets of `source_topic`; None if there is none."""
        mirror = self.by_name.get(self._settings.config.prefix + source_topic)
        takes_them = mirror is not None and mirror.record.takes_group_offsets
        return mirror.topic if mirror is not None and takes_them else None

    def fail_mirror(self, topic: str, error: MirrorError, because: str, now: Instant) -> Effects:
        mirror = self.by_name.get(topic)
        return mirror.fail(error, because, now) if mirror is not None else []

    def leading_changed(self) -> None:
        self._leading_changed()

    def lacks_state(self, source_topic: str) -> bool:
        """What is being created gets the state by which that was decided."""
        mirror = self.by_name.get(self._settings.config.prefix + source_topic)
        return mirror is not None and mirror.lacks_state and mirror.topic not in self.creating

    def ask_again(self, source_topic: str) -> None:
        self._ask_again(source_topic)

    def on_divergence(self, partition: TopicPartition, agreed_offset: Offset) -> Divergence:
        mirror = self.by_name.get(partition.topic)
        if mirror is None:
            return Divergence.FAIL
        return mirror.on_divergence(partition.partition, agreed_offset)

    def before_cut(self, partition: TopicPartition, done: Done, now: Instant) -> Effects:
        mirror = self.by_name.get(partition.topic)
        if mirror is None:
            because = f"{partition.topic} is no mirror any more"
            return done(Refusal(KafkaError.UNKNOWN_TOPIC_OR_PARTITION, because), now)
        return mirror.sealing.before_cut(partition.partition, done, now)

    def was_primary(self, topic: str) -> bool:
        mirror = self.by_name.get(topic)
        return mirror is None or mirror.record.generation > 1

    def may_trim(self, topic: str) -> bool:
        """Until a restore has sealed what it removes, a failover makes the topic what it was."""
        mirror = self.by_name.get(topic)
        return mirror is not None and (
            mirror.record.state is not MirrorState.PENDING_SETUP_FOR_RESTORE
        )

    def subscribed(self, partition: TopicPartition, now: Instant) -> Effects:
        mirror = self.by_name.get(partition.topic)
        self.holds.moved(partition, now)
        return mirror.replicators.prove(now) if mirror is not None else []

    def is_restored(self, topic: str) -> bool:
        mirror = self.by_name.get(topic)
        return mirror is not None and bool(mirror.record.restore)

    def refuse_hole(self, hole: Hole, now: Instant) -> Effects | None:
        policy = self._hole_policies.get(hole.partition.topic)
        return policy.refuse(hole, now) if policy is not None else []

    # --- what this broker knows ---

    def status(self, topic: str, now: Instant) -> MirrorStatus | None:
        mirror = self.by_name.get(topic)
        return mirror_status(self._region, mirror, now) if mirror is not None else None

    def partition_status(
        self, partition: TopicPartition, now: Instant
    ) -> MirrorPartitionStatus | None:
        mirror = self.by_name.get(partition.topic)
        if mirror is None:
            return None
        return partition_status(self._region, mirror, partition.partition, now)

    def _progress(self, topic: str) -> Progress | None:
        mirror = self.by_name.get(topic)
        return mirror_progress(mirror) if mirror is not None else None

    def _readers(self, topic: str) -> Readers | None:
        mirror = self.by_name.get(topic)
        return mirror_readers(self._region, mirror) if mirror is not None else None

    def follow_clamps(self, topics: Iterable[str], now: Instant) -> Effects:
        """This broker may coordinate other groups by now."""
        found = [self.by_name[topic] for topic in topics if topic in self.by_name]
        return [
            effect for each in found for effect in each.clamp.follow(each.record, each.version, now)
        ]

    # --- the metadata log ---

    def coordinator_changed(self, now: Instant) -> Effects:
        """This broker has become the link coordinator, or is it no longer."""
        effects: Effects = []
        for topic, failover in list(self.failovers.items()):
            if self._region.is_coordinator:
                effects += self._follow_record(topic, now) + self.by_name[topic].follow(now)
            else:
                effects += failover.resign(now)
        return effects + self.stop_lists.coordinator_changed(now)

    def follow_documents(self, topics: Iterable[str] | None, now: Instant) -> Effects:
        """Adopt the records of these mirror topics from the metadata log; None: of all of this link."""
        documents = self._region.view.image.documents
        if topics is None:
            topics = [*self.by_name, *(name for kind, name in documents if kind == MIRROR_KIND)]
        effects: Effects = []
        names = dict.fromkeys(topics)
        for topic in names:
            effects += self._follow(topic, documents.get((MIRROR_KIND, topic)), now)
        return effects + self.stop_lists.mirrors_changed(names)

    def _follow(self, topic: str, document: Document | None, now: Instant) -> Effects:
        known = self.by_name.get(topic)
        if document is not None and known is not None and known.version == document.version:
            return []
        record = decode_mirror(topic, document.body) if document is not None else None
        if document is not None and record is not None and record.link == self._settings.name:
            return self._adopt(record, document.version, now)
        return self._forget(topic, now) if known is not None else []

    def _forget(self, topic: str, now: Instant) -> Effects:
        mirror = self.by_name.pop(topic)
        self._hole_policies.pop(topic)
        self.restores.pop(topic)
        self.pending.pop(topic)
        self._groups.forget(mirror.record.source_topic, topic)
        self._sources.share(topic, ())
        effects = mirror.forget() + self._sources.want(topic, (), now)
        if topic not in self._region.view.image.topics_by_name:
            effects += self._deleted(mirror.record.source_topic, now)
        return effects + self.failovers.pop(topic).abandon(now)

    def _adopt(self, record: MirrorRecord, version: Offset, now: Instant) -> Effects:
        effects: Effects = []
        mirror = self.by_name.get(record.topic)
        if mirror is not None and mirror.record.cut is not None and record.cut is None:
            # A cut is final: this is the record of a new mirror, of the same topic or another one of its name.
            effects += self._forget(record.topic, now)
            mirror = None
        if mirror is None:
            progress = FailoverProgress()
            mirror = MirrorTopic(
                self._region, self._settings, self._sources, self, record, version, progress
            )
            self.by_name[record.topic] = mirror
            if record.topic in self.creating:
                mirror.begin_making()
            self._hole_policies[record.topic] = HolePolicyOfMirror(
                self._region, self._settings, mirror
            )
            self.failovers[record.topic] = MirrorFailover(
                self._region,
                self._settings,
                self._sources,
                self._groups,
                self.reports,
                mirror,
                progress,
            )
            self.restores[record.topic] = MirrorRestore(
                self._region, self._settings, self.reports, mirror
            )
            self.pending[record.topic] = PendingMirror(self._region, mirror)
            effects += mirror.refresh(now) + mirror.clamp.follow(record, version, now)
            effects += mirror.sealing.follow(record, version, now)
            self._groups.mirror_added(record.source_topic, now)
            self.ask_again(record.source_topic)  # an earlier mirror may have had it
        else:
            was_other = mirror.record.state in (*RESTORING, MirrorState.PENDING_MIRROR)
            effects += mirror.adopt(record, version, now)
            if was_other and record.state in (MirrorState.ACTIVE, MirrorState.PAUSED):
                self._groups.mirror_added(record.source_topic, now)
        return effects + self._follow_record(record.topic, now)

    def _follow_record(self, topic: str, now: Instant) -> Effects:
        if not self._region.is_coordinator:
            return []
        record = self.by_name[topic].record
        if is_left_behind(record, self._topic_id(topic)):
            return self._remove(topic, record.created_at, now)
        effects = self.failovers[topic].follow_record(now) + self.restores[topic].follow(now)
        return effects + self.pending[topic].follow(now)

    # --- the region ---

    def partition_advanced(self, partition: TopicPartition, now: Instant) -> Effects:
        mirror = self.by_name.get(partition.topic)
        if mirror is None or mirror.record.state not in LIVE:
            return []
        self.holds.moved(partition, now)
        return mirror.replicators.advanced(partition.partition, now)

    def topics_changed(
        self, changed: Iterable[str], deleted: Iterable[str], now: Instant
    ) -> Effects:
        """Topics of this region changed. Mirrors follow their source again; the record of a deleted one is removed."""
        effects: Effects = []
        for topic in deleted:
            mirror = self.by_name.get(topic)
            if mirror is not None and self._is_gone(mirror):
                effects += mirror.stop_replicators()
                effects += self._remove(topic, mirror.record.created_at, now)
        for topic in changed:
            mirror = self.by_name.get(topic)
            if mirror is not None and self._exists(topic):
                effects += mirror.refresh(now) + mirror.follow(now)
                effects += self.restores[topic].follow(now) + self.pending[topic].follow(now)
        return effects

    def _exists(self, topic: str) -> bool:
        return self._topic_id(topic) is not None

    def _topic_id(self, topic: str) -> UUID | None:
        found = self._region.view.image.topics_by_name.get(topic)
        return found.id if found is not None else None

    def _is_gone(self, mirror: MirrorTopic) -> bool:
        topic_id = self._topic_id(mirror.topic)
        return topic_id is None or is_left_behind(mirror.record, topic_id)

    def _remove(self, topic: str, created_at: Instant, now: Instant) -> Effects:
        """The record of a topic that does not exist has no use; its holes stay for a time (`ledger_retention`)."""
        mirror = self.by_name.get(topic)
        if mirror is None or mirror.record.created_at != created_at:
            return []
        if not self._region.is_coordinator or not self._is_gone(mirror):
            return []
        command = PutDocuments((removal(mirror.record, mirror.version),))
        return [self._region.propose(command, partial(self._on_removed, topic, created_at))]

    def _on_removed(self, topic: str, created_at: Instant, result: object, now: Instant) -> Effects:
        """The record may have been changed meanwhile: then it is removed later."""
        if isinstance(result, Refusal):
            again = partial(self._remove, topic, created_at)
            self._region.timers.set(now + RETRY_MS, again)
        return self.follow_documents((topic,), now)

    # --- the source ---

    def follow_settings(self, now: Instant) -> Effects:
        """The link's configuration changed."""
        effects: Effects = []
        for topic, mirror in list(self.by_name.items()):
            effects += mirror.follow(now) + self.restores[topic].follow(now)
        return effects

    def opened(self, now: Instant) -> Effects:
        """A stream to the source is open."""
        effects: Effects = []
        for topic, mirror in list(self.by_name.items()):
            effects += mirror.refresh(now)
            if self._region.is_coordinator and self._sources.reaches_all:
                effects += self.failovers[topic].link_opened(now)
        return effects

    def closed(self, stream: DestinationStream, now: Instant) -> Effects:
        """A stream to the source was lost."""
        effects: Effects = []
        for topic, mirror in list(self.by_name.items()):
            effects += mirror.replicators.stream_closed(stream)
            if self._settings.config.is_dialed:
                effects += mirror.refresh(now)  # the source may have fewer streams for it now
            if self._region.is_coordinator:
                effects += self.failovers[topic].link_lost(now)
        return effects

    def on_reversal_refused(self, frame: ReversalRefused, now: Instant) -> Effects:
        """Of a topic without prefix: others are not reversed."""
        failover = self.failovers.get(frame.topic)
        is_ours = failover is not None and self._region.is_coordinator
        return failover.proof.source_refused(frame, now) if failover and is_ours else []

    def on_source_state(self, state: TopicState, now: Instant) -> Effects:
        """The source has sent a topic's state."""
        topic = self._settings.config.prefix + state.topic
        mirror = self.by_name.get(topic)
        if mirror is None:
            return []
        effects = mirror.on_source_state(state, now)
        if not self._region.is_coordinator:
            return effects
        return (
            effects
            + self.failovers[topic].proof.source_changed(now)
            + self.pending[topic].follow(now)
        )
