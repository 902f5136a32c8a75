"""One link's record in the metadata log, and its configuration."""

from dataclasses import replace
from typing import Final

from brokers.effects import Changed
from brokers.errors import Refusal
from brokers.ids import Instant, Offset
from brokers.metadata.commands.document_commands import DocumentChange, PutDocuments
from linker.config import LinkConfig, parse
from linker.frames import ACCEPTED_CHUNK_BYTES_MAX, Hello, Welcome
from linker.protocol_versions import PACES_FROM, SUPERSEDES_FROM
from linker.records.link_state import LINK_KIND, LinkRecord
from linker.region_client import Effects, RegionClient

RETRY_MS: Final = 500


class LinkSettings:
    """`record` is the document of version `version`; `config` is its configuration. Only `adopt` changes them."""

    def __init__(self, record: LinkRecord, version: Offset) -> None:
        self.name = record.name
        self.record = record
        self.version = version
        self.config: LinkConfig = parse(record.configs)

    def adopt(self, record: LinkRecord, version: Offset) -> LinkConfig:
        """The metadata log has a newer record. Returns the configuration before."""
        before = self.config
        self.record, self.version = record, version
        self.config = parse(record.configs)
        return before

    def hello(self, region: RegionClient) -> Hello:
        """The first frame to the source, from the region in which the link lives."""
        chunk_bytes = self.config.number("replica.fetch.max.bytes")
        if self.config.is_dialed:
            chunk_bytes = min(chunk_bytes, ACCEPTED_CHUNK_BYTES_MAX)
        return Hello(
            self.name,
            self.record.link_id,
            region.view.cluster_id,
            self.record.source_cluster_id,
            chunk_bytes,
            broker_id=region.view.broker_id,
            pace=self.config.pace,
            chunk_bytes_max=region.limits.chunk_bytes_max,
        )

    def not_done_by(self, source: Welcome) -> Effects:
        """What an older source does not do is said."""
        names = list(self.config.paces) if source.version < PACES_FROM else []
        if self.config.fences_source and source.version < SUPERSEDES_FROM:
            names.append("source.fencing.enable")
        if not names:
            return []
        because = "the source runs a release that does not know them: upgrade it"
        return [Changed(f"link {self.name}", f"without {', '.join(names)}", because)]


def record_other_end(region: RegionClient, settings: LinkSettings, cluster_id: str) -> Effects:
    """From now on only this region is accepted at the other end."""
    known = settings.record
    if known.source_cluster_id == cluster_id:
        return []
    record = replace(known, source_cluster_id=cluster_id)
    item = DocumentChange(
        kind=LINK_KIND,
        name=settings.name,
        body=record.encode(),
        expected_version=settings.version,
    )

    def recorded(result: object, now: Instant) -> Effects:
        if not isinstance(result, Refusal):
            return []
        region.timers.set(now + RETRY_MS, again)
        return [Changed(f"link {settings.name}", "other end not recorded", result.because)]

    def again(_: Instant) -> Effects:
        """While nobody else has recorded one, and this link is still there."""
        found = region.view.image.documents.get((LINK_KIND, settings.name))
        is_there = found is not None and found.version == settings.version
        is_due = is_there and region.is_coordinator and not settings.record.source_cluster_id
        return record_other_end(region, settings, cluster_id) if is_due else []

    return [region.propose(PutDocuments((item,)), recorded)]
