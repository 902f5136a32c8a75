"""What a region says of itself to an audit: from its metadata alone, so that a stopped region can be read, too."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from brokers.ids import Instant
from brokers.metadata.image.image import Image
from linker.administration.registry import Respond
from linker.answers import DescribedRegion, DescribedTopic
from linker.records.hole_ledger import LEDGER_KINDS, decode_hole
from linker.records.mirror_record import MIRROR_KIND, decode_mirror
from linker.sliced_work import Job, SlicedWork, Step

Configs = Callable[[str], Mapping[str, str]]
TOPIC_COST: Final = 30


def region_facts(image: Image, configs: Configs, now: Instant) -> DescribedRegion:
    """`configs` gives a topic's effective configurations; `now` is the region's clock."""
    return _facts(image, tuple(_topics(image, configs)), now)


def describe_region(image: Image, configs: Configs, work: SlicedWork, respond: Respond) -> Job:
    """The same in slices."""
    topics = []
    for topic in _topics(image, configs):
        topics.append(topic)
        yield Step(TOPIC_COST, [])
    yield Step(1, respond(_facts(image, tuple(topics), work.now), work.now))


def _topics(image: Image, configs: Configs) -> Iterator[DescribedTopic]:
    for name, topic in sorted(image.topics_by_name.items()):
        yield DescribedTopic(topic, configs(name))


def _facts(image: Image, topics: tuple[DescribedTopic, ...], now: Instant) -> DescribedRegion:
    documents = sorted(image.documents.items())
    return DescribedRegion(
        cluster_id=image.cluster_id,
        at=now,
        topics=topics,
        mirrors=tuple(
            decode_mirror(name, found.body)
            for (kind, name), found in documents
            if kind == MIRROR_KIND
        ),
        holes=tuple(
            decode_hole(found.body) for (kind, _), found in documents if kind in LEDGER_KINDS
        ),
    )
