"""What operators ask, checked and carried out. Refusals are answers; nothing is left half-made.

Creating a link asks the source who it is first; creating a mirror asks it what the topic looks like. A mirror's record
is written before its topic, so a crash between the two leaves a wish that the next start fulfils.
"""

import re
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final, Protocol, TypeAlias
from uuid import UUID

from brokers.errors import KafkaError, Refusal
from brokers.ids import Instant
from brokers.metadata.commands import DocumentChange, PutDocuments
from linker import config, status
from linker.admin import (
    AlterLinkConfigs,
    Answer,
    ChangeMirrors,
    Command,
    Configs,
    CreateLink,
    CreateMirror,
    DeleteLink,
    DescribeLink,
    DescribeLinkConfigs,
    DescribeMirror,
    LinkDescription,
    Links,
    ListLinks,
    ListMirrors,
    MirrorDescription,
    Mirrors,
    TopicResult,
    Topics,
)
from linker.config import LinkConfig, LinkConfigError
from linker.desk import Desk, Effects
from linker.destination import DestinationLink
from linker.errors import LinkError, LinkRefusal
from linker.frames import TopicState
from linker.link import LINK_KIND, LinkRecord
from linker.mirror import (
    LIVE,
    MIRROR_KIND,
    TRANSITIONS,
    MirrorRecord,
    MirrorState,
    MirrorTrigger,
    decode_mirror,
)
from linker.stopping import PROMOTE_TIMEOUT_MS, changed_meanwhile, refused
from linker.topics import MirrorTopic, creation, refusal_of

Respond: TypeAlias = Callable[[Answer | LinkRefusal, Instant], Effects]
Found: TypeAlias = Callable[[str | LinkRefusal, Instant], Effects]

_NAME = re.compile(r"[A-Za-z0-9._-]{1,249}")
_TRIGGERS: Final = {
    "pause": MirrorTrigger.PAUSE,
    "resume": MirrorTrigger.RESUME,
    "promote": MirrorTrigger.PROMOTE,
    "failover": MirrorTrigger.FAILOVER,
}


class Owner(Protocol):
    """What this needs of the linker that it belongs to."""

    links: dict[str, DestinationLink]

    def probe(self, record: LinkRecord, config: LinkConfig, found: Found, now: Instant) -> Effects:
        """`found` gets the source's cluster id, or why it could not be had."""

    def follow_links(self, now: Instant) -> Effects:
        """Take over what the metadata log says of links."""


class Administration:
    """One per region."""

    def __init__(self, desk: Desk, owner: Owner) -> None:
        self._desk = desk
        self._owner = owner

    def ask(self, command: Command, respond: Respond, now: Instant) -> Effects:
        """`respond` is called once."""
        try:
            return self._ask(command, respond, now)
        except LinkRefusal as refusal:
            return respond(refusal, now)

    def _ask(self, command: Command, respond: Respond, now: Instant) -> Effects:
        match command:
            case CreateLink():
                return self._create_link(command, respond, now)
            case ListLinks():
                links = [status.describe_link(one) for one in self._sorted_links()]
                return respond(Links(tuple(links)), now)
            case DescribeLink(name):
                return respond(status.describe_link(self._link(name)), now)
            case DeleteLink():
                return self._delete_link(command, respond, now)
            case AlterLinkConfigs():
                return self._alter_configs(command, respond, now)
            case DescribeLinkConfigs(name):
                return respond(Configs(tuple(self._link(name).config.effective())), now)
            case CreateMirror():
                return self._create_mirror(command, respond, now)
            case ListMirrors():
                return respond(self._list_mirrors(command, now), now)
            case DescribeMirror(topic):
                return respond(self._describe(topic, now), now)
            case ChangeMirrors():
                return self._change_mirrors(command, respond, now)

    # --- finding things ---

    def _sorted_links(self) -> list[DestinationLink]:
        return [self._owner.links[name] for name in sorted(self._owner.links)]

    def _link(self, name: str) -> DestinationLink:
        link = self._owner.links.get(name)
        if link is None:
            raise LinkRefusal(
                "CLUSTER_LINK_NOT_FOUND",
                f"there is no link {name!r} in this region",
                hint="`causeway link list` names those there are; a link lives in its destination region",
            )
        return link

    def _mirror(self, link: DestinationLink, topic: str) -> MirrorTopic:
        mirror = link.mirrors.get(topic)
        if mirror is None:
            raise LinkRefusal(
                "UNKNOWN_TOPIC_OR_PARTITION",
                f"link {link.name} has no mirror topic {topic!r}",
                hint=f"`causeway mirror list --link {link.name}` names those there are",
            )
        return mirror

    def _describe(self, topic: str, now: Instant) -> MirrorDescription:
        for link in self._sorted_links():
            if topic in link.mirrors:
                return status.describe_mirror(self._desk, link, link.mirrors[topic], now)
        found = self._desk.view.image.documents.get((MIRROR_KIND, topic))
        if found is None:
            raise LinkRefusal(
                "UNKNOWN_TOPIC_OR_PARTITION",
                f"{topic!r} is not a mirror topic of this region",
                hint="`causeway mirror list` names those there are",
            )
        return self._left_behind(decode_mirror(topic, found.body))

    def _left_behind(self, record: MirrorRecord) -> MirrorDescription:
        """A stopped mirror whose link was deleted: its record stays, with the cut."""
        return MirrorDescription(
            record=record, shown=record.state, reason=record.reason, lags=(), holes=()
        )

    def _list_mirrors(self, command: ListMirrors, now: Instant) -> Mirrors:
        if command.state and command.state.upper() not in MirrorState.__members__:
            raise LinkRefusal(
                "INVALID_REQUEST",
                f"{command.state!r} is not a mirror topic state",
                hint=f"one of {', '.join(state.value for state in MirrorState)}",
            )
        links = [self._link(command.link)] if command.link else self._sorted_links()
        found = [
            status.describe_mirror(self._desk, link, link.mirrors[topic], now)
            for link in links
            for topic in sorted(link.mirrors)
        ]
        if not command.link:
            found += self._orphans()
        if command.state:
            found = [one for one in found if one.shown.value == command.state.upper()]
        return Mirrors(tuple(found))

    def _orphans(self) -> list[MirrorDescription]:
        records = [
            decode_mirror(name, found.body)
            for (kind, name), found in self._desk.view.image.documents.items()
            if kind == MIRROR_KIND
        ]
        return [self._left_behind(one) for one in records if one.link not in self._owner.links]

    # --- links ---

    def _create_link(self, command: CreateLink, respond: Respond, now: Instant) -> Effects:
        if not _NAME.fullmatch(command.name):
            raise LinkRefusal(
                "INVALID_CLUSTER_LINK",
                f"{command.name!r} cannot name a link",
                hint="1 to 249 of A-Z a-z 0-9 . _ -",
            )
        if command.name in self._owner.links:
            raise LinkRefusal(
                "CLUSTER_LINK_EXISTS",
                f"link {command.name} exists",
                hint="choose another name, or change it with `causeway link configs`",
            )
        parsed = _parse(command.configs)
        record = LinkRecord(
            command.name, self._new_id(), command.source_cluster_id, command.configs, now
        )
        found = partial(self._on_probed, command, record, respond)
        if command.skip_validation:
            return found(command.source_cluster_id, now)
        return self._owner.probe(record, parsed, found, now)

    def _new_id(self) -> str:
        """22 characters, as Kafka writes its ids."""
        identity = UUID(bytes=self._desk.rng.randbytes(16), version=4)
        return urlsafe_b64encode(identity.bytes).decode().rstrip("=")

    def _on_probed(
        self,
        command: CreateLink,
        record: LinkRecord,
        respond: Respond,
        source_cluster_id: str | LinkRefusal,
        now: Instant,
    ) -> Effects:
        if isinstance(source_cluster_id, LinkRefusal):
            return respond(source_cluster_id, now)
        record = replace(record, source_cluster_id=source_cluster_id)
        if command.validate_only:
            return respond(_not_created(record), now)
        item = DocumentChange(
            kind=LINK_KIND, name=record.name, body=record.encode(), expected_version=0
        )
        created = partial(self._on_link_created, record.name, respond)
        return [self._desk.propose(PutDocuments((item,)), created)]

    def _on_link_created(
        self, name: str, respond: Respond, result: object, now: Instant
    ) -> Effects:
        if isinstance(result, Refusal):
            return respond(_undecided(result, f"link {name} was not created"), now)
        effects = self._owner.follow_links(now)
        link = self._owner.links[name]
        return effects + link.when_tried(lambda at: respond(status.describe_link(link), at), now)

    def _delete_link(self, command: DeleteLink, respond: Respond, now: Instant) -> Effects:
        link = self._link(command.name)
        live = [mirror for mirror in link.mirrors.values() if mirror.record.state in LIVE]
        pending = [one.topic for one in live if one.record.state is MirrorState.PENDING_STOPPED]
        if pending:
            raise LinkRefusal(
                "INVALID_REQUEST",
                f"link {link.name} is stopping {', '.join(pending)}",
                hint="wait until they are STOPPED, or fail them over",
            )
        if live and not command.force:
            raise LinkRefusal(
                "CLUSTER_LINK_IN_USE",
                f"link {link.name} has live mirror topics: {', '.join(one.topic for one in live)}",
                hint="promote or fail them over first, or delete with --force, which fails them over",
            )
        if command.validate_only:
            return respond(Topics(tuple(_result(mirror) for mirror in live)), now)
        return self._each(
            [(mirror, partial(link.stoppings[mirror.topic].failover)) for mirror in live],
            partial(self._on_emptied, link, respond),
            now,
        )

    def _on_emptied(
        self, link: DestinationLink, respond: Respond, topics: Topics, now: Instant
    ) -> Effects:
        if any(one.refusal is not None for one in topics.topics):
            return respond(topics, now)
        item = DocumentChange(
            kind=LINK_KIND, name=link.name, body=None, expected_version=link.version
        )
        return [
            self._desk.propose(
                PutDocuments((item,)), partial(self._on_deleted, link.name, respond, topics)
            )
        ]

    def _on_deleted(
        self, name: str, respond: Respond, topics: Topics, result: object, now: Instant
    ) -> Effects:
        if isinstance(result, Refusal):
            return respond(_undecided(result, f"link {name} was not deleted"), now)
        return self._owner.follow_links(now) + respond(topics, now)

    def _alter_configs(self, command: AlterLinkConfigs, respond: Respond, now: Instant) -> Effects:
        link = self._link(command.name)
        try:
            fresh = config.altered(link.config, command.sets, command.deletes)
        except LinkConfigError as error:
            raise _invalid(error) from None
        answer = Configs(tuple(fresh.effective()))
        if command.validate_only:
            return respond(answer, now)
        item = DocumentChange(
            kind=LINK_KIND,
            name=link.name,
            body=replace(link.record, configs=fresh.given).encode(),
            expected_version=link.version,
        )
        altered = partial(self._on_altered, link.name, answer, respond)
        return [self._desk.propose(PutDocuments((item,)), altered)]

    def _on_altered(
        self, name: str, answer: Configs, respond: Respond, result: object, now: Instant
    ) -> Effects:
        if isinstance(result, Refusal):
            return respond(_undecided(result, f"link {name} was not changed"), now)
        return self._owner.follow_links(now) + respond(answer, now)

    # --- mirrors ---

    def _create_mirror(self, command: CreateMirror, respond: Respond, now: Instant) -> Effects:
        link = self._link(command.link)
        source_topic = command.source_topic or command.mirror_topic.removeprefix(link.config.prefix)
        if command.mirror_topic != link.config.prefix + source_topic:
            raise LinkRefusal(
                "INVALID_REQUEST",
                f"the mirror of {source_topic} on link {link.name} must be called "
                f"{link.config.prefix + source_topic}",
                hint="mirrors keep the source's name, behind the link's cluster.link.prefix",
            )
        self._check_free(command.mirror_topic)
        in_step = link.config.value("topic.config.sync.include")
        if clash := sorted(set(command.configs) & set(in_step)):
            raise LinkRefusal(
                "INVALID_CONFIG",
                f"kept in step with the source: {', '.join(clash)}",
                hint="set them at the source, or leave them out of topic.config.sync.include",
            )
        inquirer = partial(self._on_source_topic, command, source_topic, respond)
        return link.inquire(source_topic, inquirer, now)

    def _check_free(self, topic: str) -> None:
        if topic in self._desk.view.image.topics_by_name:
            raise LinkRefusal(
                "TOPIC_ALREADY_EXISTS",
                f"topic {topic} exists in this region",
                hint="a mirror needs a free name: delete the topic, or use a link with a prefix",
            )
        found = self._desk.view.image.documents.get((MIRROR_KIND, topic))
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
            shown = MirrorDescription(
                record=record, shown=record.state, reason="", lags=(), holes=()
            )
            return respond(shown, now)
        known = self._desk.view.image.documents.get((MIRROR_KIND, record.topic))
        item = DocumentChange(
            kind=MIRROR_KIND,
            name=record.topic,
            body=record.encode(),
            expected_version=known.version if known is not None else 0,
        )
        wished = partial(self._on_wished, command, record, state, respond)
        return [self._desk.propose(PutDocuments((item,)), wished)]

    def _new_mirror(
        self, command: CreateMirror, source_topic: str, state: TopicState | None, now: Instant
    ) -> MirrorRecord:
        link = self._link(command.link)
        if state is None:
            because = link.dialing.because or link.dialing.state.value
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
        self._check_free(command.mirror_topic)
        return MirrorRecord(
            topic=command.mirror_topic,
            link=link.name,
            source_topic=source_topic,
            source_topic_id=UUID(bytes=state.topic_id),
            created_at=now,
            state=MirrorState.ACTIVE,
            since=now,
        )

    def _on_wished(
        self,
        command: CreateMirror,
        record: MirrorRecord,
        state: TopicState,
        respond: Respond,
        result: object,
        now: Instant,
    ) -> Effects:
        if isinstance(result, Refusal):
            return respond(_undecided(result, f"mirror {record.topic} was not created"), now)
        link = self._owner.links[record.link]
        effects = link.follow_documents(now)
        link.mirrors[record.topic].begin_making()
        command_for_topic = creation(record.topic, link, state, command.configs)
        made = partial(self._on_topic_made, record, respond)
        return [*effects, self._desk.propose(command_for_topic, made)]

    def _on_topic_made(
        self, record: MirrorRecord, respond: Respond, result: object, now: Instant
    ) -> Effects:
        link = self._owner.links.get(record.link)
        because = refusal_of(result)
        if because is None and link is not None and record.topic in link.mirrors:
            mirror = link.mirrors[record.topic]
            effects = mirror.made(now)
            return effects + respond(status.describe_mirror(self._desk, link, mirror, now), now)
        code = result.error.name if isinstance(result, Refusal) else "UNKNOWN_SERVER_ERROR"
        refusal = LinkRefusal(code, f"topic {record.topic} was not made: {because}")
        item = DocumentChange(kind=MIRROR_KIND, name=record.topic, body=None)
        withdrawn = partial(self._on_withdrawn, record.link, refusal, respond)
        return [self._desk.propose(PutDocuments((item,)), withdrawn)]

    def _on_withdrawn(
        self, link: str, refusal: LinkRefusal, respond: Respond, _: object, now: Instant
    ) -> Effects:
        found = self._owner.links.get(link)
        effects = found.follow_documents(now) if found is not None else []
        return effects + respond(refusal, now)

    def _change_mirrors(self, command: ChangeMirrors, respond: Respond, now: Instant) -> Effects:
        link = self._link(command.link)
        trigger = _TRIGGERS[command.verb]
        names = command.topics or tuple(
            sorted(topic for topic, one in link.mirrors.items() if one.record.state in LIVE)
        )
        mirrors = [self._mirror(link, topic) for topic in dict.fromkeys(names)]
        if command.validate_only:
            results = [
                _result(mirror, _not_allowed(mirror, trigger, command.verb)) for mirror in mirrors
            ]
            return respond(Topics(tuple(results)), now)
        timeout_ms = command.timeout_ms or PROMOTE_TIMEOUT_MS
        changes = [
            (mirror, self._change(link, mirror, trigger, command.verb, timeout_ms))
            for mirror in mirrors
        ]
        return self._each(changes, respond, now)

    def _change(
        self,
        link: DestinationLink,
        mirror: MirrorTopic,
        trigger: MirrorTrigger,
        verb: str,
        timeout_ms: int,
    ) -> Callable[[Callable[[LinkRefusal | None, Instant], Effects], Instant], Effects]:
        stopping = link.stoppings[mirror.topic]
        if trigger is MirrorTrigger.FAILOVER:
            return stopping.failover
        if trigger is MirrorTrigger.PROMOTE:
            return partial(stopping.promote, timeout_ms)
        return partial(self._turn, mirror, trigger, verb)

    def _turn(
        self,
        mirror: MirrorTopic,
        trigger: MirrorTrigger,
        verb: str,
        answered: Callable[[LinkRefusal | None, Instant], Effects],
        now: Instant,
    ) -> Effects:
        """Pause or resume."""
        refusal = _not_allowed(mirror, trigger, verb)
        if refusal is not None:
            return answered(refusal, now)
        target = TRANSITIONS[mirror.record.state, trigger]
        if target is mirror.record.state:
            return answered(None, now)

        def written(refusal: Refusal | None, at: Instant) -> Effects:
            return answered(changed_meanwhile(mirror, refusal) if refusal else None, at)

        return [mirror.change(replace(mirror.record, state=target, since=now), written)]

    def _each(
        self,
        changes: list[
            tuple[
                MirrorTopic,
                Callable[[Callable[[LinkRefusal | None, Instant], Effects], Instant], Effects],
            ]
        ],
        respond: Callable[[Topics, Instant], Effects],
        now: Instant,
    ) -> Effects:
        """Start every change; `respond` gets the results when the last is answered."""
        refusals: dict[str, LinkRefusal | None] = {}

        def one(mirror: MirrorTopic, refusal: LinkRefusal | None, at: Instant) -> Effects:
            refusals[mirror.topic] = refusal
            if len(refusals) < len(changes):
                return []
            results = [_result(each, refusals[each.topic]) for each, _ in changes]
            return respond(Topics(tuple(results)), at)

        if not changes:
            return respond(Topics(()), now)
        return [effect for mirror, start in changes for effect in start(partial(one, mirror), now)]


def _parse(given: Mapping[str, str]) -> LinkConfig:
    try:
        return config.parse(given)
    except LinkConfigError as error:
        raise _invalid(error) from None


def _invalid(error: LinkConfigError) -> LinkRefusal:
    return LinkRefusal(
        "INVALID_CONFIG",
        "the link's configuration has problems",
        hint="`causeway link configs` shows every name and value",
        problems=error.problems,
    )


def _not_allowed(mirror: MirrorTopic, trigger: MirrorTrigger, verb: str) -> LinkRefusal | None:
    allowed = (mirror.record.state, trigger) in TRANSITIONS and not mirror.halted
    return None if allowed else refused(mirror, verb)


def _result(mirror: MirrorTopic, refusal: LinkRefusal | None = None) -> TopicResult:
    return TopicResult(mirror.topic, mirror.record.state.value, refusal)


def _undecided(refusal: Refusal, what: str) -> LinkRefusal:
    if refusal.error is KafkaError.INVALID_UPDATE_VERSION:
        return LinkRefusal(
            refusal.error.name, f"{what}: it was changed meanwhile", hint="ask again"
        )
    return LinkRefusal(refusal.error.name, f"{what}: {refusal.because}")


def _not_created(record: LinkRecord) -> LinkDescription:
    return LinkDescription(
        name=record.name,
        link_id="",
        source_cluster_id=record.source_cluster_id,
        state="UNKNOWN",
        error=LinkError.NO_ERROR.value,
        because="validated, not created",
        topics=(),
        category_counts={},
        tasks=(),
        created_at=record.created_at,
    )
