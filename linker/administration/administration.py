"""Routes an operator's commands. A LinkRefusal that is raised is the answer; nothing is left half-made."""

from brokers.ids import Instant
from linker.administration.destinations import forget_destination, list_destinations
from linker.administration.drift import describe_drift
from linker.administration.forecast import forecast
from linker.administration.holds import drop_holds, list_holds
from linker.administration.known_names import require_mirror, require_topic
from linker.administration.lineage_facts import describe_lineage
from linker.administration.link_administration import LinkAdministration
from linker.administration.mirror_administration import MirrorAdministration
from linker.administration.mirror_changes import MirrorChanges
from linker.administration.operation_log import operations
from linker.administration.region_facts import describe_region
from linker.administration.registry import Registry, Respond
from linker.administration.replicas import describe_replicas
from linker.administration.restore_administration import RestoreAdministration
from linker.administration.unfencing import unfence
from linker.answers import Answer, Decisions, Holes, Topics
from linker.commands import (
    AlterLinkConfigs,
    ChangeMirrors,
    Command,
    CreateLink,
    CreateMirror,
    DeleteLink,
    DescribeDrift,
    DescribeLineage,
    DescribeLink,
    DescribeLinkConfigs,
    DescribeMirror,
    DescribeRegion,
    DescribeReplicas,
    DropRetentionHolds,
    ForecastMirrors,
    ForgetDestination,
    ListDecisions,
    ListDestinations,
    ListHoles,
    ListLinks,
    ListMirrors,
    ListOperations,
    ListRetentionHolds,
    RecordDiscardedOrphans,
    RestoreMirrors,
    SetLinkSecret,
    UnfenceTopics,
)
from linker.control.auto_mirrors import Created
from linker.errors import LinkRefusal
from linker.frames import TopicState
from linker.records.decision import all_decisions, in_time
from linker.records.hole_ledger import in_order
from linker.region_client import Effects, RegionClient
from linker.sliced_work import SlicedWork


class Administration:
    """One per region."""

    def __init__(self, region: RegionClient, registry: Registry) -> None:
        self._region = region
        self._view = region.view
        self._registry = registry
        self._ledger = region.holes
        self._work = SlicedWork(region)
        self._links = LinkAdministration(region, registry)
        self._mirrors = MirrorAdministration(region, registry)
        self._changes = MirrorChanges(region, registry)
        self._restores = RestoreAdministration(region, registry)

    def ask(self, command: Command, respond: Respond, now: Instant) -> Effects:
        """`respond` is called once."""
        try:
            return self._ask(command, respond, now)
        except LinkRefusal as refusal:
            return respond(refusal, now)

    def _ask(self, command: Command, respond: Respond, now: Instant) -> Effects:
        match command:
            case CreateLink():
                return self._links.create(command, respond, now)
            case DeleteLink():
                return self._links.delete(command, respond, now)
            case AlterLinkConfigs():
                return self._links.alter_configs(command, respond, now)
            case ListLinks():
                return respond(self._links.listing(), now)
            case DescribeLink(name):
                return self._links.describe(name, respond, now)
            case SetLinkSecret():
                return self._links.set_secret(command, respond, now)
            case DescribeLinkConfigs(name):
                return respond(self._links.configs(name), now)
            case CreateMirror():
                return self._mirrors.create(command, respond, now)
            case ChangeMirrors():
                return self._changes.change(command, respond, now)
            case ListMirrors():
                return self._mirrors.answer_list(command, respond, now)
            case RestoreMirrors():
                return self._restores.restore(command, respond, now)
            case UnfenceTopics():
                return unfence(self._region, command, respond, now)
            case DescribeDrift():
                return describe_drift(self._region, self._registry, command, respond, now)
            case ForecastMirrors():
                return forecast(self._region, self._registry, command, respond, now)
            case DescribeMirror(topic):
                return self._mirrors.describe(topic, respond, now)
            case ListRetentionHolds():
                return respond(list_holds(self._region, self._registry, command), now)
            case DropRetentionHolds():
                return drop_holds(self._region, self._registry.holds, command, respond, now)
            case ListDestinations():
                made_with = (self._region, self._registry, command, self._work, respond)
                return self._work.add(list_destinations(*made_with), now)
            case ForgetDestination():
                return forget_destination(self._region, self._registry, command, respond, now)
            case ListOperations():
                return respond(operations(self._view.image, command), now)
            case ListHoles(topic):
                return respond(self._holes(topic), now)
            case DescribeLineage(topic):
                return respond(describe_lineage(self._view, topic), now)
            case ListDecisions(topic):
                return respond(self._decisions(topic), now)
            case DescribeReplicas(topics):
                names = topics or tuple(self._view.image.topics_by_name)
                replicas = describe_replicas(self._view, names, self._work, respond)
                return self._work.add(replicas, now)
            case RecordDiscardedOrphans():
                return respond(Topics(()), now)
            case DescribeRegion():
                view = self._view
                facts = describe_region(view.image, view.topic_configs, self._work, respond)
                return self._work.add(facts, now)

    def create_mirror_of(
        self, link: str, state: TopicState, created: Created, now: Instant
    ) -> Effects:
        """Create the mirror of a source topic as a link's filters want it; `created` is called once."""

        def respond(answer: Answer | LinkRefusal, at: Instant) -> Effects:
            return created(answer if isinstance(answer, LinkRefusal) else None, at)

        return self._mirrors.create_of(link, state, respond, now)

    def _holes(self, topic: str) -> Holes:
        """Raises LinkRefusal for a topic that is no mirror and has none."""
        found = [hole for hole in self._ledger.all() if topic in ("", hole.partition.topic)]
        require_mirror(self._view.image, topic, found)
        return Holes(tuple(in_order(found)))

    def _decisions(self, topic: str) -> Decisions:
        """Raises LinkRefusal for a topic that there is not and was not."""
        image = self._view.image
        found = [one for one in all_decisions(image) if topic in ("", one.topic)]
        require_topic(image, topic, found)
        return Decisions(in_time(found))
