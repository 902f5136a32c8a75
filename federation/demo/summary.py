"""The result of the demo: what the failover cost, as a table and as JSON."""

import csv
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from federation.demo.costs import Acknowledged


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Counts are in records; `rto_ms` is from the kill until the producer was acknowledged and the group read again."""

    flights: int
    acknowledged_before: int
    acknowledged_after: int
    mirrored: int
    lost: int
    lost_below_the_cut: int
    read_again: int
    skipped: int
    never_read: int
    stored_twice: int
    rpo_ms: float
    rto_ms: float
    writable_ms: float
    first_acknowledged_ms: float
    first_read_ms: float
    sealed: int
    lost_and_sealed: int
    replayed: int
    way_back_ms: float
    audit: dict[str, Any]
    files: dict[str, str]
    seconds: float

    def as_json(self) -> dict[str, Any]:
        fields = asdict(self)
        rounded = {
            name: round(value, 1) for name, value in fields.items() if isinstance(value, float)
        }
        return fields | rounded

    def table(self) -> Table:
        table = Table(title="What the failover cost", title_justify="left", show_header=False)
        table.add_column()
        table.add_column(justify="right")
        table.add_column()
        for label, value, remark in self._rows():
            table.add_row(label, value, remark)
        return table

    def _rows(self) -> Iterable[tuple[str, str, str]]:
        yield "acknowledged in west", f"{self.acknowledged_before:,}", "by the producer's own count"
        yield "mirrored in east", f"{self.mirrored:,}", "at the cut"
        yield (
            "lost at the cut",
            f"{self.lost:,}",
            "acknowledged in west while the network was cut",
        )
        yield "RPO", f"{self.lost:,} records", f"{self.rpo_ms:,.0f} ms back from the kill"
        yield (
            "RTO",
            f"{self.rto_ms:,.0f} ms",
            (
                f"writable {self.writable_ms:,.0f}, acknowledged {self.first_acknowledged_ms:,.0f},"
                f" group reading {self.first_read_ms:,.0f}"
            ),
        )
        yield "read again", f"{self.read_again:,}", "read in west, its commit not yet carried over"
        yield "skipped by the group", f"{self.skipped:,}", f"never read: {self.never_read:,}"
        yield "stored twice", f"{self.stored_twice:,}", "sent again: west died before acknowledging"
        yield "acknowledged in east", f"{self.acknowledged_after:,}", "after the failover"
        yield (
            "sealed when west returned",
            f"{self.sealed:,}",
            f"{self.lost_and_sealed:,} of the {self.lost:,} lost are among them",
        )
        yield (
            "replayed to east",
            f"{self.replayed:,}",
            "what east lacked: nothing is lost any more",
        )
        yield "way back", f"{self.way_back_ms:,.0f} ms", "until west mirrors all of east"
        yield (
            "audit before the kill",
            str(self.audit.get("verdict", "")),
            str(self.audit.get("html", "")),
        )

    def broken(self) -> list[str]:
        """What must not happen whenever a region is killed: one sentence a problem, with the promise that it breaks."""
        problems = []
        if self.lost_below_the_cut:
            problems.append(
                f"P2: {self.lost_below_the_cut} records below the cut are not the source's"
            )
        if self.skipped or self.never_read:
            problems.append(
                f"P6: the group skipped {self.skipped} records, never read {self.never_read}"
            )
        if self.lost_and_sealed != self.lost:
            missing = self.lost - self.lost_and_sealed
            problems.append(f"P5: {missing} lost records are not in west's orphan store")
        if self.replayed < self.lost:
            problems.append(f"P5: {self.replayed} records were replayed, and {self.lost} were lost")
        if self.audit.get("verdict") != "kept":
            problems.append(f"the audit before the kill says {self.audit.get('verdict')}")
        return problems


def list_lost(path: Path, lost: Iterable[Acknowledged]) -> None:
    """Writes the lost records as CSV (promise P5)."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["partition", "offset", "flight"])
        writer.writerows((one.partition, one.offset, one.flight) for one in sorted(lost))
