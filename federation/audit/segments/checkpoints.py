"""Kafka's checkpoint files: an offset per partition, as text.

A version line (0), a count line, then a line `topic partition offset` each. Brokers write them every few seconds, so a
high watermark found here is a lower bound.
"""

import os

Key = tuple[str, int]
"""Topic and partition."""

HIGH_WATERMARKS = "replication-offset-checkpoint"
LOG_STARTS = "log-start-offset-checkpoint"
CLEANER_OFFSETS = "cleaner-offset-checkpoint"
COMPLETE_FROM = "complete-from-offset-checkpoint"
MARKERS_FROM = "markers-from-offset-checkpoint"
RECOVERY_POINTS = "recovery-point-offset-checkpoint"
NAMES = (HIGH_WATERMARKS, LOG_STARTS, CLEANER_OFFSETS, COMPLETE_FROM, MARKERS_FROM, RECOVERY_POINTS)
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"


def read(data_dir: str, name: str) -> dict[Key, int]:
    """The file's offsets, none when there is no file yet; raises ValueError when it is not in Kafka's format."""
    try:
        with open(os.path.join(data_dir, name), encoding="utf-8") as file:
            return parse(file.read())
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ValueError(f"{os.path.join(data_dir, name)}: {error}") from error


def parse(text: str) -> dict[Key, int]:
    """Offsets by topic and partition; raises ValueError. Kafka makes each file before it has anything to write."""
    if not text:
        return {}
    lines = text.splitlines()
    if len(lines) < 2 or lines[0].strip() != "0" or not lines[1].strip().isdigit():
        raise ValueError("no checkpoint of version 0")
    rows = [line.split() for line in lines[2:] if line.strip()]
    if len(rows) != int(lines[1]) or any(len(row) != 3 for row in rows):
        raise ValueError(f"{lines[1]} entries announced, {len(rows)} lines found")
    return {(topic, int(partition)): int(offset) for topic, partition, offset in rows}
