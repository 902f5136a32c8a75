"""How mirror topics differ from their sources in partitions and settings, and why each difference stands."""

from collections.abc import Iterator

from brokers.metadata.commands.config_commands import ResourceType
from linker.administration.known_names import require_all_written
from linker.administration.registry import Registry, find_link, shown_state
from linker.answers import ConfigDrift, Drift, SyncClass
from linker.commands import DescribeDrift
from linker.config_values import ALWAYS_SYNCED, SYNCABLE
from linker.control.cluster_link import ClusterLink
from linker.control.mirror_topic import MirrorTopic
from linker.frames import TopicState
from linker.records.mirror_state import LIVE, MirrorState
from linker.region_client import RegionClient

PARTITIONS = "partitions"
_OWN = "each region has its own"


def describe_drift(region: RegionClient, registry: Registry, command: DescribeDrift) -> Drift:
    """Of the live mirror topics of a link, as far as their sources have said what they have. Raises LinkRefusal for
    one that is named and is not."""
    link = find_link(registry, command.link)
    mirrors = [
        mirror
        for topic, mirror in sorted(link.mirrors.items())
        if mirror.record.state in LIVE and topic in (command.topics or (topic,))
    ]
    written = [mirror.topic for mirror in mirrors]
    require_all_written(region.view.image, link.name, command.topics, written)
    unknown = tuple(mirror.topic for mirror in mirrors if mirror.source_state is None)
    found = (
        difference
        for mirror in mirrors
        if mirror.source_state is not None
        for difference in _of(region, link, mirror, mirror.source_state)
    )
    return Drift(tuple(found), unknown)


def _of(
    region: RegionClient, link: ClusterLink, mirror: MirrorTopic, state: TopicState
) -> Iterator[ConfigDrift]:
    if state.partition_count != mirror.partition_count:
        counts = str(state.partition_count), str(mirror.partition_count)
        why = _why_behind(link, mirror)
        yield ConfigDrift(mirror.topic, PARTITIONS, *counts, SyncClass.ALWAYS, why)
    here = region.view.image.config((ResourceType.TOPIC, mirror.topic))
    for name in sorted({*state.configs, *here}):
        values = state.configs.get(name), here.get(name)
        if values[0] == values[1]:
            continue
        sync_class = class_of(name)
        is_synced = name in link.config.value("topic.config.sync.include")
        why = _why_behind(link, mirror) if is_synced else _why_own(sync_class)
        yield ConfigDrift(mirror.topic, name, *values, sync_class, why)


def class_of(name: str) -> SyncClass:
    """Whether a topic's setting can be kept in step."""
    if name in ALWAYS_SYNCED:
        return SyncClass.ALWAYS
    return SyncClass.WHEN_NAMED if name in SYNCABLE else SyncClass.NEVER


def _why_own(sync_class: SyncClass) -> str:
    if sync_class is SyncClass.WHEN_NAMED:
        return "topic.config.sync.include does not name it: the mirror keeps what it has"
    return _OWN


def _why_behind(link: ClusterLink, mirror: MirrorTopic) -> str:
    if mirror.config_trouble:
        return mirror.config_trouble
    shown = shown_state(link, mirror)
    if shown is not MirrorState.ACTIVE:
        return f"the mirror is {shown.value}: it is set when it is ACTIVE again"
    return "it is being set"
