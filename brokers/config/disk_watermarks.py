"""How much of a disk is kept free: below one watermark an operator is warned, below the other producers are refused.

Kafka has no such limit: a full disk takes the log directory offline, or ends the broker.
"""

from collections.abc import Iterator
from enum import IntEnum
from typing import Final, NamedTuple, Protocol

GIB: Final = 1 << 30
# Where nothing is set: bytes on a large disk, a share of a small one.
_WARN_DEFAULT: Final = (10 * GIB, 10)
_REFUSE_DEFAULT: Final = (1 * GIB, 2)


class WatermarkSettings(Protocol):
    """The settings of a node that are read here."""

    @property
    def disk_watermark_warn_free_bytes(self) -> int | None: ...

    @property
    def disk_watermark_warn_free_percent(self) -> int | None: ...

    @property
    def disk_watermark_refuse_free_bytes(self) -> int | None: ...

    @property
    def disk_watermark_refuse_free_percent(self) -> int | None: ...


class DiskLevel(IntEnum):
    """The watermark that the free space of a log directory is below."""

    ROOM = 0
    WARN = 1
    REFUSE = 2  # producers are refused, and no new replica is placed there
    FULL = 3  # followers do not copy either: half of what the second watermark keeps free is gone


class Watermarks(NamedTuple):
    """Free bytes of one disk."""

    warn: int
    refuse: int

    def level(self, free: int, before: DiskLevel) -> DiskLevel:
        """A level is left only once a tenth more is free, so that nothing swings around a watermark."""
        if free < _raised(self.refuse // 2, before >= DiskLevel.FULL):
            return DiskLevel.FULL
        if free < _raised(self.refuse, before >= DiskLevel.REFUSE):
            return DiskLevel.REFUSE
        if free < _raised(self.warn, before >= DiskLevel.WARN):
            return DiskLevel.WARN
        return DiskLevel.ROOM


NO_WATERMARKS: Final = Watermarks(0, 0)


def watermarks(config: WatermarkSettings, total: int) -> Watermarks:
    """The watermarks of a disk of `total` bytes."""
    refuse = _free(
        config.disk_watermark_refuse_free_bytes,
        config.disk_watermark_refuse_free_percent,
        _REFUSE_DEFAULT,
        total,
    )
    warn = _free(
        config.disk_watermark_warn_free_bytes,
        config.disk_watermark_warn_free_percent,
        _WARN_DEFAULT,
        total,
    )
    return Watermarks(max(warn, refuse), refuse)


def watermark_problems(config: WatermarkSettings, path: str, total: int) -> Iterator[str]:
    """A disk that could never have so much free."""
    given = {
        "disk.watermark.warn.free.bytes": config.disk_watermark_warn_free_bytes,
        "disk.watermark.refuse.free.bytes": config.disk_watermark_refuse_free_bytes,
    }
    for name, size in given.items():
        if size is not None and size >= total:
            yield (
                f"{name}: {size} bytes can't be free in {path}, whose disk has {total} in all; "
                "give less than that, or a share of the disk in percent"
            )


def _free(size: int | None, percent: int | None, default: tuple[int, int], total: int) -> int:
    """Where bytes and percent are given, the one that keeps more free."""
    if size is None and percent is None:
        return min(default[0], total * default[1] // 100)
    return max(size or 0, total * (percent or 0) // 100)


def _raised(watermark: int, is_below: bool) -> int:
    return watermark + watermark // 10 if is_below else watermark
