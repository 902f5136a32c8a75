"""Routes an operator's commands. A LinkRefusal that is raised is the answer; nothing is left half-made."""

from brokers.config.endpoints import Address
from brokers.ids import Instant
from brokers.metadata.image.image import ADMIN_LISTENER
from linker.administration.destinations import forget_destination
from linker.administration.holds import drop_holds
from linker.administration.link_administration import LinkAdministration
from linker.administration.mirror_changes import MirrorChanges
from linker.administration.mirror_creation import MirrorCreation
from linker.administration.mirror_queries import MirrorQueries
from linker.administration.operation_log import recorded
from linker.administration.reading import Queries
from linker.administration.registry import Registry, Respond
from linker.administration.restore_administration import RestoreAdministration
from linker.administration.unfencing import unfence
from linker.answers import Answer, Topics
from linker.commands import (
    ANSWERED_BY_ANY,
    AlterLinkConfigs,
    Change,
    ChangeMirrors,
    Command,
    CreateLink,
    CreateMirror,
    DeleteLink,
    DropRetentionHolds,
    ForgetDestination,
    Query,
    RecordDiscardedOrphans,
    RestoreMirrors,
    SetLinkSecret,
    UnfenceTopics,
)
from linker.control.auto_mirrors import Created
from linker.errors import LinkRefusal
from linker.events import AdminAnswered, AdminAsked, Elsewhere
from linker.frames import TopicState
from linker.region_client import Effects, RegionClient
from linker.sliced_work import SlicedWork


class Administration:
    """One per region."""

    def __init__(self, region: RegionClient, registry: Registry) -> None:
        self._region = region
        self._registry = registry
        self._links = LinkAdministration(region, registry)
        self._creation = MirrorCreation(region, registry)
        self._changes = MirrorChanges(region, registry)
        self._restores = RestoreAdministration(region, registry)
        work = SlicedWork(region)
        mirrors = MirrorQueries(region, registry)
        self._queries = Queries(region, registry, self._links, mirrors, work)

    def answer(self, event: AdminAsked, now: Instant) -> Effects:
        """Of a command that reached this broker."""
        if not isinstance(event.command, ANSWERED_BY_ANY) and not self._region.is_coordinator:
            return [AdminAnswered(event.ticket, self._elsewhere())]

        def answered(answer: Answer | LinkRefusal, at: Instant) -> Effects:
            return [AdminAnswered(event.ticket, answer)]

        respond = recorded(self._region, event.command, event.asked_by, answered)
        return self.ask(event.command, respond, now)

    def _elsewhere(self) -> Elsewhere | LinkRefusal:
        """Where the link coordinator takes commands."""
        coordinator = self._region.coordinator
        at = coordinator.endpoint(ADMIN_LISTENER) if coordinator is not None else None
        if at is not None:
            return Elsewhere(str(Address(at.host, at.port)))
        because = "no broker of this region coordinates links now"
        return LinkRefusal("COORDINATOR_NOT_AVAILABLE", because, hint="ask again")

    def ask(self, command: Command, respond: Respond, now: Instant) -> Effects:
        """`respond` is called once."""
        if isinstance(command, Query):
            return self._queries.ask(command, respond, now)
        try:
            return self._change(command, respond, now)
        except LinkRefusal as refusal:
            return respond(refusal, now)

    def _change(self, command: Change, respond: Respond, now: Instant) -> Effects:
        match command:
            case CreateLink():
                return self._links.create(command, respond, now)
            case DeleteLink():
                return self._links.delete(command, respond, now)
            case AlterLinkConfigs():
                return self._links.alter_configs(command, respond, now)
            case SetLinkSecret():
                return self._links.set_secret(command, respond, now)
            case CreateMirror():
                return self._creation.create(command, respond, now)
            case ChangeMirrors():
                return self._changes.change(command, respond, now)
            case RestoreMirrors():
                return self._restores.restore(command, respond, now)
            case UnfenceTopics():
                return unfence(self._region, command, respond, now)
            case DropRetentionHolds():
                return drop_holds(self._region, self._registry.holds, command, respond, now)
            case ForgetDestination():
                return forget_destination(self._region, self._registry, command, respond, now)
            case RecordDiscardedOrphans():
                return respond(Topics(()), now)

    def create_mirror_of(
        self, link: str, state: TopicState, created: Created, now: Instant
    ) -> Effects:
        """Create the mirror of a source topic as a link's filters want it; `created` is called once."""

        def respond(answer: Answer | LinkRefusal, at: Instant) -> Effects:
            return created(answer if isinstance(answer, LinkRefusal) else None, at)

        return self._creation.create_of(link, state, respond, now)
