"""Resets as CSV, in the columns of `kafka-consumer-groups --export`.

They are topic,partition,offset; before them the group, where several are reset.
"""

import csv
import io
from collections.abc import Mapping
from pathlib import Path

from brokers.ids import OFFSET_MAX, Offset, TopicPartition
from federation.commands.answers import Failure

Plan = dict[str, dict[TopicPartition, Offset]]


def export(plan: Mapping[str, Mapping[TopicPartition, Offset]]) -> str:
    written = io.StringIO()
    rows = csv.writer(written, lineterminator="\n")
    for group, offsets in plan.items():
        named = [] if len(plan) == 1 else [group]
        for name, offset in sorted(offsets.items()):
            rows.writerow([*named, name.topic, name.partition, offset])
    return written.getvalue()


def read(path: Path, groups: list[str]) -> Plan:
    """Raises Failure for a line that is none, or of a group that is not named."""
    plan: Plan = {group: {} for group in groups}
    number = 0
    try:
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.reader(file):
                number += 1
                if not row:
                    continue
                group, name, offset = _line(row, groups)
                if name in plan[group]:
                    raise ValueError(f"{name} is there twice")
                plan[group][name] = offset
    except (ValueError, UnicodeDecodeError, OSError, csv.Error) as error:
        columns = "topic,partition,offset" if len(groups) == 1 else "group,topic,partition,offset"
        raise Failure(f"{path}, line {number}: {error}", hint=f"each line is {columns}") from error
    return plan


def _line(row: list[str], groups: list[str]) -> tuple[str, TopicPartition, Offset]:
    cells = [cell.strip() for cell in row]
    if len(cells) == 3 and len(groups) == 1:
        cells = [groups[0], *cells]
    if len(cells) != 4:
        raise ValueError(f"{len(row)} columns")
    group, topic, partition, offset = cells
    if group not in groups:
        raise ValueError(f"the group {group} is not among those to be reset")
    if not 0 <= int(offset) <= OFFSET_MAX or int(partition) < 0:
        raise ValueError(f"{partition},{offset} is no partition and offset")
    return group, TopicPartition(topic, int(partition)), int(offset)
