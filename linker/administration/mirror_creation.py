"""Creates mirror topics.

A mirror's record is written before its topic is created: after a crash between the two, the next start creates it. The
controller creates no topic whose record was removed or is another by then, and removes no record whose topic was
created.
"""

from functools import partial
from typing import Final, cast
from uuid import UUID

from brokers.errors import KafkaError, Refusal
from brokers.ids import INTERNAL_TOPICS, Instant, Offset
from brokers.metadata.commands.document_commands import DocumentChange, PutDocuments
from brokers.metadata.commands.topic_commands import CreateTopics, NewTopic, TopicOutcome
from linker.administration import status
from linker.administration.registry import Registry, Respond, find_link, undecided
from linker.answers import MirrorDescription
from linker.commands import CreateMirror
from linker.control.cluster_link import ClusterLink
from linker.control.topic_settings import creation, refusal_of
from linker.errors import LinkRefusal
from linker.frames import TopicState
from linker.joint_proposals import UNKNOWN_OUTCOMES
from linker.records.mirror_record import (
    MIRROR_KIND,
    MirrorRecord,
    TopicSpec,
    decode_mirror,
)
from linker.records.mirror_removal import removal
from linker.records.mirror_state import LIVE, MirrorState
from linker.region_client import Effects, RegionClient

_NOT_MADE: Final = "mend what the message says, and create the mirror again"


class MirrorCreation:
    """One per region. A command is answered through `respond`, once, or raises LinkRefusal."""

    def __init__(self, region: RegionClient, registry: Registry) -> None:
        self._region = region
        self._registry = registry

    def create(self, command: CreateMirror, respond: Respond, now: Instant) -> Effects:
        link = find_link(self._registry, command.link)
        topics_max = self._region.limits.topics
        if len(link.mirrors) >= topics_max:
            raise LinkRefusal(
                "POLICY_VIOLATION",
                f"link {link.name} has {topics_max} mirror topics, which is the most (link.max.topics)",
                hint="create another link to the same source",
            )
        source_topic = command.source_topic or command.mirror_topic.removeprefix(link.config.prefix)
        if command.mirror_topic != link.config.prefix + source_topic:
            raise LinkRefusal(
                "INVALID_REQUEST",
                f"the mirror of {source_topic} on link {link.name} must be called "
                f"{link.config.prefix + source_topic}",
                hint="mirrors keep the source's name, behind the link's cluster.link.prefix",
            )
        if source_topic in INTERNAL_TOPICS:
            raise LinkRefusal(
                "POLICY_VIOLATION",
                f"{source_topic} is internal: each region has its own",
                hint="group offsets are carried with consumer.offset.sync.enable of the link",
            )
        self._check_free(command.mirror_topic)
        in_step = link.config.value("topic.config.sync.include")
        if clash := sorted(set(command.configs) & set(in_step)):
            raise LinkRefusal(
                "INVALID_CONFIG",
                f"kept in step with the source: {', '.join(clash)}",
                hint="set them at the source, or leave them out of topic.config.sync.include",
            )
        if not 0 <= command.replication_factor < 1 << 15:
            raise LinkRefusal(
                "INVALID_REPLICATION_FACTOR",
                f"a replication factor of {command.replication_factor}",
                hint="1 or more, up to the number of brokers; leave it out for the default",
            )
        inquirer = partial(self._on_source_topic, command, source_topic, respond)
        return link.inquire(source_topic, inquirer, now)

    def create_of(
        self, link_name: str, state: TopicState, respond: Respond, now: Instant
    ) -> Effects:
        """The same for a topic whose state is known."""
        try:
            link = find_link(self._registry, link_name)
            topic = link.config.prefix + state.topic
            self._check_free(topic)
        except LinkRefusal as refusal:
            return respond(refusal, now)
        command = CreateMirror(link=link_name, mirror_topic=topic, source_topic=state.topic)
        return self._on_source_topic(command, state.topic, respond, state, now)

    def _check_free(self, topic: str) -> None:
        if topic in self._region.view.image.topics_by_name:
            raise LinkRefusal(
                "TOPIC_ALREADY_EXISTS",
                f"topic {topic} exists in this region",
                hint="a mirror needs a free name: delete the topic, or use a link with a prefix",
            )
        found = self._region.view.image.documents.get((MIRROR_KIND, topic))
        if found is not None and decode_mirror(topic, found.body).state in LIVE:
            raise LinkRefusal(
                "TOPIC_ALREADY_EXISTS",
                f"{topic} is a mirror topic already, whose topic is being made",
                hint="`causeway mirror describe` shows how far it is",
            )

    def _on_source_topic(
        self,
        command: CreateMirror,
        source_topic: str,
        respond: Respond,
        state: TopicState | None,
        now: Instant,
    ) -> Effects:
        try:
            record = self._new_mirror(command, source_topic, state, now)
        except LinkRefusal as refusal:
            return respond(refusal, now)
        assert state is not None
        if command.validate_only:
            return self._check(record, state, respond)
        find_link(self._registry, record.link).begin_creating(record.topic)
        known = self._region.view.image.documents.get((MIRROR_KIND, record.topic))
        item = DocumentChange(
            kind=MIRROR_KIND,
            name=record.topic,
            body=record.encode(),
            expected_version=known.version if known is not None else 0,
        )
        recorded = partial(self._on_recorded, record, state, respond)
        return self._region.put(item, recorded)

    def _check(self, record: MirrorRecord, state: TopicState, respond: Respond) -> Effects:
        """The controller says whether the topic could be made: its settings, its replicas and their placement."""
        link = find_link(self._registry, record.link)
        wanted = creation(record.topic, link, state, record.spec, record_version=0)
        topic = NewTopic(
            name=wanted.name,
            partition_count=wanted.partition_count,
            replication_factor=wanted.replication_factor,
            configs=wanted.configs,
        )

        def checked(result: object, now: Instant) -> Effects:
            if isinstance(result, Refusal):
                return respond(undecided(result, f"mirror {record.topic} was not checked"), now)
            (outcome,) = cast(tuple[TopicOutcome, ...], result)
            if outcome.error is not KafkaError.NONE:
                because = f"topic {record.topic} would not be made: {outcome.because}"
                return respond(LinkRefusal(outcome.error.name, because, hint=_NOT_MADE), now)
            shown = MirrorDescription(
                record=record, shown=record.state, reason="", lags=(), holes=()
            )
            return respond(shown, now)

        return [self._region.propose(CreateTopics((topic,), validate_only=True), checked)]

    def _new_mirror(
        self, command: CreateMirror, source_topic: str, state: TopicState | None, now: Instant
    ) -> MirrorRecord:
        link = find_link(self._registry, command.link)
        if state is None:
            because = link.because or link.state.value
            raise LinkRefusal(
                "CLUSTER_LINK_UNAVAILABLE",
                f"link {link.name} does not reach its source: {because}",
                hint=f"`causeway link describe {link.name}` shows why",
            )
        if not state.topic_id:
            raise LinkRefusal(
                "UNKNOWN_TOPIC_OR_PARTITION",
                f"the source region has no topic {source_topic}",
                hint="create it there first, or check the name",
            )
        if link.is_being_deleted:
            raise LinkRefusal(
                "CLUSTER_LINK_NOT_FOUND",
                f"link {link.name} is being deleted",
                hint="`causeway link list` names those that stay",
            )
        self._check_free(command.mirror_topic)
        self._check_loop(source_topic, state)
        return MirrorRecord(
            topic=command.mirror_topic,
            link=link.name,
            source_topic=source_topic,
            source_topic_id=UUID(bytes=state.topic_id),
            created_at=now,
            state=MirrorState.ACTIVE,
            since=now,
            known_at=state.metadata_offset,
            source_generation=state.generation,
            spec=TopicSpec(tuple(command.configs.items()), command.replication_factor or -1),
            origins=(link.source_cluster_id, *state.origins),
        )

    def _check_loop(self, source_topic: str, state: TopicState) -> None:
        own = self._region.view.cluster_id
        if own in state.origins:
            through = ", ".join(state.origins[: state.origins.index(own)])
            by_way = f" by way of {through}" if through else ""
            raise LinkRefusal(
                "INVALID_REQUEST",
                f"{source_topic} mirrors a topic of this region{by_way}: its records would come back",
                hint="mirror a topic that begins in another region, or fail one of the mirrors over first",
            )

    def _on_recorded(
        self,
        record: MirrorRecord,
        state: TopicState,
        respond: Respond,
        result: object,
        now: Instant,
    ) -> Effects:
        link = self._registry.links[record.link]
        if isinstance(result, Refusal):
            effects = self._end_creating(link, record.topic, now)
            refusal = undecided(result, f"mirror {record.topic} was not created")
            return effects + respond(refusal, now)
        effects = link.follow_documents((record.topic,), now)
        return effects + self._make_topic(link, record, state, respond, now)

    def _make_topic(
        self,
        link: ClusterLink,
        record: MirrorRecord,
        state: TopicState,
        respond: Respond,
        now: Instant,
    ) -> Effects:
        mirror = link.mirrors.get(record.topic)
        version = mirror.version if mirror is not None else 0
        made = partial(self._on_topic_made, record, version, state, respond)
        if mirror is None:
            because = f"mirror {record.topic} was removed meanwhile"
            return made(Refusal(KafkaError.INVALID_UPDATE_VERSION, because), now)
        command = creation(record.topic, link, state, record.spec, version)
        return self._region.create_mirror_topic(command, made)

    def _on_topic_made(
        self,
        record: MirrorRecord,
        version: Offset,
        state: TopicState,
        respond: Respond,
        result: object,
        now: Instant,
    ) -> Effects:
        link = self._registry.links.get(record.link)
        because = refusal_of(result)
        is_there = because is None or self._is_there(record)
        if is_there and link is not None and record.topic in link.mirrors:
            return self._on_there(link, record.topic, respond, now)
        if isinstance(result, Refusal) and result.error in UNKNOWN_OUTCOMES:
            return self._on_undecided(record, result, respond, now)
        is_late = isinstance(result, Refusal) and result.error is KafkaError.INVALID_UPDATE_VERSION
        if is_late and link is not None and _has_changed(link, record, version):
            return self._make_topic(link, record, state, respond, now)
        code = result.error.name if isinstance(result, Refusal) else "UNKNOWN_SERVER_ERROR"
        refusal = LinkRefusal(code, f"topic {record.topic} was not made: {because}", hint=_NOT_MADE)
        withdrawn = partial(self._on_withdrawn, record, refusal, respond)
        mirror = link.mirrors.get(record.topic) if link is not None else None
        if mirror is None or mirror.record != record:  # another coordinator has gone on with it
            return withdrawn(None, now)
        item = removal(record, mirror.version)
        return [self._region.propose(PutDocuments((item,)), withdrawn)]

    def _is_there(self, record: MirrorRecord) -> bool:
        """Also if another broker that became coordinator has created it."""
        there = self._region.view.image.topics_by_name.get(record.topic)
        return there is not None and there.writer == record.link

    def _on_there(self, link: ClusterLink, topic: str, respond: Respond, now: Instant) -> Effects:
        mirror = link.mirrors[topic]
        link.end_creating(topic)
        effects = mirror.made(now)
        return effects + respond(status.describe_mirror(self._region, link, mirror, now), now)

    def _on_undecided(
        self, record: MirrorRecord, refusal: Refusal, respond: Respond, now: Instant
    ) -> Effects:
        """The topic may be there. Its record stays, and the mirror creates the topic if it is not."""
        effects = self._end_creating(self._registry.links.get(record.link), record.topic, now)
        because = f"topic {record.topic} is being made, and nobody knows yet: {refusal.because}"
        hint = "`causeway mirror describe` shows whether it is there"
        return effects + respond(LinkRefusal(refusal.error.name, because, hint=hint), now)

    def _on_withdrawn(
        self,
        record: MirrorRecord,
        refusal: LinkRefusal,
        respond: Respond,
        _: object,
        now: Instant,
    ) -> Effects:
        """If the record could not be removed either, it stays, and the mirror creates its topic later. If nobody knows
        whether it was, the mirror tries, and the controller knows."""
        link = self._registry.links.get(record.link)
        effects = link.follow_documents((record.topic,), now) if link is not None else []
        if link is not None and record.topic in link.mirrors and self._is_there(record):
            return effects + self._on_there(link, record.topic, respond, now)
        return effects + self._end_creating(link, record.topic, now) + respond(refusal, now)

    def _end_creating(self, link: ClusterLink | None, topic: str, now: Instant) -> Effects:
        """What becomes of the topic is up to its mirror, if there is one."""
        if link is None:
            return []
        link.end_creating(topic)
        return link.mirrors[topic].made(now) if topic in link.mirrors else []


def _has_changed(link: ClusterLink, record: MirrorRecord, version: Offset) -> bool:
    """Whether the same mirror has another record now: an operator may have paused it while its topic was made."""
    mirror = link.mirrors.get(record.topic)
    if mirror is None or mirror.record.created_at != record.created_at:
        return False
    return mirror.version != version
