"""P10: a value that an idempotent producer sent, however often, lies at one offset of its region at most."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tests.sim.evidence import partitions

if TYPE_CHECKING:
    from tests.sim.checking import Evidence


def at_end(evidence: "Evidence") -> Iterator[str]:
    """Before or after a failover: the mirror's past counts as the new region's own."""
    for region in evidence.regions.values():
        seen: dict[bytes, str] = {}
        for partition in partitions(region.disk):
            for offset, value in region.values(partition).items():
                if not evidence.statements.is_idempotent(value):
                    continue
                here = f"{partition}@{offset}"
                if value in seen:
                    yield f"{region.name} holds {value!r:.40} at {seen[value]} and at {here}"
                seen[value] = here
