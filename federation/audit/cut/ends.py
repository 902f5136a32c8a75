"""Where the logs of a region end and start: as it says itself, or by the checkpoint files of its directories.

Brokers write checkpoints every few seconds, so a high watermark out of one is a lower bound.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from federation.audit.cut.bounds import AuditedRegion
from federation.audit.cut.listed_offsets import Unanswered, Which, offsets
from federation.audit.segments import checkpoints
from federation.audit.segments.checkpoints import Key
from federation.audit.segments.data_dir import DataDir
from federation.audit.segments.replica_log import PARTITION_FOLDER


class Ends(NamedTuple):
    """High watermarks of a region, and `source`: "listed" by the region or from its "checkpoint" files."""

    offsets: dict[Key, int]
    source: str
    reason: str

    @property
    def is_listed(self) -> bool:
        return self.source == "listed"


def ends(region: AuditedRegion, directories: Sequence[DataDir]) -> Ends:
    reason = "no address given"
    if region.bootstrap:
        try:
            listed = offsets(region.bootstrap, _partitions(region, directories), Which.LATEST)
            return Ends(listed, "listed", "")
        except Unanswered as error:
            reason = str(error)
    read = by_directory(directories, checkpoints.HIGH_WATERMARKS)
    return Ends(_furthest(read.values()), "checkpoint", reason)


def listed_starts(region: AuditedRegion, found: Ends) -> dict[Key, int]:
    """Log starts, as the region says them; none where it does not answer."""
    if not found.is_listed:
        return {}
    try:
        return offsets(region.bootstrap, list(found.offsets), Which.EARLIEST)
    except Unanswered:  # the region died after its ends were listed: read its checkpoint files
        return {}


def by_directory(directories: Sequence[DataDir], name: str) -> dict[str, dict[Key, int]]:
    """The checkpoint file of that name in each directory, by path; raises ValueError for a damaged one."""
    return {one.path: checkpoints.read(one.path, name) for one in directories}


def _furthest(read: Iterable[Mapping[Key, int]]) -> dict[Key, int]:
    found: dict[Key, int] = {}
    for each in read:
        for key, offset in each.items():
            found[key] = max(offset, found.get(key, 0))
    return found


def _partitions(region: AuditedRegion, directories: Sequence[DataDir]) -> list[Key]:
    """Every partition folder, and every partition that the region says it has."""
    names = (
        PARTITION_FOLDER.fullmatch(name) for one in directories for name in os.listdir(one.path)
    )
    keys = {(name["topic"], int(name["partition"])) for name in names if name}
    said = region.facts.partitions().keys() if region.facts is not None else set()
    return sorted(key for key in keys | said if not key[0].startswith("__") or key in said)
