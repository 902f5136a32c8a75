"""What a region says of itself to an audit: from its metadata alone, so that a stopped region can be read, too."""

from collections.abc import Callable, Mapping

from brokers.ids import Instant
from brokers.metadata.image.image import Image
from linker.commands import DescribedRegion, DescribedTopic
from linker.records.hole_ledger import HOLE_KIND, decode_hole
from linker.records.mirror_state import MIRROR_KIND, decode_mirror


def region_facts(
    image: Image, configs: Callable[[str], Mapping[str, str]], now: Instant
) -> DescribedRegion:
    """`configs` gives a topic's effective configurations; `now` is the region's clock."""
    documents = sorted(image.documents.items())
    return DescribedRegion(
        cluster_id=image.cluster_id,
        at=now,
        topics=tuple(
            DescribedTopic(topic, configs(name))
            for name, topic in sorted(image.topics_by_name.items())
        ),
        mirrors=tuple(
            decode_mirror(name, found.body)
            for (kind, name), found in documents
            if kind == MIRROR_KIND
        ),
        holes=tuple(decode_hole(found.body) for (kind, _), found in documents if kind == HOLE_KIND),
    )
