"""What was promoted or failed over is taken over: the link says so to its source, which makes those topics read-only.

The link coordinator tells the first broker of the source that it reaches, on each stream that opens and whenever a
topic is added. A source that was unreachable at the failover learns it before its link serves anything else.
"""

from collections.abc import Iterable, Iterator

from linker.control.link_settings import LinkSettings
from linker.control.mirror_topic import MirrorTopic
from linker.control.source_brokers import SourceBrokers
from linker.frames import TOPICS_MAX, Superseded, SupersededTopic
from linker.protocol_versions import SUPERSEDES_FROM
from linker.records.mirror_state import MirrorState
from linker.region_client import Effects, RegionClient


class Superseding:
    """Of one link. `told` are the topics that the source was told of on the stream that is open."""

    def __init__(self, region: RegionClient, link: LinkSettings, sources: SourceBrokers) -> None:
        self._region = region
        self._link = link
        self._sources = sources
        self._version = 0  # of the protocol, on the first stream
        self._told: set[SupersededTopic] = set()

    def opened(self, version: int) -> None:
        """The first stream is another one."""
        self._version = version
        self._told.clear()

    def tell(self, mirrors: Iterable[MirrorTopic]) -> Effects:
        """Those of these mirrors that are stopped, unless the source knows."""
        is_able = self._sources.is_open and self._version >= SUPERSEDES_FROM
        if not (is_able and self._region.is_coordinator and self._link.config.fences_source):
            return []
        new = list(self._untold(mirrors))
        self._told.update(new)
        frames = (new[first : first + TOPICS_MAX] for first in range(0, len(new), TOPICS_MAX))
        sender = self._sources.first.sender
        return [effect for each in frames for effect in sender.send(Superseded(tuple(each)))]

    def _untold(self, mirrors: Iterable[MirrorTopic]) -> Iterator[SupersededTopic]:
        for mirror in mirrors:
            record = mirror.record
            topic = SupersededTopic(
                record.source_topic, record.source_topic_id.bytes, record.generation
            )
            if record.state is MirrorState.STOPPED and topic not in self._told:
                yield topic
