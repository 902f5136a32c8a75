"""Refuses names that this region does not know, where an empty answer would look like a good one.

A name is known, too, by the entries of a topic or link that is deleted.
"""

from collections.abc import Collection, Sized

from brokers.metadata.image.image import Image
from linker.administration.registry import Registry
from linker.errors import LinkRefusal
from linker.records.mirror_record import MIRROR_KIND, decode_mirror
from linker.records.mirror_state import MirrorState


def require_mirror(image: Image, topic: str, entries: Sized) -> None:
    """Raises LinkRefusal where `topic` never was a mirror topic, as far as is on record. All topics are ""."""
    if topic and not entries and (MIRROR_KIND, topic) not in image.documents:
        raise LinkRefusal(
            "UNKNOWN_TOPIC_OR_PARTITION",
            f"not a mirror topic of this region: {topic}",
            hint="`causeway mirror list` names those there are",
        )


def require_topic(image: Image, topic: str, entries: Sized) -> None:
    """Raises LinkRefusal where there is no such topic, and nothing on record of an earlier one. All topics are ""."""
    if topic and topic not in image.topics_by_name:
        require_mirror(image, topic, entries)


def require_all_written(
    image: Image, link: str, topics: Collection[str], written: Collection[str]
) -> None:
    """Raises LinkRefusal for those of `topics` that a link does not write; the link is any where its name is ""."""
    unknown = set(topics) - set(written)
    if stopped := sorted(topic for topic in unknown if _is_stopped(image, link, topic)):
        raise LinkRefusal(
            "INVALID_REQUEST",
            f"STOPPED and no mirror any more, so there is nothing to fail over or to compare: {', '.join(stopped)}",
            hint="`causeway mirror describe` shows where it is written now, `causeway mirror decisions` since when",
        )
    if unknown:
        whose = f"link {link}" if link else "a link"
        raise LinkRefusal(
            "UNKNOWN_TOPIC_OR_PARTITION",
            f"not a topic that {whose} writes: {', '.join(sorted(unknown))}",
            hint="`causeway mirror list` names those there are",
        )


def _is_stopped(image: Image, link: str, topic: str) -> bool:
    """Whether it was a mirror of this link, or of any where the name is ""; the link may be deleted."""
    found = image.documents.get((MIRROR_KIND, topic))
    if found is None or topic not in image.topics_by_name:
        return False
    record = decode_mirror(topic, found.body)
    return record.state is MirrorState.STOPPED and link in ("", record.link)


def require_link_of_source(registry: Registry, link: str, entries: Sized) -> None:
    """Raises LinkRefusal where no link of this name is here, or mirrors topics of this region. All links are ""."""
    if not link or entries or link in registry.links or link in registry.source_links:
        return
    mirroring = (one.link for one in registry.destinations.records.values())
    holding = (one.link for one in registry.holds.records)
    if link not in {*mirroring, *holding}:
        raise LinkRefusal(
            "CLUSTER_LINK_NOT_FOUND",
            f"there is no link {link!r} in this region, and none of this name mirrors topics of it",
            hint="`causeway link destinations` names those that mirror topics of this region",
        )
