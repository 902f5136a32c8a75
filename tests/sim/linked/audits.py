"""P11: the audit, which sees the disks of two regions and nothing else, says of a mirror what the simulator knows.

Whoever asks has found the mirror its source's equal, or the run has ended otherwise.
"""

from collections.abc import Iterator

from brokers.ids import Instant
from federation.audit.verdict.verdicts import Verdict
from tests.sim.audits import a_folder, audited, because, stored
from tests.sim.linked.federation import Region


def objections(source: Region, mirror: Region, now: Instant) -> Iterator[str]:
    """What an audit of the stopped regions does not find kept."""
    with a_folder() as folder:
        there, here = (
            stored(
                region.region, {number: node.disk for number, node in region.nodes.items()}, folder
            )
            for region in (source, mirror)
        )
        result = audited(there, here, now)
    if result.verdict is not Verdict.KEPT:
        yield f"an audit of the stopped regions says {result.verdict}: {because(result)}"
