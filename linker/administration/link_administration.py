"""Creates, describes, changes and deletes links. The source is asked for its cluster id before a link is created."""

from collections.abc import Container, Mapping
from dataclasses import replace
from functools import partial
from uuid import UUID

from brokers.errors import Refusal
from brokers.ids import INTERNAL_TOPICS, Instant, id_text
from brokers.metadata.commands.document_commands import DocumentChange, PutDocuments
from brokers.metadata.image.image import ADMIN_LISTENER, LINK_LISTENER, Image
from linker import config
from linker.administration import status
from linker.administration.destinations import require_unused
from linker.administration.registry import (
    AnyLink,
    PreparedAnswer,
    Registry,
    Respond,
    find_any_link,
    find_link,
    result,
    stop_asked,
    stop_each,
    undecided,
)
from linker.answers import Configs, LinkDescription, Topics
from linker.commands import AlterLinkConfigs, CreateLink, DeleteLink, SetLinkSecret
from linker.config import LinkConfig, LinkConfigError
from linker.control.cluster_link import ClusterLink
from linker.control.source_link import SourceLink
from linker.empty_filters import empty_filters
from linker.errors import LinkError, LinkRefusal
from linker.filters import Pattern
from linker.name_patterns import LEGAL_NAME
from linker.records.destination import name_of
from linker.records.link_secret import SECRET_CHARACTERS_MAX, digest_of, new_secret
from linker.records.link_state import LINK_KIND, LinkRecord
from linker.records.mirror_record import CutKind
from linker.records.mirror_removal import removal
from linker.records.mirror_state import LIVE, MirrorState
from linker.records.stop_list import Stop, removals
from linker.region_client import Effects, RegionClient


class LinkAdministration:
    """One per region. A command is answered through `respond`, once, or raises LinkRefusal."""

    def __init__(self, region: RegionClient, registry: Registry) -> None:
        self._region = region
        self._registry = registry

    def describe(self, name: str, respond: Respond) -> PreparedAnswer:
        """The lag of its mirrors as their leaders know it, too. Raises LinkRefusal where there is no such link."""
        link = find_any_link(self._registry, name)
        if not isinstance(link, ClusterLink):
            return PreparedAnswer(lambda now: respond(self._described(link, now), now))

        def collected(at: Instant) -> Effects:
            return respond(replace(self._described(link, at), lag=status.link_lag(link, at)), at)

        return PreparedAnswer(collected, partial(self._registry.reports.collect, [link]))

    def _described(self, link: AnyLink, now: Instant) -> LinkDescription:
        """Where this region is the source, too: whether its writes wait for the destination."""
        waits = None
        if link.config.is_source or link.config.is_bidirectional:
            destination = name_of(link.record.source_cluster_id, link.name)
            waits = self._registry.startup_wait.wait_ms(destination, now)
        return replace(self._shown(link), writes_wait_ms=waits)

    def _shown(self, link: AnyLink) -> LinkDescription:
        return status.describe_any_link(self._registry, link)

    def configs(self, name: str) -> Configs:
        return Configs(tuple(find_any_link(self._registry, name).config.effective()))

    def create(self, command: CreateLink, respond: Respond, now: Instant) -> Effects:
        if not LEGAL_NAME.fullmatch(command.name):
            raise LinkRefusal(
                "INVALID_CLUSTER_LINK",
                f"{command.name!r} cannot name a link",
                hint="1 to 249 of A-Z a-z 0-9 . _ -",
            )
        if command.name in self._registry.links or command.name in self._registry.source_links:
            raise LinkRefusal(
                "CLUSTER_LINK_EXISTS",
                f"link {command.name} exists",
                hint="choose another name, or change it with `causeway link configs`",
            )
        parsed = _parse(command.configs)
        _check_local(self._region.view.image, parsed, command.configs)
        record = LinkRecord(
            command.name,
            self._new_id(),
            command.source_cluster_id,
            command.configs,
            now,
            secret=_secret_given(command, parsed),
        )
        found = partial(self._on_probed, command, record, respond)
        if command.skip_validation or parsed.is_dialed:
            return found(command.source_cluster_id, now)
        return self._registry.probe(record, parsed, found, now, announces=parsed.is_source)

    def _new_id(self) -> str:
        """A random id, as Kafka writes ids."""
        return id_text(UUID(bytes=self._region.rng.randbytes(16), version=4))

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
        secret = new_secret(self._region.rng) if config.parse(record.configs).is_dialed else ""
        if secret:
            record = replace(record, secret_digest=digest_of(secret))
        item = DocumentChange(
            kind=LINK_KIND, name=record.name, body=record.encode(), expected_version=0
        )
        created = partial(self._on_link_created, record.name, secret, respond)
        return [self._region.propose(PutDocuments((item,)), created)]

    def _on_link_created(
        self, name: str, secret: str, respond: Respond, result: object, now: Instant
    ) -> Effects:
        if isinstance(result, Refusal):
            return respond(undecided(result, f"link {name} was not created"), now)
        effects = self._registry.follow_links(now)
        link = self._registry.links.get(name)
        if link is None or link.config.is_dialed:
            found = find_any_link(self._registry, name)
            shown = replace(self._shown(found), secret=secret)
            return effects + respond(shown, now)
        return effects + link.when_tried(lambda at: respond(self._shown(link), at), now)

    def delete(self, command: DeleteLink, respond: Respond, now: Instant) -> Effects:
        if isinstance(find_any_link(self._registry, command.name), SourceLink):
            return self._delete_source_link(command, respond, now)
        link = find_link(self._registry, command.name)
        live = [mirror for mirror in link.mirrors.values() if mirror.record.state in LIVE]
        stopping = (MirrorState.PENDING_STOPPED, MirrorState.PENDING_SYNCHRONIZE)
        pending = [
            one.topic
            for one in live
            if one.record.state in stopping or link.stop_lists.stop_of(one.topic) is not None
        ]
        if pending:
            raise LinkRefusal(
                "INVALID_REQUEST",
                f"link {link.name} is stopping {', '.join(pending)}",
                hint="wait until they are STOPPED, cancel it with `causeway mirror cancel`, or fail them over",
            )
        if live and not command.force:
            raise LinkRefusal(
                "CLUSTER_LINK_IN_USE",
                f"link {link.name} has live mirror topics: {', '.join(one.topic for one in live)}",
                hint="promote or fail them over first, or delete with --force, which fails them over",
            )
        if link.creating:
            raise LinkRefusal(
                "CLUSTER_LINK_IN_USE",
                f"link {link.name} is making mirror topics: {', '.join(link.creating)}",
                hint="ask again when they are made",
            )
        if command.validate_only:
            return respond(Topics(tuple(result(link, mirror) for mirror in live)), now)
        why = f"link {link.name} is deleted with --force"
        asked = stop_asked(link, command.asked_by, why, now)
        link.set_being_deleted(is_so=True)
        made = [mirror for mirror in live if mirror.is_made]
        stop = Stop(CutKind.FAILOVER, 0, asked)
        return stop_each(link, made, stop, partial(self._on_emptied, link, respond), now)

    def _on_emptied(
        self, link: ClusterLink, respond: Respond, topics: Topics, now: Instant
    ) -> Effects:
        if any(one.refusal is not None for one in topics.topics):
            link.set_being_deleted(is_so=False)
            return respond(topics, now)
        item = DocumentChange(
            kind=LINK_KIND, name=link.name, body=None, expected_version=link.version
        )
        unmade = [
            removal(mirror.record, mirror.version)
            for mirror in link.mirrors.values()
            if mirror.record.state in LIVE and not mirror.is_made
        ]
        command = PutDocuments((item, *unmade, *removals(link.stop_lists.names)))
        return [self._region.propose(command, partial(self._on_deleted, link, respond, topics))]

    def _on_deleted(
        self,
        link: ClusterLink,
        respond: Respond,
        topics: Topics,
        result: object,
        now: Instant,
    ) -> Effects:
        if isinstance(result, Refusal):
            link.set_being_deleted(is_so=False)
            return respond(undecided(result, f"link {link.name} was not deleted"), now)
        return self._registry.follow_links(now) + respond(topics, now)

    def _delete_source_link(self, command: DeleteLink, respond: Respond, now: Instant) -> Effects:
        """The destination keeps its mirrors, which wait for a source that dials."""
        link = self._registry.source_links[command.name]
        if not command.force:
            require_unused(self._region, self._registry, link.name)
        if command.validate_only:
            return respond(Topics(()), now)
        item = DocumentChange(
            kind=LINK_KIND, name=link.name, body=None, expected_version=link.version
        )

        def deleted(result: object, at: Instant) -> Effects:
            if isinstance(result, Refusal):
                return respond(undecided(result, f"link {link.name} was not deleted"), at)
            return self._registry.follow_links(at) + respond(Topics(()), at)

        return [self._region.propose(PutDocuments((item,)), deleted)]

    def alter_configs(self, command: AlterLinkConfigs, respond: Respond, now: Instant) -> Effects:
        link = find_any_link(self._registry, command.name)
        try:
            fresh = config.altered(link.config, command.sets, command.deletes)
        except LinkConfigError as error:
            raise _invalid(error) from None
        _check_local(self._region.view.image, fresh, command.sets)
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
        return [self._region.propose(PutDocuments((item,)), altered)]

    def set_secret(self, command: SetLinkSecret, respond: Respond, now: Instant) -> Effects:
        """A source that dials with another secret is refused from its next stream on."""
        link = find_any_link(self._registry, command.name)
        if _may_dial(link.config):
            record = replace(link.record, secret=_checked(command.secret))
            tried = partial(self._on_secret_tried, command, link, record, respond)
            return self._registry.probe(record, link.config, tried, now, announces=True)
        if not link.config.is_dialed or command.secret:
            raise LinkRefusal(
                "INVALID_REQUEST",
                f"link {link.name}: the end with connection.mode=INBOUND makes the secret",
                hint="give none to that end, and what it showed to the end that dials",
            )
        secret = new_secret(self._region.rng)
        record = replace(link.record, secret_digest=digest_of(secret))
        return self._put_secret(command, link, record, secret, respond, now)

    def _on_secret_tried(
        self,
        command: SetLinkSecret,
        link: AnyLink,
        record: LinkRecord,
        respond: Respond,
        found: str | LinkRefusal,
        now: Instant,
    ) -> Effects:
        """The other end does not take it, or does, or nobody knows: it may be out of reach. Streams that are open stay,
        so a wrong one would be found out when they end."""
        if isinstance(found, LinkRefusal) and found.code == LinkError.AUTHENTICATION_ERROR.value:
            return respond(found, now)
        return self._put_secret(command, link, record, "", respond, now)

    def _put_secret(
        self,
        command: SetLinkSecret,
        link: AnyLink,
        record: LinkRecord,
        secret: str,
        respond: Respond,
        now: Instant,
    ) -> Effects:
        if command.validate_only:
            return respond(self._shown(link), now)
        item = DocumentChange(
            kind=LINK_KIND, name=link.name, body=record.encode(), expected_version=link.version
        )
        done = partial(self._on_secret_set, link.name, secret, respond)
        return [self._region.propose(PutDocuments((item,)), done)]

    def _on_secret_set(
        self, name: str, secret: str, respond: Respond, result: object, now: Instant
    ) -> Effects:
        if isinstance(result, Refusal):
            return respond(undecided(result, f"link {name} was not changed"), now)
        effects = self._registry.follow_links(now)
        shown = self._shown(find_any_link(self._registry, name))
        return effects + respond(replace(shown, secret=secret), now)

    def _on_altered(
        self, name: str, answer: Configs, respond: Respond, result: object, now: Instant
    ) -> Effects:
        if isinstance(result, Refusal):
            return respond(undecided(result, f"link {name} was not changed"), now)
        return self._registry.follow_links(now) + respond(answer, now)


def _parse(given: Mapping[str, str]) -> LinkConfig:
    try:
        return config.parse(given)
    except LinkConfigError as error:
        raise _invalid(error) from None


def _check_local(image: Image, parsed: LinkConfig, given: Container[str]) -> None:
    """`local.listener.name` must be a Kafka listener of this region, no filter asks for an internal topic, and filters
    that are new include something. Raises LinkRefusal."""
    if problems := empty_filters(parsed, given):
        raise _invalid(LinkConfigError(problems))
    for one in parsed.topic_filters:
        if one.name in INTERNAL_TOPICS and one.pattern is Pattern.LITERAL and not one.exclude:
            because = (
                f"auto.create.mirror.topics.filters: {one.name} is internal, and never mirrored"
            )
            raise _invalid(LinkConfigError([because]))
    wanted = parsed.value("local.listener.name")
    names = {each.name for broker in image.brokers.values() for each in broker.endpoints}
    names -= {LINK_LISTENER, ADMIN_LISTENER}
    if wanted and wanted not in names:
        known = ", ".join(sorted(names))
        because = f"local.listener.name: no broker of this region has {wanted!r}, but {known}"
        raise _invalid(LinkConfigError([because]))


def _secret_given(command: CreateLink, parsed: LinkConfig) -> str:
    if parsed.is_source or (command.secret and _may_dial(parsed)):
        return _checked(command.secret)
    if command.secret:
        raise LinkRefusal(
            "INVALID_REQUEST",
            "a secret is given to the end of a link that dials (link.mode=SOURCE or BIDIRECTIONAL)",
            hint="leave it out: the end with connection.mode=INBOUND makes it",
        )
    return ""


def _may_dial(config: LinkConfig) -> bool:
    """Whether this region may be the one that dials, for mirrors in the other one, too."""
    return config.is_source or (config.is_bidirectional and not config.is_dialed)


def _checked(secret: str) -> str:
    if not 0 < len(secret) <= SECRET_CHARACTERS_MAX or not secret.isascii():
        raise LinkRefusal(
            "INVALID_REQUEST",
            "the end of a link that dials needs the secret that the other end showed when its half was created",
            hint="`causeway link secret NAME` at the other end makes another",
        )
    return secret


def _invalid(error: LinkConfigError) -> LinkRefusal:
    return LinkRefusal(
        "INVALID_CONFIG",
        "the link's configuration has problems",
        hint="`causeway link configs` shows every name and value",
        problems=error.problems,
    )


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
