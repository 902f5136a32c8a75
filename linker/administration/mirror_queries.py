"""What mirror topics there are, and how far each is."""

from collections.abc import Sequence
from functools import partial

from brokers.ids import Instant
from brokers.metadata.commands.mirror_commands import read_only_because, superseder_of
from linker.administration import status
from linker.administration.registry import (
    PreparedAnswer,
    Registry,
    Respond,
    find_link,
    sorted_links,
)
from linker.answers import MirrorDescription, Mirrors
from linker.commands import ListMirrors
from linker.control.cluster_link import ClusterLink
from linker.control.mirror_refusals import TAKEN_OVER_HINT
from linker.errors import LinkRefusal
from linker.records.mirror_record import MIRROR_KIND, MirrorRecord, decode_mirror
from linker.records.mirror_state import MirrorState
from linker.region_client import Effects, RegionClient


class MirrorQueries:
    """One per region."""

    def __init__(self, region: RegionClient, registry: Registry) -> None:
        self._region = region
        self._registry = registry

    def describe(self, topic: str, respond: Respond) -> PreparedAnswer:
        """Raises LinkRefusal where there is no such mirror."""
        for link in sorted_links(self._registry):
            if topic in link.mirrors:
                gather = partial(link.reports.collect, (topic,))
                return PreparedAnswer(partial(self._describe, link, topic, respond), gather)
        found = self._of_deleted_link(topic)
        return PreparedAnswer(lambda now: respond(found, now))

    def _describe(self, link: ClusterLink, topic: str, respond: Respond, now: Instant) -> Effects:
        mirror = link.mirrors.get(topic)
        if mirror is None:
            because = f"mirror {topic} was deleted meanwhile"
            return respond(LinkRefusal("UNKNOWN_TOPIC_OR_PARTITION", because), now)
        return respond(status.describe_mirror(self._region, link, mirror, now), now)

    def _of_deleted_link(self, topic: str) -> MirrorDescription:
        found = self._region.view.image.documents.get((MIRROR_KIND, topic))
        placed = self._region.view.image.topics_by_name.get(topic)
        if placed is not None and superseder_of(placed.writer) is not None:
            raise LinkRefusal(
                "UNKNOWN_TOPIC_OR_PARTITION",
                read_only_because(topic, placed.writer or ""),
                hint=TAKEN_OVER_HINT,
            )
        if found is None:
            raise LinkRefusal(
                "UNKNOWN_TOPIC_OR_PARTITION",
                f"{topic!r} is not a mirror topic of this region",
                hint="`causeway mirror list` names those there are",
            )
        return self._left_behind(decode_mirror(topic, found.body))

    def _left_behind(self, record: MirrorRecord) -> MirrorDescription:
        """A stopped mirror whose link was deleted. Its record stays, with the cut."""
        return MirrorDescription(
            record=record, shown=record.state, reason=record.reason, lags=(), holes=()
        )

    def answer_list(self, command: ListMirrors, respond: Respond) -> PreparedAnswer:
        """Raises LinkRefusal for a state or a link that there is not."""
        if command.state and command.state.upper() not in MirrorState.__members__:
            raise LinkRefusal(
                "INVALID_REQUEST",
                f"{command.state!r} is not a mirror topic state",
                hint=f"one of {', '.join(state.value for state in MirrorState)}",
            )
        links = (
            [find_link(self._registry, command.link)]
            if command.link
            else sorted_links(self._registry)
        )
        return PreparedAnswer(
            lambda at: respond(self._listing(links, command, at), at),
            partial(self._registry.reports.collect, links),
        )

    def _listing(self, links: Sequence[ClusterLink], command: ListMirrors, now: Instant) -> Mirrors:
        found = [
            status.describe_mirror(self._region, link, link.mirrors[topic], now)
            for link in links
            for topic in sorted(link.mirrors)
        ]
        if not command.link:
            found += self._orphans()
        if command.state:
            found = [one for one in found if one.shown.value == command.state.upper()]
        if command.in_transition:
            found = [one for one in found if one.transition is not None]
        return Mirrors(tuple(found))

    def _orphans(self) -> Sequence[MirrorDescription]:
        records = [
            decode_mirror(name, found.body)
            for (kind, name), found in self._region.view.image.documents.items()
            if kind == MIRROR_KIND
        ]
        return [self._left_behind(one) for one in records if one.link not in self._registry.links]
