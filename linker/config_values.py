"""What a setting of a link may be: each of these reads its text, and raises ValueError with what it may be instead."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from linker.filters import EVERYTHING, Filter, parse_filters, parse_weights

KIB: Final = 1 << 10
MIB: Final = 1 << 20
PREFIX_LENGTH_MAX: Final = 12

# Copied also if `topic.config.sync.include` leaves them out: with another value the mirror could not hold the source's
# batches, or would not be the same topic to a reader.
CLEANUP_POLICY: Final = "cleanup.policy"
ALWAYS_SYNCED: Final = (CLEANUP_POLICY, "max.message.bytes", "message.timestamp.type")
SYNCED_BY_DEFAULT: Final = (
    *ALWAYS_SYNCED, "delete.retention.ms", "retention.bytes", "retention.ms", "segment.bytes", "segment.ms",
)  # fmt: skip
# All keys but these are `INDEPENDENT_OF_SOURCE` (`brokers/metadata/configs/config_keys.py`). Some have an effect only
# once the mirror is a topic of producers: a mirror has its source's batches, and seals segments where the source does.
SYNCABLE: Final = (
    *SYNCED_BY_DEFAULT,
    "compression.gzip.level",
    "compression.lz4.level",
    "compression.type",
    "compression.zstd.level",
    "max.compaction.lag.ms",
    "message.timestamp.after.max.ms",
    "message.timestamp.before.max.ms",
    "min.cleanable.dirty.ratio",
    "min.compaction.lag.ms",
    "segment.index.bytes",
    "segment.jitter.ms",
)

_ADDRESS = re.compile(r"^(\[[0-9a-fA-F:]+\]|[^:/\[\]\s]+):([0-9]{1,5})$")


def addresses(text: str) -> tuple[str, ...]:
    addresses = tuple(part.strip() for part in text.split(",") if part.strip())
    wrong = [
        one
        for one in addresses
        if not (found := _ADDRESS.match(one)) or not 0 < int(found[2]) < 65536
    ]
    if wrong or not addresses:
        raise ValueError("give HOST:PORT, several separated by commas")
    return addresses


def flag(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError("true or false")
    return text.lower() == "true"


def number(low: int, high: int = 2**31 - 1) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not re.fullmatch(r"-?[0-9]{1,19}", text) or not low <= int(text) <= high:
            raise ValueError(f"a whole number from {low} to {high}")
        return int(text)

    return parse


def choice(*choices: str, known: tuple[str, ...] = ()) -> Callable[[str], str]:
    """`known` are values of Cluster Linking that are not supported yet."""

    def parse(text: str) -> str:
        if text in known:
            raise ValueError(f"{text} is not supported yet; supported: {', '.join(choices)}")
        if text not in choices:
            raise ValueError(f"one of {', '.join((*choices, *known))}")
        return text

    return parse


def only(value: str, needs: str) -> Callable[[str], str]:
    """Of what does not exist yet: the value that asks for nothing."""

    def parse(text: str) -> str:
        if text.lower() != value:
            raise ValueError(f"needs {needs}, which there is not yet; leave it out")
        return text

    return parse


def prefix(text: str) -> str:
    if len(text) > PREFIX_LENGTH_MAX or not re.fullmatch(r"[A-Za-z0-9._-]*", text):
        raise ValueError(f"at most {PREFIX_LENGTH_MAX} of A-Z a-z 0-9 . _ -")
    return text


def start(text: str) -> str | int:
    """earliest, latest, or milliseconds since 1970."""
    if text in ("earliest", "latest"):
        return text
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("earliest, latest or a time as 2026-01-31T08:30:00Z") from None
    at = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    if at.timestamp() < 0:
        raise ValueError("a time after 1970")
    return int(at.timestamp() * 1000)


def synced(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if wrong := [name for name in names if name not in SYNCABLE]:
        raise ValueError(
            f"cannot be kept in step: {', '.join(wrong)}; can be: {', '.join(SYNCABLE)}"
        )
    return tuple(dict.fromkeys((*ALWAYS_SYNCED, *names)))


def groups(text: str) -> tuple[Filter, ...]:
    return parse_filters(text, "groupFilters") if text else EVERYTHING


def topic_filters(text: str) -> tuple[Filter, ...]:
    return parse_filters(text, "topicFilters") if text else ()


def priorities(text: str) -> tuple[tuple[Filter, int], ...]:
    return parse_weights(text, "topicPriorities") if text else ()
