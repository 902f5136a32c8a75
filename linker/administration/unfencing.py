"""Unfences topics: they are written here again, although another region has taken them over."""

from collections.abc import Callable
from functools import partial

from brokers.errors import Refusal
from brokers.ids import Instant
from brokers.metadata.commands.mirror_commands import SetTopicWriter, superseder_of
from linker.administration.registry import Respond, undecided
from linker.answers import TopicResult, Topics
from linker.commands import UnfenceTopics
from linker.errors import LinkRefusal
from linker.records import unfenced_topic
from linker.records.unfenced_topic import UnfencedTopic
from linker.region_client import Effects, RegionClient

WRITABLE = ""  # it is no mirror


def unfence(
    region: RegionClient, command: UnfenceTopics, respond: Respond, now: Instant
) -> Effects:
    """First the record, by which the other region does not fence it again; then the writer."""
    topics = list(dict.fromkeys(command.topics))
    results: dict[str, TopicResult] = {}

    def one(topic: str, refusal: LinkRefusal | None, at: Instant) -> Effects:
        results[topic] = TopicResult(topic, WRITABLE, refusal)
        if len(results) < len(topics):
            return []
        return respond(Topics(tuple(results[each] for each in topics)), at)

    if not topics:
        return respond(Topics(()), now)
    return [
        effect
        for topic in topics
        for effect in _unfence(region, topic, command.validate_only, partial(one, topic), now)
    ]


def _unfence(
    region: RegionClient,
    topic: str,
    validate_only: bool,
    answered: Callable[[LinkRefusal | None, Instant], Effects],
    now: Instant,
) -> Effects:
    placed = region.view.image.topics_by_name.get(topic)
    superseder = superseder_of(placed.writer) if placed is not None else None
    if placed is None or superseder is None:
        because = f"{topic} is not a topic of this region that another one has taken over"
        return answered(LinkRefusal("INVALID_REQUEST", because), now)
    if validate_only:
        return answered(None, now)
    # Another topic of this name may be taken over by the same region, in the same generation.
    writer = SetTopicWriter(
        topic=topic, expected_writer=placed.writer, writer=None, topic_id=placed.id
    )

    def written(result: object, at: Instant) -> Effects:
        refusal = result if isinstance(result, Refusal) else None
        return answered(undecided(refusal, f"{topic} stays as it is") if refusal else None, at)

    def recorded(refusal: Refusal | None, at: Instant) -> Effects:
        return written(refusal, at) if refusal else region.set_writer(writer, written)

    change = unfenced_topic.put(UnfencedTopic(topic, placed.id, superseder.generation))
    return region.put(change, recorded)
