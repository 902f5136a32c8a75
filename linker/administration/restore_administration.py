"""truncate-and-restore: makes an ordinary topic of this region the mirror of the region that it was failed over to.

Topics are named, or are all of a link: those that its source took over from this region, and its mirrors that FAILED
because the source lost records. The source alone knows the first ones, so it is asked of every topic that may be one.
"""

from dataclasses import replace
from functools import partial
from typing import Final
from uuid import UUID

from brokers.errors import Refusal
from brokers.ids import INTERNAL_TOPICS, Instant
from brokers.metadata.commands.document_commands import DocumentChange
from brokers.metadata.commands.mirror_commands import superseder_of
from brokers.metadata.image.image import TopicImage
from brokers.region import FindReaders, ReadersFound, RegionView
from linker.administration.each_topic import EachTopic, Ended
from linker.administration.registry import Registry, Respond, find_link, undecided
from linker.answers import TopicResult, Topics
from linker.commands import RestoreMirrors
from linker.control.cluster_link import ClusterLink
from linker.control.mirror_cut import first_epoch_after
from linker.errors import DIVERGED, LinkRefusal
from linker.frames import TopicState
from linker.protocol_versions import SUPERSEDES_FROM
from linker.records.mirror_record import MIRROR_KIND, MirrorRecord, decode_mirror, restore_asked
from linker.records.mirror_state import RESTORING, TRANSITIONS, MirrorState, MirrorTrigger
from linker.region_client import Effects, RegionClient

VERB: Final = "truncate-and-restore"
TARGET: Final = TRANSITIONS[MirrorState.STOPPED, MirrorTrigger.RESTORE]
# A topic with such a record has its records from this region's producers, or had them until its reversal.
NOT_OF_LINK: Final = (MirrorState.STOPPED, MirrorState.PENDING_MIRROR)


class RestoreAdministration:
    """Each topic is checked against what the source says of it, and answered when its record is written."""

    def __init__(self, region: RegionClient, registry: Registry) -> None:
        self._region = region
        self._registry = registry

    def restore(self, command: RestoreMirrors, respond: Respond, now: Instant) -> Effects:
        link = find_link(self._registry, command.link)
        if not command.topics:
            return self._select(link, command, respond, now)
        topics = tuple(dict.fromkeys(command.topics))

        def found(readers: ReadersFound, at: Instant) -> Effects:
            return self._restore_each(command, link, readers, respond, at)

        return [self._region.ask(partial(FindReaders, topics=topics), found)]

    def _restore_each(
        self,
        command: RestoreMirrors,
        link: ClusterLink,
        readers: ReadersFound,
        respond: Respond,
        now: Instant,
    ) -> Effects:
        results: dict[str, TopicResult] = {}
        topics = list(readers.groups)

        def begin(topic: str, ended: Ended, at: Instant) -> Effects:
            answered = partial(one, topic, ended)
            found = partial(self._on_source_topic, command, topic, readers, answered)
            return link.inquire(topic.removeprefix(link.config.prefix), found, at)

        def one(
            topic: str, ended: Ended, state: str, refusal: LinkRefusal | None, at: Instant
        ) -> Effects:
            results[topic] = TopicResult(topic, state, refusal)
            return ended(at)

        def done(at: Instant) -> Effects:
            return respond(Topics(tuple(results[each] for each in topics)), at)

        return EachTopic(topics, begin, done).go_on(now)

    def _select(
        self, link: ClusterLink, command: RestoreMirrors, respond: Respond, now: Instant
    ) -> Effects:
        """All of the link, as if they had been named."""
        selected: list[str] = []
        unanswered: list[str] = []

        def begin(topic: str, ended: Ended, at: Instant) -> Effects:
            def found(state: TopicState | None, when: Instant) -> Effects:
                if state is None:
                    unanswered.append(topic)
                elif self._is_of_source(link, topic, state):
                    selected.append(topic)
                return ended(when)

            return link.inquire(topic.removeprefix(link.config.prefix), found, at)

        def done(at: Instant) -> Effects:
            if unanswered:
                return respond(_not_reached(link), at)
            if not selected:
                return respond(_none_of(link), at)
            named = replace(command, topics=tuple(sorted(selected)))
            try:
                return self.restore(named, respond, at)
            except LinkRefusal as refusal:  # the link was deleted meanwhile
                return respond(refusal, at)

        candidates = sorted(
            topic for topic in self._region.view.image.topics_by_name if self._may_be(link, topic)
        )
        return EachTopic(candidates, begin, done).go_on(now)

    def _may_be(self, link: ClusterLink, topic: str) -> bool:
        """Whether the source has to be asked of the topic: as far as this region knows, it may be one of the link."""
        record, placed = self._known(topic), self._region.view.image.topics_by_name[topic]
        if record is not None and record.state not in NOT_OF_LINK:
            return _is_failed(record, link)
        is_pending = record is not None and record.state is MirrorState.PENDING_MIRROR
        is_written = placed.writer is not None and superseder_of(placed.writer) is None
        if topic in INTERNAL_TOPICS or link.config.prefix:
            return False
        return not is_written or (is_pending and placed.writer == link.name)

    def _is_of_source(self, link: ClusterLink, topic: str, state: TopicState) -> bool:
        """Whether the topic has its history in common with the source's: it is restored if nothing hinders that."""
        record, view = self._known(topic), self._region.view
        placed = view.image.topics_by_name.get(topic)
        if placed is None or not self._may_be(link, topic):
            return False  # it was changed meanwhile
        if record is not None and record.state not in NOT_OF_LINK:
            return _is_diverged(record, link, state)
        return _was_mirror_of(view, placed, state) and not _is_later(record, link, state)

    def _known(self, topic: str) -> MirrorRecord | None:
        known = self._region.view.image.documents.get((MIRROR_KIND, topic))
        return decode_mirror(topic, known.body) if known is not None else None

    def _on_source_topic(
        self,
        command: RestoreMirrors,
        topic: str,
        readers: ReadersFound,
        answered: partial[Effects],
        state: TopicState | None,
        now: Instant,
    ) -> Effects:
        try:
            link = find_link(self._registry, command.link)
            record = self._record(link, topic, state, readers, command, now)
        except LinkRefusal as refusal:
            return answered("", refusal, now)
        if command.validate_only:
            return answered(record.state.value, None, now)
        known = self._region.view.image.documents.get((MIRROR_KIND, topic))

        def written(refusal: Refusal | None, at: Instant) -> Effects:
            effects = link.follow_documents((topic,), at)
            failed = undecided(refusal, f"{topic} is not restored") if refusal else None
            return effects + answered("" if failed else record.state.value, failed, at)

        change = DocumentChange(
            kind=MIRROR_KIND,
            name=topic,
            body=record.encode(),
            expected_version=known.version if known is not None else 0,
        )
        return self._region.put(change, written)

    def _record(
        self,
        link: ClusterLink,
        topic: str,
        state: TopicState | None,
        readers: ReadersFound,
        command: RestoreMirrors,
        now: Instant,
    ) -> MirrorRecord:
        """The mirror's new record. Raises LinkRefusal."""
        if state is None:
            raise _not_reached(link)
        if link.is_being_deleted:
            raise LinkRefusal("CLUSTER_LINK_NOT_FOUND", f"link {link.name} is being deleted")
        placed = self._region.view.image.topics_by_name.get(topic)
        if placed is None or topic in INTERNAL_TOPICS:
            raise LinkRefusal(
                "UNKNOWN_TOPIC_OR_PARTITION",
                f"this region has no topic {topic} that can be restored",
                hint="`causeway mirror create` makes a mirror of a topic that is not here",
            )
        former = self._known(topic)
        if former is not None and former.state not in NOT_OF_LINK:
            return _of_failed(former, link, state, command, now)
        if link.config.prefix:
            raise LinkRefusal(
                "INVALID_REQUEST",
                f"link {link.name} has a prefix",
                hint="a topic is restored under its own name: use a link without cluster.link.prefix",
            )
        is_pending = former is not None and former.state is MirrorState.PENDING_MIRROR
        _check_release(link, state)
        _check_source(self._region.view, placed, state, written_by=link.name if is_pending else "")
        assert state.former is not None
        _check_decisions(former, link, state)
        _check_members(topic, readers)
        known = former.generation if former is not None else 0
        return MirrorRecord(
            topic=topic,
            link=link.name,
            source_topic=state.topic,
            source_topic_id=UUID(bytes=state.topic_id),
            created_at=now,
            state=TARGET,
            since=now,
            generation=max(known, state.former.generation) + 1,
            reason=VERB,
            known_at=state.metadata_offset,
            source_generation=state.generation,
            origins=(link.source_cluster_id, *state.origins),
            asked=restore_asked(former, now, command.asked_by, command.why),
        )


def _not_reached(link: ClusterLink) -> LinkRefusal:
    return LinkRefusal(
        "CLUSTER_LINK_UNAVAILABLE",
        f"link {link.name} does not reach its source: {link.because or link.state.value}",
        hint=f"`causeway link describe {link.name}` shows why",
    )


def _none_of(link: ClusterLink) -> LinkRefusal:
    if link.source_version < SUPERSEDES_FROM:
        return LinkRefusal(
            "UNSUPPORTED_VERSION",
            f"the source of link {link.name} runs a release that does not say which of its topics were mirrors",
            hint="upgrade the source region, or name the topics",
        )
    return LinkRefusal(
        "INVALID_REQUEST",
        f"{VERB} of no topic: the source of link {link.name} has taken over none of this region",
        hint="fail the mirrors over in that region first; `causeway mirror decisions` there lists what was",
    )


def _is_failed(record: MirrorRecord, link: ClusterLink) -> bool:
    """Whether it is a mirror of the link that FAILED because its source lost records."""
    is_failed = record.state is MirrorState.FAILED and record.error in DIVERGED
    return is_failed and record.link == link.name


def _is_diverged(record: MirrorRecord, link: ClusterLink, state: TopicState) -> bool:
    """The same, and its source is there still."""
    return _is_failed(record, link) and record.source_topic_id.bytes == state.topic_id


def _was_mirror_of(view: RegionView, placed: TopicImage, state: TopicState) -> bool:
    """Whether the source's topic was a mirror of this very topic, and is none any more."""
    former = state.former
    is_ours = former is not None and former.cluster_id == view.cluster_id
    return is_ours and former is not None and former.topic_id == placed.id.bytes


def _is_later(record: MirrorRecord | None, link: ClusterLink, state: TopicState) -> bool:
    """Whether this region has taken the topic over after the source had, and the source is read-only for that."""
    is_own = record is not None and record.state is MirrorState.STOPPED
    if record is None or not is_own or state.former is None or not link.config.fences_source:
        return False
    return record.generation > state.former.generation


def _check_decisions(record: MirrorRecord | None, link: ClusterLink, state: TopicState) -> None:
    """The one region that may write the topic does not become a mirror of one that may not. Raises LinkRefusal."""
    if record is not None and _is_later(record, link, state):
        raise LinkRefusal(
            "INVALID_REQUEST",
            f"{record.topic} was taken over here, in generation {record.generation}, after the source of link "
            f"{link.name} had taken it over: it is read-only there",
            hint=f"ask for {VERB} in that region; to give up what was written here since, "
            "`causeway mirror unfence` it there first",
        )


def _of_failed(
    record: MirrorRecord,
    link: ClusterLink,
    state: TopicState,
    command: RestoreMirrors,
    now: Instant,
) -> MirrorRecord:
    """A mirror whose source has lost records that it holds goes on from what they have in common."""
    if record.state in RESTORING and record.link == link.name:
        raise LinkRefusal(
            "UNSUPPORTED_MIRROR_STATE",
            f"{record.topic} is restored already: it is {record.state.value}",
            hint="`causeway mirror transitions` shows what it waits for",
        )
    if not _is_diverged(record, link, state):
        raise LinkRefusal(
            "UNSUPPORTED_MIRROR_STATE",
            f"{record.topic} is a mirror of link {record.link}, {record.state.value}",
            hint="restore a topic that was promoted or failed over at the source, "
            "or a mirror that FAILED because its source lost records",
        )
    return record.restored(TARGET, VERB, now, command.asked_by, command.why)


def _check_release(link: ClusterLink, state: TopicState) -> None:
    """The first releases do not say what their topics were mirrors of. Raises LinkRefusal."""
    is_mute = state.former is None and state.topic_id and not state.origins
    if is_mute and link.source_version < SUPERSEDES_FROM:
        raise LinkRefusal(
            "UNSUPPORTED_VERSION",
            f"the source of link {link.name} runs a release that does not say whether {state.topic} was a mirror",
            hint="upgrade the source region, or delete the topic here and mirror it anew",
        )


def _check_source(
    view: RegionView, placed: TopicImage, state: TopicState, *, written_by: str
) -> None:
    """Only what was a mirror of this very topic, and is none any more, has its history. Raises LinkRefusal.

    `written_by`: the link of a reversal that ended as a failover; empty where there is none.
    """
    if not _was_mirror_of(view, placed, state):
        what = "is not there" if not state.topic_id else "was no mirror of this one"
        if state.origins:
            what = "is a mirror still"
        raise LinkRefusal(
            "REMOTE_MIRROR_NOT_FOUND_ERROR",
            f"{state.topic} at the source {what}: {placed.name} is restored from a mirror of it that is STOPPED",
            hint="fail the mirror over in its region first, or delete the topic here and mirror it anew",
        )
    is_link = placed.writer is not None and superseder_of(placed.writer) is None
    if is_link and placed.writer != written_by:
        raise LinkRefusal("INVALID_REQUEST", f"{placed.name} is written by link {placed.writer}")
    if state.partition_count < len(placed.partitions):
        raise LinkRefusal(
            "INVALID_PARTITIONS",
            f"{state.topic} has {state.partition_count} partitions at the source, {len(placed.partitions)} here",
            hint="add partitions at the source first",
        )
    if min(state.leader_epochs, default=0) < first_epoch_after(0):
        raise LinkRefusal(
            "UNSUPPORTED_VERSION",
            f"{state.topic} was failed over by a release whose leader epochs do not tell the regions apart",
            hint="delete the topic here and mirror it anew",
        )


def _check_members(topic: str, readers: ReadersFound) -> None:
    """Members have read, and would commit, what is removed. Raises LinkRefusal."""
    if groups := readers.groups[topic]:
        raise LinkRefusal(
            "CONSUMER_GROUP_IN_USE_ERROR",
            f"groups that read {topic} have members: {', '.join(groups)}",
            hint="stop them here; their place is the region that the topic was failed over to",
        )
    if readers.unknown:
        raise LinkRefusal(
            "COORDINATOR_NOT_AVAILABLE",
            f"whether groups that read {topic} have members is not known: {'; '.join(readers.unknown)}",
            hint="ask again",
        )
