"""One partition as every command shows it: `region partitions`, `topic describe`."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, Final

from federation.commands.region.description import PartitionDescription

COLUMNS: Final = (
    "Partition", "Leader", "LeaderEpoch", "Replicas", "Isr", "Observers", "Elr", "Offline", "State"
)  # fmt: skip


def document(partition: PartitionDescription) -> dict[str, Any]:
    """As JSON; `observers` are the ids of those among its replicas that are not meant to be in sync."""
    observers = partition.observer_replicas
    return {**asdict(partition), "observers": observers, "state": partition.state}


def cells(partition: PartitionDescription) -> tuple[str, ...]:
    """Its row in a table, by `COLUMNS`."""
    return (
        str(partition.partition),
        "none" if partition.is_offline else str(partition.leader),
        str(partition.leader_epoch),
        _ids(partition.replicas),
        _ids(partition.isr),
        _ids(partition.observer_replicas),
        "unknown" if partition.elr is None else _ids(partition.elr),
        _ids(partition.offline_replicas),
        partition.state if partition.state == "ok" else f"[red]{partition.state}[/]",
    )


def _ids(ids: Iterable[int]) -> str:
    return ",".join(map(str, ids))
