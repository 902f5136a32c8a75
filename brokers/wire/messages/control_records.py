"""Generated from schema/control_records.txt by brokers.wire.generate; do not edit."""

from __future__ import annotations

from uuid import UUID

from brokers.wire.message import EMPTY, Message
from brokers.wire.primitives import ZERO_UUID


class LeaderChangeMessage(Message):
    """Versions 0 to 1."""

    __slots__ = ("version", "leader_id", "voters", "granting_voters")

    def __init__(
        self,
        *,
        version: int = 0,
        leader_id: int = 0,
        voters: list[Voter] = EMPTY,
        granting_voters: list[Voter] = EMPTY,
    ) -> None:
        self.version = version
        self.leader_id = leader_id
        self.voters = [] if voters is EMPTY else voters
        self.granting_voters = [] if granting_voters is EMPTY else granting_voters


class Voter(Message):
    __slots__ = ("voter_id", "voter_directory_id")

    def __init__(
        self,
        *,
        voter_id: int = 0,
        voter_directory_id: UUID = ZERO_UUID,
    ) -> None:
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id


class SnapshotHeaderRecord(Message):
    """Version 0."""

    __slots__ = ("version", "last_contained_log_timestamp")

    def __init__(
        self,
        *,
        version: int = 0,
        last_contained_log_timestamp: int = 0,
    ) -> None:
        self.version = version
        self.last_contained_log_timestamp = last_contained_log_timestamp


class SnapshotFooterRecord(Message):
    """Version 0."""

    __slots__ = ("version",)

    def __init__(
        self,
        *,
        version: int = 0,
    ) -> None:
        self.version = version


class KRaftVersionRecord(Message):
    """Version 0."""

    __slots__ = ("version", "kraft_version")

    def __init__(
        self,
        *,
        version: int = 0,
        kraft_version: int = 0,
    ) -> None:
        self.version = version
        self.kraft_version = kraft_version


class VotersRecord(Message):
    """Version 0."""

    __slots__ = ("version", "voters")

    def __init__(
        self,
        *,
        version: int = 0,
        voters: list[VotersRecordVoter] = EMPTY,
    ) -> None:
        self.version = version
        self.voters = [] if voters is EMPTY else voters


class VotersRecordVoter(Message):
    __slots__ = ("voter_id", "voter_directory_id", "endpoints", "kraft_version_feature")

    def __init__(
        self,
        *,
        voter_id: int = 0,
        voter_directory_id: UUID = ZERO_UUID,
        endpoints: list[VoterEndpoint] = EMPTY,
        kraft_version_feature: KRaftVersionFeature = EMPTY,
    ) -> None:
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        self.endpoints = [] if endpoints is EMPTY else endpoints
        self.kraft_version_feature = (
            KRaftVersionFeature() if kraft_version_feature is EMPTY else kraft_version_feature
        )


class VoterEndpoint(Message):
    __slots__ = ("name", "host", "port")

    def __init__(
        self,
        *,
        name: str = "",
        host: str = "",
        port: int = 0,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port


class KRaftVersionFeature(Message):
    __slots__ = ("min_supported_version", "max_supported_version")

    def __init__(
        self,
        *,
        min_supported_version: int = 0,
        max_supported_version: int = 0,
    ) -> None:
        self.min_supported_version = min_supported_version
        self.max_supported_version = max_supported_version
