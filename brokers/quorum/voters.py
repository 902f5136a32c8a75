"""The voter sets by offset of the metadata log (KIP-853).

The first set is configured, without directories (kraft.version 0). Every later one is a VotersRecord in the log
(kraft.version 1), in force from its append until it is truncated.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple
from uuid import UUID

from brokers.ids import BrokerId, Offset, Peer
from brokers.quorum.ids import NO_DIRECTORY, ReplicaKey
from brokers.wire.message import Message
from brokers.wire.messages.control_records import (
    KRaftVersionFeature,
    VoterEndpoint,
    VotersRecord,
    VotersRecordVoter,
)

KRAFT_VERSIONS = (0, 1)  # of this release


class QuorumEndpoint(NamedTuple):
    """The endpoint of a listener of a voter."""

    name: str
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Voter:
    """`kraft_versions`: the first and last kraft.version that the voter supports."""

    id: BrokerId
    directory: UUID = NO_DIRECTORY
    endpoints: tuple[QuorumEndpoint, ...] = ()
    kraft_versions: tuple[int, int] = KRAFT_VERSIONS

    @property
    def key(self) -> ReplicaKey:
        return ReplicaKey(self.id, self.directory)

    @property
    def peer(self) -> Peer | None:
        """Its first endpoint."""
        if not self.endpoints:
            return None
        return Peer(self.id, self.endpoints[0].host, self.endpoints[0].port)

    def matches(self, key: ReplicaKey) -> bool:
        """By its id alone, while the directory id of the voter is not known."""
        return self.id == key.id and self.directory in (NO_DIRECTORY, key.directory)


class VoterSet:
    """Immutable; in order of id."""

    __slots__ = ("_voters",)

    def __init__(self, voters: Iterable[Voter]) -> None:
        self._voters = {voter.id: voter for voter in sorted(voters, key=lambda each: each.id)}

    def __iter__(self) -> Iterator[Voter]:
        return iter(self._voters.values())

    def __len__(self) -> int:
        return len(self._voters)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VoterSet) and self._voters == other._voters

    def __hash__(self) -> int:
        return hash(tuple(self._voters.values()))

    def __repr__(self) -> str:
        return f"VoterSet({', '.join(str(voter.key) for voter in self)})"

    @property
    def ids(self) -> tuple[BrokerId, ...]:
        return tuple(self._voters)

    @property
    def majority(self) -> int:
        """The number of voters in a majority."""
        return len(self._voters) // 2 + 1

    def get(self, voter_id: BrokerId) -> Voter | None:
        return self._voters.get(voter_id)

    def has(self, key: ReplicaKey) -> bool:
        voter = self._voters.get(key.id)
        return voter is not None and voter.matches(key)

    def with_voter(self, voter: Voter) -> "VoterSet":
        """This set with `voter`, which replaces a voter of the same id."""
        return VoterSet((self._voters | {voter.id: voter}).values())

    def without(self, voter_id: BrokerId) -> "VoterSet":
        return VoterSet(voter for voter in self if voter.id != voter_id)

    def record(self) -> VotersRecord:
        return VotersRecord(version=0, voters=[_recorded(voter) for voter in self])


def voters_of(record: VotersRecord) -> VoterSet:
    return VoterSet(
        Voter(
            each.voter_id,
            each.voter_directory_id,
            tuple(QuorumEndpoint(where.name, where.host, where.port) for where in each.endpoints),
            (
                each.kraft_version_feature.min_supported_version,
                each.kraft_version_feature.max_supported_version,
            ),
        )
        for each in record.voters
    )


def _recorded(voter: Voter) -> VotersRecordVoter:
    lowest, highest = voter.kraft_versions
    return VotersRecordVoter(
        voter_id=voter.id,
        voter_directory_id=voter.directory,
        endpoints=[VoterEndpoint(name=n, host=h, port=p) for n, h, p in voter.endpoints],
        kraft_version_feature=KRaftVersionFeature(
            min_supported_version=lowest, max_supported_version=highest
        ),
    )


class VoterSetHistory:
    """The voter sets by the offset of their VotersRecord; before the first, the configured one."""

    def __init__(self, first: VoterSet) -> None:
        self._sets: list[tuple[Offset, VoterSet]] = [(-1, first)]
        self._is_recorded = False  # whether the oldest set is from a VotersRecord

    @property
    def latest(self) -> VoterSet:
        return self._sets[-1][1]

    @property
    def latest_offset(self) -> Offset:
        """The offset of the latest VotersRecord; -1 for the oldest set."""
        return self._sets[-1][0]

    @property
    def kraft_version(self) -> int:
        """1 once the log holds a VotersRecord."""
        return int(self._is_recorded or len(self._sets) > 1)

    def add_records(self, base_offset: Offset, messages: Iterable[Message]) -> None:
        """Add the VotersRecords of a control batch."""
        for message in messages:
            if isinstance(message, VotersRecord):
                self.add_at(base_offset, voters_of(message))

    def add_at(self, offset: Offset, voters: VoterSet) -> None:
        assert offset > self.latest_offset, (offset, self.latest_offset)
        self._sets.append((offset, voters))

    def as_of(self, next_offset: Offset) -> VoterSet | None:
        """The recorded set in force below `next_offset`; None where it is the configured one."""
        index = self._index_below(next_offset)
        return None if index == 0 and not self._is_recorded else self._sets[index][1]

    def possible(self, high_watermark: Offset) -> list[VoterSet]:
        """The last committed set and the uncommitted ones after it."""
        return [voters for _, voters in self._sets[self._index_below(high_watermark) :]]

    def truncate_new_entries(self, next_offset: Offset) -> None:
        """The log now ends at `next_offset`."""
        del self._sets[self._index_below(next_offset) + 1 :]

    def restore(self, voters: VoterSet | None) -> None:
        """Start from a snapshot's set, or from the configured set if the snapshot has none."""
        if voters is not None:
            self._sets, self._is_recorded = [(-1, voters)], True
        else:
            del self._sets[1:]

    def truncate_old_entries(self, next_offset: Offset) -> None:
        """A snapshot holds the set in force below `next_offset`."""
        index = self._index_below(next_offset)
        if index > 0:
            self._sets[: index + 1] = [(-1, self._sets[index][1])]
            self._is_recorded = True

    def _index_below(self, next_offset: Offset) -> int:
        return max(
            index for index, (offset, _) in enumerate(self._sets) if offset < max(next_offset, 0)
        )


def with_directories(voters: VoterSet, directories: dict[BrokerId, UUID]) -> VoterSet | None:
    """The same voters with these directory ids; None if one is missing."""
    if any(directories.get(voter.id, NO_DIRECTORY) == NO_DIRECTORY for voter in voters):
        return None
    return VoterSet(replace(voter, directory=directories[voter.id]) for voter in voters)
