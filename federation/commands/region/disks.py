"""The disks of a region's brokers: log directories that failed, and those that are short of space.

A broker tells how much is free, and its watermarks are in its configuration; Kafka's brokers have none.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from brokers.config.disk_watermarks import DiskLevel, watermarks
from brokers.errors import KafkaError
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.log_dirs import DescribeLogDirsRequest
from federation.commands.region.client import QUICK_SECONDS, Client, NoAnswer
from federation.commands.region.description import BrokerDescription
from federation.commands.region.requests import broker_settings

AT_ONCE: Final = 16  # brokers
SIZES_FROM: Final = 4  # version of DescribeLogDirs (KIP-827)
_UNITS: Final = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")


@dataclass(frozen=True, slots=True)
class DiskDescription:
    """A log directory of a broker; `error` is the name of the one that the broker reports for it, if any."""

    broker: int
    path: str
    total_bytes: int
    usable_bytes: int
    level: DiskLevel = DiskLevel.ROOM
    error: str = ""

    @property
    def is_well(self) -> bool:
        return self.level is DiskLevel.ROOM and not self.error

    @property
    def trouble(self) -> str:
        if self.error:
            return f"broker {self.broker}: {self.path} is offline ({self.error})"
        what = "producers are refused" if self.level >= DiskLevel.REFUSE else "space is short"
        free, total = in_units(self.usable_bytes), in_units(self.total_bytes)
        return f"broker {self.broker}: {self.path}: {what}, {free} of {total} are free"


def disks_of(brokers: Iterable[BrokerDescription]) -> list[DiskDescription]:
    """Each broker is asked for itself. Those that do not answer, or are too old to tell, are left out."""
    with ThreadPoolExecutor(AT_ONCE) as threads:
        return [disk for disks in threads.map(_asked, brokers) for disk in disks]


def _asked(broker: BrokerDescription) -> list[DiskDescription]:
    try:
        with Client(f"{broker.host}:{broker.port}", QUICK_SECONDS) as client:
            return list(_disks(client, broker.id))
    except NoAnswer:
        return []


def _disks(client: Client, broker: int) -> Iterator[DiskDescription]:
    key = ApiKey.DESCRIBE_LOG_DIRS
    if not client.serves(key) or client.version(key) < SIZES_FROM:
        return
    answer = client.ask(ApiKey.DESCRIBE_LOG_DIRS, DescribeLogDirsRequest(topics=[]))
    settings = _settings(client, broker)
    yield from (_described(broker, each, settings) for each in answer.results)


class _Settings(NamedTuple):
    """The settings of a broker that make its watermarks."""

    disk_watermark_warn_free_bytes: int | None
    disk_watermark_warn_free_percent: int | None
    disk_watermark_refuse_free_bytes: int | None
    disk_watermark_refuse_free_percent: int | None


def _settings(client: Client, broker: int) -> _Settings | None:
    """None of a broker that has no watermarks."""
    names = [each.replace("_", ".") for each in _Settings._fields]
    found = broker_settings(client, broker, names)
    if not found.keys() >= set(names):
        return None
    return _Settings(*(None if (value := found[name]) is None else int(value) for name in names))


def _described(broker: int, result: Any, settings: _Settings | None) -> DiskDescription:
    path, total, usable = result.log_dir, result.total_bytes, result.usable_bytes
    if result.error_code:
        error = KafkaError(result.error_code).name
        return DiskDescription(broker, path, total, usable, error=error)
    level = DiskLevel.ROOM
    if settings is not None and total > 0:
        level = watermarks(settings, total).level(usable, level)
    return DiskDescription(broker, path, total, usable, level)


def in_units(size: int) -> str:
    """`12.3 GiB`"""
    amount, unit = float(size), 0
    while amount >= 1024 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1024, unit + 1
    return f"{size} bytes" if unit == 0 else f"{amount:.1f} {_UNITS[unit]}"
