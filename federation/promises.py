"""The guarantees of Causeway: numbered, one sentence each.

The README prints this list, the simulator has a checker for each promise that it can break, and audits name the
promises that they check. All of them cite the numbers; a test keeps the lists equal.
"""

from collections.abc import Mapping
from types import MappingProxyType

PROMISES: Mapping[str, str] = MappingProxyType(
    {
        "P1": (
            "A record acknowledged with `acks=all` survives as long as one in-sync replica does, whatever crashes."
        ),
        "P2": (
            "A mirror partition holds the source's bytes at the source's offsets, for every offset from its log"
            " start to its high watermark; of a compacted topic from where neither side has been cleaned, and below"
            " that the same last record of each key, unless the hole ledger of either says that it missed the"
            " deletion marker."
        ),
        "P3": (
            "No reader sees a record above the high watermark, or (read_committed) one of an open or aborted"
            " transaction, before or after a failover."
        ),
        "P4": "While a topic is a mirror, nothing but its link writes to it.",
        "P5": (
            "What a failover loses is known exactly, per partition, record by record, and what the old side had"
            " beyond the cut is kept until an operator says otherwise."
        ),
        "P6": (
            "A group's offset on a mirror never points past data that the mirror holds, and never skips a record"
            " the group has not committed."
        ),
        "P7": "Under lease fencing at most one region accepts writes to a topic at any time.",
        "P8": "Nothing is skipped silently: every hole in a mirror is in the hole ledger with its cause.",
        "P9": (
            "Data leaves a broker's disk for the object tier only once the tier's copy is verified, and an object"
            " is deleted only once nothing refers to it."
        ),
        "P10": "An idempotent or transactional producer's retry is never stored twice, before or after a failover.",
        "P11": (
            'An audit that says "kept" has read every byte it speaks for; what it could not read it reports as'
            " unknown."
        ),
    }
)
