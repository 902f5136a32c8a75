"""The names of the files of a log."""

from brokers.ids import Offset

LOG, INDEX, TIME_INDEX, SNAPSHOT = ".log", ".index", ".timeindex", ".snapshot"
DIGEST = ".digest"  # ours; Kafka ignores it
CLEANED = ".cleaned"  # behind the names of a cleaned segment that is being written, as Kafka has it
_DIGITS = 20


def file_name(offset: Offset, suffix: str) -> str:
    """Kafka's name of a log's file: the offset in 20 digits, and the suffix."""
    return f"{offset:0{_DIGITS}d}{suffix}"


def offset_in_name(name: str, suffix: str) -> Offset | None:
    """The offset in a file's name, if it has this suffix."""
    digits = name.removesuffix(suffix)
    if digits == name or len(digits) != _DIGITS or not (digits.isascii() and digits.isdigit()):
        return None
    return int(digits)
