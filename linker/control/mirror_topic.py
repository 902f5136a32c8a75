"""One mirror topic: the link coordinator follows its source topic's partitions and settings, and each broker owns a
replicator for each partition that it leads.

A change of the source topic, and what it does to the mirror:

    deleted, other id, fewer partitions     FAILED, with the reason, until failover or deletion; before a topic is a
                                            mirror it waits for more partitions
    more partitions                         the mirror gets as many
    other settings                          those of `topic.config.sync.include` are set here, also after a change here
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Final, Protocol
from uuid import UUID

from brokers.effects import Changed
from brokers.errors import Refusal
from brokers.ids import Instant, Offset, TopicPartition
from brokers.metadata.commands.commands import Submitted
from brokers.metadata.commands.config_commands import (
    AlterConfigs,
    ConfigChange,
    ConfigOperation,
    ResourceType,
)
from brokers.metadata.commands.document_commands import DocumentChange
from brokers.metadata.commands.mirror_commands import (
    CreateMirrorTopic,
    read_only_because,
    superseder_of,
)
from brokers.metadata.commands.topic_commands import CreatePartitions, NewPartitions
from linker.config_values import CLEANUP_POLICY
from linker.control.cut_clamp import CutClamp
from linker.control.failover_phases import FailoverProgress
from linker.control.link_settings import LinkSettings
from linker.control.mirror_replicators import MirrorReplicators, MirrorReplicatorsHost
from linker.control.orphan_sealing import OrphanSealing
from linker.control.source_brokers import SourceBrokers
from linker.control.topic_settings import config_changes, creation, refusal_of, with_policy
from linker.data.mirror_link import Divergence
from linker.errors import MirrorError
from linker.frames import TopicState
from linker.records.mirror_record import MIRROR_KIND, MirrorRecord
from linker.records.mirror_state import LIVE, TRANSITIONS, MirrorState, MirrorTrigger
from linker.region_client import Done, Effects, RegionClient

RETRY_MS: Final = 1_000
ASK_AGAIN_MS: Final = 100  # a broker of the source that is behind
_FOLLOWING: Final = [state for state in LIVE if state is not MirrorState.FAILED]
# Producers wrote the topic until now, and operators added partitions: to the other region's topic they come later.
_MAY_HAVE_MORE: Final = (MirrorState.PENDING_MIRROR, MirrorState.PENDING_SETUP_FOR_RESTORE)


class MirrorTopicHost(MirrorReplicatorsHost, Protocol):
    """What a mirror topic calls of its link."""

    def follow_documents(self, topics: Iterable[str] | None, now: Instant) -> Effects:
        """Adopt the records of these mirror topics from the metadata log."""

    def ask_again(self, source_topic: str) -> None:
        """Ask the source for the topic's state in a moment."""


def judge(record: MirrorRecord, partition_count: int, state: TopicState) -> tuple[MirrorError, str]:
    """Why the mirror cannot follow its source topic as it is now; NO_ERROR if it can."""
    topic = record.source_topic
    if not state.topic_id:
        return (
            MirrorError.SOURCE_TOPIC_MAY_BE_DELETED,
            f"{topic} is not in the source region any more",
        )
    if state.topic_id != record.source_topic_id.bytes:
        found = UUID(bytes=state.topic_id)
        because = f"{topic} has topic id {found}, the mirror was made of {record.source_topic_id}"
        return MirrorError.SOURCE_TOPIC_ID_CHANGED, because
    if state.partition_count < partition_count and record.state not in _MAY_HAVE_MORE:
        because = f"{topic} has {state.partition_count} partitions, the mirror {partition_count}"
        return MirrorError.SOURCE_PARTITIONS_DECREASED, because
    return MirrorError.NO_ERROR, ""


class MirrorTopic:
    """`record` is the document of version `version` in the metadata log."""

    def __init__(
        self,
        region: RegionClient,
        link: LinkSettings,
        sources: SourceBrokers,
        host: MirrorTopicHost,
        record: MirrorRecord,
        version: Offset,
        progress: FailoverProgress,
    ) -> None:
        self.record = record
        self.version = version
        self.replicators = MirrorReplicators(region, link, sources, host, self)
        self.source_state: TopicState | None = None
        self._is_outdated = False  # a broker of the source that was behind has told of a change
        self.config_trouble = ""
        self.is_forgotten = False
        self.clamp = CutClamp(region, record.topic)
        self.sealing = OrphanSealing(region, record.topic)
        self._region = region
        self._link = link
        self._host = host
        self._progress = progress
        self._proposing = False  # a change of the local topic was proposed and is not answered
        self._proposed: object = None  # the last such change
        self._retry: int | None = None

    @property
    def topic(self) -> str:
        return self.record.topic

    @property
    def topic_id(self) -> UUID | None:
        """None until its topic is made."""
        image = self._region.view.image.topics_by_name.get(self.topic)
        return image.id if image is not None else None

    @property
    def partition_count(self) -> int:
        image = self._region.view.image.topics_by_name.get(self.topic)
        return len(image.partitions) if image is not None else 0

    @property
    def is_made(self) -> bool:
        """Whether its topic is in this region."""
        return self.partition_count > 0

    @property
    def taken_over(self) -> str:
        """Why it is read-only here: another region has taken it over since it was stopped. Empty if none has."""
        image = self._region.view.image.topics_by_name.get(self.topic)
        writer = image.writer if image is not None else None
        return read_only_because(self.topic, writer) if writer and superseder_of(writer) else ""

    @property
    def is_halted(self) -> bool:
        """Whether a cut is being made or has been made."""
        return self._progress.is_halted or self.record.halted or self.record.cut is not None

    @property
    def streams(self) -> bool:
        """Whether this topic's state allows replicators to run: its link is the topic's writer."""
        return self.record.streams and self._is_writer and not (self.is_halted or self.is_forgotten)

    @property
    def is_watched(self) -> bool:
        """Whether only how far its source is has to be known."""
        state = self.source_state
        is_same = state is not None and state.topic_id == self.record.source_topic_id.bytes
        is_idle = self.record.is_idle and not (self.is_halted or self.is_forgotten)
        return is_same and is_idle and self._is_writer

    @property
    def _is_writer(self) -> bool:
        topic = self._region.view.image.topics_by_name.get(self.topic)
        return topic is None or topic.writer == self._link.name

    def on_divergence(self, index: int, agreed_offset: Offset) -> Divergence:
        """Only an orphan tail is cut, and only once it is sealed; also by who becomes leader later on."""
        record = self.record
        if record.state is MirrorState.PENDING_SETUP_FOR_RESTORE:
            return Divergence.KEEP
        state = self._region.view.partition_state(TopicPartition(self.topic, index))
        if state is None or index >= len(record.restore):
            return Divergence.FAIL
        point = record.restore[index]
        is_orphan = not state.epochs or state.epochs[-1][0] <= point.leader_epoch
        is_sealed = agreed_offset >= point.offset
        return Divergence.TRUNCATE if is_orphan and is_sealed else Divergence.FAIL

    @property
    def lacks_state(self) -> bool:
        """Whether it does not know the newest state of its source topic."""
        return self.source_state is None or self._is_outdated

    @property
    def lacking_at_source(self) -> str:
        """Which partitions are here only, for the operator; empty if there are none."""
        state, here = self.source_state, self.partition_count
        if state is None or state.partition_count >= here:
            return ""
        topic, there = self.record.source_topic, state.partition_count
        return f"{topic} has {there} partitions at the source, {here} here: add partitions at the source"

    @property
    def in_step(self) -> bool:
        """Whether the local topic has the partitions and settings of the source's, in the newest frame."""
        state = self.source_state
        return (
            state is not None
            and not self._proposing
            and state.partition_count == self.partition_count
            and not self._config_changes(state)
        )

    # --- documents ---

    def adopt(self, record: MirrorRecord, version: Offset, now: Instant) -> Effects:
        """The metadata log has a newer record."""
        changed = record.state is not self.record.state
        if not record.is_promoting or not self.record.is_promoting:
            self.replicators.forget_proofs()  # they are of another promotion
        effects: Effects = []
        if changed and record.state is MirrorState.PENDING_SETUP_FOR_RESTORE:
            effects += self.replicators.forget_comparisons()
        self.record, self.version = record, version
        effects += self.clamp.follow(record, version, now)
        effects += self.sealing.follow(record, version, now)
        if changed:
            what = f"mirror {self.topic}"
            effects.append(Changed(what, record.state.value, record.reason or record.error.value))
            effects += self.replicators.progressed()
        # Changes of the source topic that arrived while this one was paused are made now.
        return effects + self.refresh(now) + self.follow(now)

    def change(
        self, record: MirrorRecord, done: Done, partition_epochs: tuple[int, ...] = ()
    ) -> Effects:
        """Write a new record in place of `record`; refused if the document was changed in between, or a partition of
        which the epoch by which this was decided is given."""
        item = DocumentChange(
            kind=MIRROR_KIND,
            name=self.topic,
            body=record.encode(),
            expected_version=self.version,
            partition_epochs=partition_epochs,
        )
        return self._region.put(item, partial(self._on_changed, done))

    def _on_changed(self, done: Done, refusal: Refusal | None, now: Instant) -> Effects:
        effects = self._host.follow_documents((self.topic,), now)
        return effects + done(refusal, now)

    def fail(self, error: MirrorError, because: str, now: Instant) -> Effects:
        """The source cannot be followed: stop until an operator decides."""
        target = TRANSITIONS.get((self.record.state, MirrorTrigger.FAIL))
        if target is None or self.is_halted or self.is_forgotten:
            return []
        record = replace(
            self.record, state=target, since=now, error=error, reason=because, stop=None
        )
        return [*self.stop_replicators(), *self.change(record, self.when_stopped)]

    def when_stopped(self, refusal: Refusal | None, now: Instant) -> Effects:
        """The record that says why replicators were stopped is written; if not, they start again and find out anew."""
        if refusal is not None:
            self._region.timers.set(now + RETRY_MS, self._look_again)
        return []

    def _look_again(self, now: Instant) -> Effects:
        if self.source_state is None:
            return self.refresh(now)
        return self.on_source_state(self.source_state, now)

    def forget(self) -> Effects:
        """Its record was removed, or is another mirror's now: late answers and timers have no effect any more."""
        self.is_forgotten = True
        self.sealing.close()
        return self.stop_replicators()

    # --- the replicators ---

    def refresh(self, now: Instant) -> Effects:
        """Replicators run exactly for what this broker leads, each while the stream to its source's leader is open."""
        return self.replicators.refresh(now)

    def stop_replicators(self) -> Effects:
        return self.replicators.stop()

    # --- following the source topic ---

    def on_source_state(self, state: TopicState, now: Instant) -> Effects:
        if self._is_behind(state):
            if state.metadata_offset > self._heard_at:
                # A broker sends what changes, not that it has caught up.
                self._region.timers.set(now + ASK_AGAIN_MS, self._ask_again)
            return []
        self.source_state, self._is_outdated = state, False
        effects = self.refresh(now)
        if not self._region.is_coordinator or self.record.state not in _FOLLOWING:
            return effects
        error, because = judge(self.record, self.partition_count, state)
        if error is not MirrorError.NO_ERROR:
            return effects + self.fail(error, because, now)
        return effects + self.follow(now)

    def _ask_again(self, now: Instant) -> Effects:
        if not self.is_forgotten:
            self._is_outdated = True
            self._host.ask_again(self.record.source_topic)
        return []

    def _is_behind(self, state: TopicState) -> bool:
        """Whether it is of a broker that is behind another one. Older releases, which have one broker, do not say."""
        is_said = state.metadata_offset > 0
        return is_said and state.metadata_offset < max(self._heard_at, self.record.known_at)

    @property
    def _heard_at(self) -> Offset:
        """Of which offset of the source's metadata log its state is; 0: none, or an older release's."""
        return self.source_state.metadata_offset if self.source_state is not None else 0

    def follow(self, now: Instant) -> Effects:
        """Change the local topic, one proposal at a time, until it has the partitions and settings of the source's."""
        state = self.source_state
        if not self._region.is_coordinator or state is None or self._proposing or not self.streams:
            return []
        count = self.partition_count
        command: Submitted | None = None
        if self.record.source_generation < state.generation:
            return self._note(replace(self.record, source_generation=state.generation))
        if count == 0:
            command = creation(self.topic, self._link, state, self.record.spec, self.version)
        elif count < state.partition_count:
            # First: a broker of the source that has not heard of these partitions is behind.
            if self.record.known_at < state.metadata_offset:
                return self._note(replace(self.record, known_at=state.metadata_offset))
            growth = NewPartitions(name=self.topic, count=state.partition_count)
            command = CreatePartitions((growth,), writer=self._link.name)
        elif changes := self._config_changes(state):
            change = ConfigChange((ResourceType.TOPIC, self.topic), changes)
            command = AlterConfigs((change,), writer=self._link.name)
        if command is not None:
            return self._propose(command)
        self.config_trouble, self._proposed = "", None
        return []

    def _note(self, record: MirrorRecord) -> Effects:
        """Write down what is known of the source: it may be away when that is needed, or speak with another broker."""
        self._proposing, self._proposed = True, None
        return self.change(record, self._on_proposed)

    def _config_changes(self, state: TopicState) -> dict[str, tuple[ConfigOperation, str | None]]:
        here = self._region.view.image.config((ResourceType.TOPIC, self.topic))
        in_step = self._link.config.value("topic.config.sync.include")
        in_force = self._region.view.topic_config(self.topic, CLEANUP_POLICY)
        return config_changes(with_policy(state.configs, in_force), here, in_step)

    def begin_making(self) -> None:
        """The caller creates the mirror's topic, and calls `made` then."""
        self._proposing = True

    def made(self, now: Instant) -> Effects:
        """The topic was created, or could not be: then the mirror tries again itself."""
        self._proposing = False
        return self.follow(now) + self.refresh(now)

    def _propose(self, command: Submitted) -> Effects:
        self._proposing = True
        self._proposed = command
        if isinstance(command, CreateMirrorTopic):
            return self._region.create_mirror_topic(command, self._on_proposed)
        return [self._region.propose(command, self._on_proposed)]

    def _on_proposed(self, result: object, now: Instant) -> Effects:
        self._proposing = False
        because = refusal_of(result)
        if because is None:
            done, self._proposed = self._proposed, None
            effects = self.follow(now) + self.refresh(now)
            assert done is None or self._proposed != done, done  # the image must show the change
            return effects
        if self._was_of_another_version(self._proposed):
            return self.follow(now)
        changed = because != self.config_trouble
        self.config_trouble = because
        self._retry_later(now)
        return [Changed(f"mirror {self.topic}", "not in step", because)] if changed else []

    def _was_of_another_version(self, proposed: object) -> bool:
        """Whether a topic could not be made as its record has changed since, which this coordinator knows by now."""
        return isinstance(proposed, CreateMirrorTopic) and proposed.record_version != self.version

    def _retry_later(self, now: Instant) -> None:
        if self._retry is None:
            pause = self._link.config.number("topic.config.sync.ms")
            self._retry = self._region.timers.set(now + pause, self._on_retry)

    def _on_retry(self, now: Instant) -> Effects:
        self._retry = None
        return self.follow(now)
