"""How long the parts of a frame may be, whoever sends it. Texts and lists without a limit here share the frame's."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

NAME_CHARACTERS_MAX: Final = 249  # Kafka's limit for topics; here for links and clusters, too
HOST_CHARACTERS_MAX: Final = 255
TEXT_BYTES_MAX: Final = (
    32_767  # of a string in the records of groups: their ids, and what they commit besides offsets
)
PARTITIONS_MAX: Final = 1 << 20  # of a topic
CONFIGS_MAX: Final = 1_000  # of a topic, or of a command; Kafka has some thirty for a topic
GROUP_OFFSETS_MAX: Final = 20_000  # of a frame
REASON_CHARACTERS_MAX: Final = 1_000
LINEAGE_MAX: Final = 100_000  # leader epochs of a partition
ORIGINS_MAX: Final = 1_000  # regions in a chain
FRAME_BYTES_MAX: Final = 16 << 20  # of any frame but a chunk


class FrameError(ValueError):
    """Bytes that are not a frame: the stream cannot be used any more."""


def name(text: str) -> str:
    """The name of a topic, a link or a cluster. Raises FrameError."""
    if len(text) > NAME_CHARACTERS_MAX:
        raise FrameError(f"a name of {len(text)} characters, above {NAME_CHARACTERS_MAX}")
    return text


def group_text(text: str) -> str:
    """A group id, or the metadata of a commit. Raises FrameError."""
    if len(text) > TEXT_BYTES_MAX or len(text.encode()) > TEXT_BYTES_MAX:
        raise FrameError(f"a text of {len(text)} characters, above {TEXT_BYTES_MAX} bytes")
    return text


def partition(number: int) -> int:
    """Raises FrameError."""
    if not 0 <= number < PARTITIONS_MAX:
        raise FrameError(f"a partition {number}")
    return number


def partition_count(number: int) -> int:
    """Raises FrameError."""
    if not 0 <= number <= PARTITIONS_MAX:
        raise FrameError(f"{number} partitions")
    return number


def address(text: str) -> str:
    """`host:port`. Raises FrameError."""
    host, _, port = text.rpartition(":")
    is_port = port.isascii() and port.isdigit() and len(port) <= 5 and 0 < int(port) < 1 << 16
    if not host or len(host) > HOST_CHARACTERS_MAX or not is_port:
        raise FrameError(f"an address that is none, of {len(text)} characters")
    return text


def reason(text: str) -> str:
    """Cut short: it is only shown, and becomes a line of the log."""
    if len(text) <= REASON_CHARACTERS_MAX:
        return text
    return f"{text[:REASON_CHARACTERS_MAX]}... ({len(text)} characters)"


def listed(items: Sequence[Any], length_max: int) -> Sequence[Any]:
    """Raises FrameError for a list that is too long."""
    if len(items) > length_max:
        raise FrameError(f"a list of {len(items)}, above {length_max}")
    return items


def configs(given: Mapping[str, str]) -> dict[str, str]:
    """Settings by name. Raises FrameError for too many."""
    if len(given) > CONFIGS_MAX:
        raise FrameError(f"{len(given)} settings, above {CONFIGS_MAX}")
    return dict(given)
