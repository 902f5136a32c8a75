"""What the metadata log says of one link, as of now."""

from brokers.ids import Offset
from linker.config import LinkConfig, parse
from linker.frames import Hello
from linker.records.link_state import LinkRecord


class LinkSettings:
    """`record` as of document `version`, and its configuration, parsed. `adopt` is the only way to change it."""

    def __init__(self, record: LinkRecord, version: Offset) -> None:
        self.name = record.name
        self.record = record
        self.version = version
        self.config: LinkConfig = parse(record.configs)

    def adopt(self, record: LinkRecord, version: Offset) -> LinkConfig:
        """The metadata log has a newer record -> the configuration before."""
        before = self.config
        self.record, self.version = record, version
        self.config = parse(record.configs)
        return before

    def hello(self, cluster_id: str) -> Hello:
        """The first frame to the source; `cluster_id` is that of the region in which the link lives."""
        return Hello(
            self.name,
            self.record.link_id,
            cluster_id,
            self.record.source_cluster_id,
            self.config.number("replica.fetch.max.bytes"),
        )
