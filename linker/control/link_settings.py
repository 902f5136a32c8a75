"""One link's record in the metadata log, and its configuration."""

from brokers.ids import Offset
from linker.config import LinkConfig, parse
from linker.frames import Hello
from linker.records.link_state import LinkRecord


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

    def hello(self, cluster_id: str) -> Hello:
        """The first frame to the source; `cluster_id` is that of the region in which the link lives."""
        return Hello(
            self.name,
            self.record.link_id,
            cluster_id,
            self.record.source_cluster_id,
            self.config.number("replica.fetch.max.bytes"),
        )
