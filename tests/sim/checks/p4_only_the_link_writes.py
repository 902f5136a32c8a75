"""P4: nobody but the link got anything into the mirror, or out of it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tests.sim.evidence import partitions

if TYPE_CHECKING:
    from tests.sim.checking import Evidence

INTRUDER = b"intruder:"


def at_end(evidence: "Evidence") -> Iterator[str]:
    """The intruder wrote, and was told that it had not."""
    for foreign_write in evidence.statements.foreign_writes:
        yield f"the intruder was told of success while the topic was a mirror: {foreign_write}"
    mirror = evidence.regions[evidence.destination]
    cut = evidence.statements.cut
    for partition in partitions(mirror.disk):
        bound = None
        if cut is not None:
            bound = cut[partition.partition].offset if partition.partition in cut else 0
        for offset, value in mirror.values(partition).items():
            if value.startswith(INTRUDER) and (bound is None or offset < bound):
                yield f"{value!r} of the intruder lies in the mirror at {partition}@{offset}"
