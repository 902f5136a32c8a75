"""The broker's settings of compaction: those in the node's file, or dynamic ones, as in Kafka."""

from typing import NamedTuple

from brokers.compaction import CleaningLimits
from brokers.config.broker_config import BrokerConfig
from brokers.metadata.configs.effective_configs import dynamic_config_synonyms
from brokers.metadata.image.image import Image


class CleanerSettings(NamedTuple):
    """`limits` are of one cleaning: its share of what all `threads` may use together."""

    threads: int
    backoff_ms: int
    limits: CleaningLimits


def cleaner_settings(image: Image, config: BrokerConfig) -> CleanerSettings:
    """The values in force now. A cleaning that has begun keeps those that it began with."""

    def value(name: str, static: float) -> str:
        dynamic = next(dynamic_config_synonyms(image, config.node_id, name), None)
        return str(static) if dynamic is None or dynamic.value is None else dynamic.value

    threads = int(value("log.cleaner.threads", config.log_cleaner_threads))
    memory = value("log.cleaner.dedupe.buffer.size", config.log_cleaner_dedupe_buffer_size)
    load = value("log.cleaner.io.buffer.load.factor", config.log_cleaner_io_buffer_load_factor)
    chunk = value("log.cleaner.io.buffer.size", config.log_cleaner_io_buffer_size)
    rate = value("log.cleaner.io.max.bytes.per.second", config.log_cleaner_io_max_bytes_per_second)
    limits = CleaningLimits(
        map_bytes=int(memory) // threads,
        load_factor=float(load),
        io_bytes=max(1, int(chunk) // threads),
        bytes_per_second=float(rate) / threads,
    )
    return CleanerSettings(
        threads, int(value("log.cleaner.backoff.ms", config.log_cleaner_backoff_ms)), limits
    )
