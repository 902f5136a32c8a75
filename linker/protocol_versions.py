"""The versions of the link protocol, and what each has brought."""

from typing import Final, NamedTuple


class ProtocolVersions(NamedTuple):
    """The versions of the link protocol that an end speaks, as Kafka's clients and brokers have them for each API."""

    oldest: int
    newest: int

    def newest_of(self, other: "ProtocolVersions") -> int | None:
        """The newest version that both speak."""
        newest = min(self.newest, other.newest)
        return newest if newest >= max(self.oldest, other.oldest) else None

    def __str__(self) -> str:
        if self.oldest == self.newest:
            return f"version {self.newest}"
        return f"versions {self.oldest} to {self.newest}"


SPOKEN: Final = ProtocolVersions(oldest=1, newest=12)
# From this version on a source may have several brokers: each serves the partitions that it leads.
SEVERAL_BROKERS_FROM: Final = 2
SUPERSEDES_FROM: Final = 3
REVERSES_FROM: Final = 4
DELETES_OFFSETS_FROM: Final = 4
STARTS_AT_TIMES_FROM: Final = 4
PACES_FROM: Final = 5  # from which on a source knows what `Pace` and a weight are
HOLDS_FROM: Final = 6  # from which on a source keeps what its mirrors lack, and tells bytes
REWATCHES_FROM: Final = 7
COMPACTED_FROM: Final = 7  # from which on a source says what its logs lack because of compaction
SPLITS_FROM: Final = 8  # from which on a source that dials sends long frames in parts
WANTS_STREAMS_FROM: Final = 9  # from which on a source that dials is told where to
TELLS_ACTIVITY_FROM: Final = 10  # from which on a source says which groups have members
WATCHES_FROM: Final = (
    10  # from which on a source tells how partitions stand without sending their records
)
LISTS_MIRRORS_FROM: Final = 11  # from which on a source keeps which of its topics are mirrored
CHECKS_REVERSALS_FROM: Final = 12  # from which on a source says what it would refuse
