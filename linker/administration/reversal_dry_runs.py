"""A dry run of a reversal: the source is asked, too, what it would refuse."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from brokers.ids import Instant
from linker.administration.registry import Respond
from linker.answers import TopicResult, Topics
from linker.control.cluster_link import ClusterLink
from linker.control.mirror_topic import MirrorTopic
from linker.control.reversing import to_be_reversed
from linker.errors import LinkRefusal
from linker.protocol_versions import CHECKS_REVERSALS_FROM
from linker.region_client import Effects, RegionClient
from linker.reversal_frames import ReversalRefused

HINT: Final = (
    "look what `causeway link describe` and `causeway mirror describe` say in the source region"
)


def ask_source(
    region: RegionClient,
    link: ClusterLink,
    checked: Mapping[str, TopicResult],
    respond: Respond,
    now: Instant,
    *,
    is_paused: bool,
) -> Effects:
    """`checked`: what this region finds, by mirror topic. An older source cannot be asked: that is the answer then."""
    made = region.view.image.topics_by_name
    allowed = (topic for topic, found in checked.items() if found.refusal is None)
    asked = [link.mirrors[topic] for topic in allowed if topic in made]
    if not asked or link.source_version < CHECKS_REVERSALS_FROM:
        return respond(Topics(tuple(checked.values())), now)

    def answer(refused: Mapping[str, ReversalRefused] | None, at: Instant) -> Effects:
        by_source = {
            mirror.topic: replace(checked[mirror.topic], refusal=_refusal(link, mirror, refused))
            for mirror in asked
        }
        return respond(Topics(tuple({**checked, **by_source}.values())), at)

    topics = [to_be_reversed(region, mirror, is_paused=is_paused) for mirror in asked]
    return link.reversing.checks.ask(topics, answer, now)


def _refusal(
    link: ClusterLink, mirror: MirrorTopic, refused: Mapping[str, ReversalRefused] | None
) -> LinkRefusal | None:
    """The link may be deleted by now."""
    if refused is None:
        because = f"the source of link {link.name} does not answer"
        hint = "`causeway link describe` says why; ask again once the link is ACTIVE"
        return LinkRefusal("CLUSTER_LINK_UNAVAILABLE", because, hint=hint)
    found = refused.get(mirror.record.source_topic)
    return LinkRefusal(found.code, found.because, hint=HINT) if found is not None else None
