"""Commands that change nothing. One that raises is answered with UNKNOWN_SERVER_ERROR, and the node goes on.

What other brokers say on the way (`gather`) is shared with other commands and with promotions: an exception there ends
the node.
"""

from functools import partial
from typing import TypeAlias

from brokers.ids import Instant
from brokers.internal_errors import brief, raised
from linker.administration.destinations import list_destinations
from linker.administration.drift import describe_drift
from linker.administration.forecast import forecast
from linker.administration.holds import list_holds
from linker.administration.known_names import require_mirror, require_topic
from linker.administration.lineage_facts import describe_lineage
from linker.administration.link_administration import LinkAdministration
from linker.administration.link_listing import list_links
from linker.administration.mirror_queries import MirrorQueries
from linker.administration.operation_log import operations
from linker.administration.region_facts import describe_region
from linker.administration.registry import PreparedAnswer, Registry, Respond, sorted_links
from linker.administration.replicas import describe_replicas
from linker.administration.taken_over import list_taken_over
from linker.answers import Answer, Decisions, Holes
from linker.commands import (
    DescribeDrift,
    DescribeLineage,
    DescribeLink,
    DescribeLinkConfigs,
    DescribeMirror,
    DescribeRegion,
    DescribeReplicas,
    ForecastMirrors,
    ListDecisions,
    ListDestinations,
    ListHoles,
    ListLinks,
    ListMirrors,
    ListOperations,
    ListRetentionHolds,
    ListTakenOverTopics,
    Query,
)
from linker.containment import Containment
from linker.errors import LinkRefusal
from linker.records.decision import all_decisions, in_time
from linker.records.hole_ledger import in_order
from linker.region_client import Effects, RegionClient
from linker.sliced_work import Job, SlicedWork

Sliced: TypeAlias = ListDestinations | ListTakenOverTopics | DescribeReplicas | DescribeRegion
Gathered: TypeAlias = DescribeLink | ListLinks | ListMirrors | DescribeMirror | ForecastMirrors
Known: TypeAlias = (
    DescribeLinkConfigs | DescribeDrift | DescribeLineage | ListHoles | ListDecisions | ListOperations
    | ListRetentionHolds
)  # fmt: skip


class Queries:
    """One per region."""

    def __init__(
        self,
        region: RegionClient,
        registry: Registry,
        links: LinkAdministration,
        mirrors: MirrorQueries,
        work: SlicedWork,
    ) -> None:
        self._region = region
        self._view = region.view
        self._registry = registry
        self._links = links
        self._mirrors = mirrors
        self._work = work

    def ask(self, query: Query, respond: Respond, now: Instant) -> Effects:
        """`respond` is called once."""
        refuse = partial(_refuse, query, respond)
        contained = Containment(refuse)
        if isinstance(query, Sliced):
            job = contained.job(self._job(query, respond), lambda: self._work.now)
            return self._work.add(job, now)
        try:
            look = self._look(query, respond, contained)
        except Exception as error:
            return refuse(error, now)
        return look.gather(contained.later(look.then), now)

    def _job(self, query: Sliced, respond: Respond) -> Job:
        view, work = self._view, self._work
        match query:
            case ListDestinations():
                made_with = (self._region, self._registry, query, work, respond)
                yield from list_destinations(*made_with)
            case ListTakenOverTopics():
                yield from list_taken_over(view, work, respond)
            case DescribeReplicas(topics):
                names = topics or tuple(view.image.topics_by_name)
                yield from describe_replicas(view, names, work, respond)
            case DescribeRegion():
                yield from describe_region(view.image, view.topic_configs, work, respond)

    def _look(
        self, query: Gathered | Known, respond: Respond, contained: Containment
    ) -> PreparedAnswer:
        match query:
            case DescribeLink(name):
                return self._links.describe(name, respond)
            case ListLinks():
                job = contained.job(
                    list_links(self._registry, self._work, respond), lambda: self._work.now
                )
                gather = partial(self._registry.reports.collect, sorted_links(self._registry))
                return PreparedAnswer(partial(self._work.add, job), gather)
            case ListMirrors():
                return self._mirrors.answer_list(query, respond)
            case DescribeMirror(topic):
                return self._mirrors.describe(topic, respond)
            case ForecastMirrors():
                return forecast(self._region, self._registry, query, respond, contained)
            case _:
                return PreparedAnswer(partial(self._answer_known, query, respond))

    def _answer_known(self, query: Known, respond: Respond, now: Instant) -> Effects:
        return respond(self._known(query), now)

    def _known(self, query: Known) -> Answer:
        """What this broker knows without asking."""
        image = self._view.image
        match query:
            case DescribeLinkConfigs(name):
                return self._links.configs(name)
            case DescribeDrift():
                return describe_drift(self._region, self._registry, query)
            case DescribeLineage(topic):
                return describe_lineage(self._view, topic)
            case ListHoles(topic):
                return self._holes(topic)
            case ListDecisions(topic):
                return self._decisions(topic)
            case ListOperations():
                return operations(image, query)
            case ListRetentionHolds():
                return list_holds(self._region, self._registry, query)

    def _holes(self, topic: str) -> Holes:
        """Raises LinkRefusal for a topic that is no mirror and has none."""
        found = [hole for hole in self._region.holes.all() if topic in ("", hole.partition.topic)]
        require_mirror(self._view.image, topic, found)
        return Holes(tuple(in_order(found)))

    def _decisions(self, topic: str) -> Decisions:
        """Raises LinkRefusal for a topic that there is not and was not."""
        image = self._view.image
        found = [one for one in all_decisions(image) if topic in ("", one.topic)]
        require_topic(image, topic, found)
        return Decisions(in_time(found))


def _refuse(query: Query, respond: Respond, error: Exception, now: Instant) -> Effects:
    if isinstance(error, LinkRefusal):
        return respond(error, now)
    name = type(query).__name__
    refusal = LinkRefusal(
        "UNKNOWN_SERVER_ERROR",
        f"{name} raised {brief(error)}",
        hint="nothing was changed; the node's log has the stack trace: please report it",
    )
    return [raised(f"command {name}", error), *respond(refusal, now)]
