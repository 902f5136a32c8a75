"""Topics of this region that another one has taken over: they are read-only until they are restored or unfenced."""

from collections.abc import Iterator
from typing import Final

from brokers.ids import id_text
from brokers.metadata.commands.mirror_commands import superseder_of
from brokers.metadata.image.image import TopicImage
from brokers.region import RegionView
from linker.administration.registry import Respond
from linker.answers import TakenOverTopic, TakenOverTopics
from linker.sliced_work import Job, SlicedWork, Step

TOPICS_AT_ONCE: Final = 200
SLICE_COST: Final = 100


def list_taken_over(view: RegionView, work: SlicedWork, respond: Respond) -> Job:
    """By name, as the metadata says that this broker has."""
    found = []
    for some in _slices(list(view.image.topics_by_name.values())):
        found += [one for one in map(_taken_over, some) if one is not None]
        yield Step(SLICE_COST, [])
    yield Step(1, respond(TakenOverTopics(tuple(sorted(found))), work.now))


def _slices(topics: list[TopicImage]) -> Iterator[list[TopicImage]]:
    for start in range(0, len(topics), TOPICS_AT_ONCE):
        yield topics[start : start + TOPICS_AT_ONCE]


def _taken_over(topic: TopicImage) -> TakenOverTopic | None:
    superseder = superseder_of(topic.writer)
    if superseder is None:
        return None
    return TakenOverTopic(
        topic.name, id_text(topic.id), superseder.cluster_id, superseder.generation
    )
