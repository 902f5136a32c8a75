"""Changes of a mirror topic's writer: each names the record that it was decided upon.

A link coordinator that stood still may send one when another coordinator has done the same long ago, and the link may
write the topic again by then, as another mirror. The controller refuses what was decided upon another record.
"""

from collections.abc import Mapping

from brokers.ids import LeaderEpoch
from brokers.metadata.commands.mirror_commands import SetTopicWriter
from linker.control.mirror_topic import MirrorTopic
from linker.records.mirror_record import MIRROR_KIND
from linker.region_client import RegionClient


def given_to_producers(
    region: RegionClient, mirror: MirrorTopic, leader_epochs: Mapping[int, LeaderEpoch]
) -> SetTopicWriter:
    """The link is the writer no more. `leader_epochs`, by partition: the lowest of what producers write."""
    link = mirror.record.link
    return _change(region, mirror, expected=link, writer=None, leader_epochs=leader_epochs)


def taken_by_link(
    region: RegionClient, mirror: MirrorTopic, expected: str | None
) -> SetTopicWriter:
    """The link is the only writer of what producers write, or nobody since another region took it over."""
    link = mirror.record.link
    return _change(region, mirror, expected=expected, writer=link, leader_epochs={})


def _change(
    region: RegionClient,
    mirror: MirrorTopic,
    *,
    expected: str | None,
    writer: str | None,
    leader_epochs: Mapping[int, LeaderEpoch],
) -> SetTopicWriter:
    topic = region.view.image.topics_by_name.get(mirror.topic)
    return SetTopicWriter(
        topic=mirror.topic,
        expected_writer=expected,
        writer=writer,
        leader_epochs=leader_epochs,
        topic_id=None if topic is None else topic.id,
        expected_versions={(MIRROR_KIND, mirror.topic): mirror.version},
    )
