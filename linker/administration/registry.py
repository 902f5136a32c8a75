"""Finds the links and mirrors that an operator names, and builds the answers that several commands share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol, TypeAlias

from brokers.errors import KafkaError, Refusal
from brokers.ids import Instant
from brokers.timers import Act
from linker.answers import Answer, TopicResult, Topics
from linker.config import LinkConfig
from linker.control.cluster_link import ClusterLink
from linker.control.failover import Answered
from linker.control.mirror_refusals import refused
from linker.control.mirror_topic import MirrorTopic
from linker.control.region_reports import RegionReports
from linker.control.source_destinations import SourceDestinations
from linker.control.source_holds import SourceHolds
from linker.control.source_link import SourceLink
from linker.control.startup_wait import StartupWait
from linker.errors import LinkError, LinkRefusal
from linker.joint_proposals import UNKNOWN_OUTCOMES
from linker.protocol_versions import REVERSES_FROM
from linker.records.link_state import LinkRecord, LinkState
from linker.records.mirror_record import Asked
from linker.records.mirror_state import SHOWN, TRANSITIONS, MirrorState, MirrorTrigger
from linker.records.stop_list import Stop
from linker.region_client import Effects

Respond: TypeAlias = Callable[[Answer | LinkRefusal, Instant], Effects]
Found: TypeAlias = Callable[[str | LinkRefusal, Instant], Effects]
Change: TypeAlias = Callable[[Answered, Instant], Effects]


def at_once(then: Act, now: Instant) -> Effects:
    return then(now)


@dataclass(frozen=True, slots=True)
class PreparedAnswer:
    """`then` answers a command that changes nothing, once `gather` has what it needs from other brokers."""

    then: Act
    gather: Callable[[Act, Instant], Effects] = at_once


class Registry(Protocol):
    """The links of this region; the linker implements it."""

    links: dict[str, ClusterLink]  # of which this region is the destination
    source_links: dict[str, SourceLink]  # with which this region dials, as their source
    holds: SourceHolds  # what this region keeps for mirrors in others
    reports: RegionReports  # what the brokers know of the mirrors of `links`
    destinations: SourceDestinations  # which regions mirror topics of this one
    startup_wait: StartupWait  # for them

    def probe(
        self,
        record: LinkRecord,
        config: LinkConfig,
        found: Found,
        now: Instant,
        *,
        announces: bool,
    ) -> Effects:
        """`found` is called with the other region's cluster id, or why it is not known (`SourceProbe`)."""

    def follow_links(self, now: Instant) -> Effects:
        """Adopt the records of links from the metadata log."""


def sorted_links(registry: Registry) -> list[ClusterLink]:
    return [registry.links[name] for name in sorted(registry.links)]


AnyLink: TypeAlias = ClusterLink | SourceLink
_WORSE: Final = (  # each than those before it
    LinkState.ACTIVE,
    LinkState.UNKNOWN,
    LinkState.PAUSED,
    LinkState.UNAVAILABLE,
    LinkState.FAILED,
)


def worse_half(link: AnyLink, dialing: SourceLink | None) -> AnyLink:
    """The half of a link whose state is the link's. `dialing` is the one that dials for the other region's mirrors,
    where this region dials for both directions (`link.mode` BIDIRECTIONAL): each half has streams of its own."""
    halves: list[AnyLink] = [link] if dialing is None else [link, dialing]
    return max(halves, key=_severity)


def _severity(half: AnyLink) -> tuple[int, bool]:
    """A half that is ACTIVE may have an error, before enough checks have failed."""
    return _WORSE.index(half.state), half.error is not LinkError.NO_ERROR


def find_any_link(registry: Registry, name: str) -> AnyLink:
    """Of any mode. Raises LinkRefusal if there is none."""
    if name in registry.links or name not in registry.source_links:
        return find_link(registry, name)
    return registry.source_links[name]


def find_link(registry: Registry, name: str) -> ClusterLink:
    """Of which this region is the destination. Raises LinkRefusal if there is none."""
    link = registry.links.get(name)
    if link is None and name in registry.source_links:
        raise LinkRefusal(
            "INVALID_REQUEST",
            f"link {name} has link.mode=SOURCE here: its mirror topics are in the destination region",
            hint="ask the destination region",
        )
    if link is None:
        raise LinkRefusal(
            "CLUSTER_LINK_NOT_FOUND",
            f"there is no link {name!r} in this region",
            hint="`causeway link list` names those there are; mirrors live in the destination region",
        )
    return link


def find_mirror(link: ClusterLink, topic: str) -> MirrorTopic:
    """Raises LinkRefusal if there is none."""
    mirror = link.mirrors.get(topic)
    if mirror is None:
        raise LinkRefusal(
            "UNKNOWN_TOPIC_OR_PARTITION",
            f"link {link.name} has no mirror topic {topic!r}",
            hint=f"`causeway mirror list --link {link.name}` names those there are",
        )
    return mirror


def change_each(
    link: ClusterLink,
    changes: Sequence[tuple[MirrorTopic, Change]],
    respond: Callable[[Topics, Instant], Effects],
    now: Instant,
) -> Effects:
    """Start every change; `respond` is called with the results when the last is answered."""
    refusals: dict[str, LinkRefusal | None] = {}

    def one(mirror: MirrorTopic, refusal: LinkRefusal | None, at: Instant) -> Effects:
        refusals[mirror.topic] = refusal
        if len(refusals) < len(changes):
            return []
        results = [result(link, each, refusals[each.topic]) for each, _ in changes]
        return respond(Topics(tuple(results)), at)

    if not changes:
        return respond(Topics(()), now)
    return [effect for mirror, start in changes for effect in start(partial(one, mirror), now)]


def stop_asked(link: ClusterLink, by: str, why: str, now: Instant) -> Asked:
    """A new decision to stop topics. Raises LinkRefusal where another of the same millisecond has its id."""
    asked = Asked(f"{link.name}@{now}", now, by, why)
    if link.stop_lists.is_asked(asked.decision_id):
        because = f"another command of link {link.name} came in the same millisecond"
        raise LinkRefusal("INVALID_REQUEST", because, hint="ask again")
    return asked


def stop_each(
    link: ClusterLink,
    mirrors: Sequence[MirrorTopic],
    stop: Stop,
    respond: Callable[[Topics, Instant], Effects],
    now: Instant,
) -> Effects:
    """Stop every mirror, by one decision; `respond` is called with the results when the last is answered."""
    lists = link.stop_lists
    listed = lists.to_list(stop, mirrors)
    names = {one.topic for one in listed}
    changes: list[tuple[MirrorTopic, Change]] = [
        (one, partial(lists.expect if one.topic in names else lists.begin, one.topic, stop))
        for one in mirrors
    ]
    effects = change_each(link, changes, respond, now)
    return effects + lists.write(stop, listed) if listed else effects


def check_reversible(link: ClusterLink) -> None:
    """Raises LinkRefusal for a link whose mirrors cannot change places with their sources."""
    if not link.config.is_bidirectional:
        raise LinkRefusal(
            "INVALID_REQUEST",
            f"link {link.name} has link.mode={link.config.value('link.mode')}: its mirrors cannot be reversed",
            hint="create a link of one name in both regions with link.mode=BIDIRECTIONAL",
        )
    if link.config.prefix:
        raise LinkRefusal(
            "INVALID_REQUEST",
            f"link {link.name} has a prefix: a reversed topic keeps its name",
            hint="use a link without cluster.link.prefix",
        )
    if link.state is not LinkState.ACTIVE:
        raise LinkRefusal(
            "CLUSTER_LINK_UNAVAILABLE",
            f"link {link.name} is {link.state.value}: {link.because or 'the source was not reached yet'}",
            hint="both regions must be reachable; `causeway mirror failover` works without the source",
        )
    if link.source_version < REVERSES_FROM:
        raise LinkRefusal(
            "UNSUPPORTED_VERSION",
            f"the source of link {link.name} runs a release that has no reversals",
            hint="upgrade the source region, or promote and truncate-and-restore",
        )


def not_allowed(mirror: MirrorTopic, trigger: MirrorTrigger, verb: str) -> LinkRefusal | None:
    allowed = (mirror.record.state, trigger) in TRANSITIONS and not mirror.is_halted
    return None if allowed else refused(mirror, verb)


def shown_state(link: ClusterLink, mirror: MirrorTopic) -> MirrorState:
    """With the link's own state, as SOURCE_UNAVAILABLE, which is never stored."""
    return SHOWN[mirror.record.state, link.state]


def result(
    link: ClusterLink, mirror: MirrorTopic, refusal: LinkRefusal | None = None
) -> TopicResult:
    return TopicResult(mirror.topic, shown_state(link, mirror).value, refusal)


def undecided(refusal: Refusal, what: str) -> LinkRefusal:
    if refusal.error is KafkaError.INVALID_UPDATE_VERSION:
        return LinkRefusal(
            refusal.error.name, f"{what}: it was changed meanwhile", hint="ask again"
        )
    if refusal.error in UNKNOWN_OUTCOMES:
        because = f"{what}, or nobody knows yet: {refusal.because}"
        return LinkRefusal(refusal.error.name, because, hint="look what there is, then ask again")
    return LinkRefusal(refusal.error.name, f"{what}: {refusal.because}")
