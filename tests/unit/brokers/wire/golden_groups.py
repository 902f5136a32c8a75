"""Records of KRaft and of the group coordinator, beside the bytes that Kafka 4.3.1's own classes wrote for them.

Neither of the two oracles has the latter, so here is one value or more of each,
at the versions that differ.
"""

from typing import Any

from brokers.wire.message import Message
from brokers.wire.messages import control_records as control
from brokers.wire.messages import group_records as group
from tests.unit.brokers.wire.golden_metadata import uuid


def committed(**fields: Any) -> Message:
    return group.OffsetCommitValue(offset=42, metadata="m", commit_timestamp=1000, **fields)


def member(**fields: Any) -> group.MemberMetadata:
    return group.MemberMetadata(
        member_id="m-1",
        client_id="c",
        client_host="/127.0.0.1",
        session_timeout=45000,
        subscription=b"\0\1",
        assignment=b"\2",
        **fields,
    )


def generation(only: group.MemberMetadata | None = None, **fields: Any) -> Message:
    return group.GroupMetadataValue(
        protocol_type="consumer",
        generation=2,
        protocol="range",
        leader="m-1",
        members=[only or member()],
        **fields,
    )


# version, message, what Kafka wrote for it
OTHER_RECORDS: list[tuple[int, Message, str]] = [
    (
        1,
        control.LeaderChangeMessage(
            version=1, leader_id=1, voters=[control.Voter(voter_id=1, voter_directory_id=uuid(10))]
        ),
        "00010000000102000000010102030405060708000000000000000a000100",
    ),
    (
        0,
        control.LeaderChangeMessage(version=0, leader_id=1, voters=[control.Voter(voter_id=1)]),
        "0000000000010200000001000100",
    ),
    (
        0,
        control.SnapshotHeaderRecord(last_contained_log_timestamp=1234567890123),
        "00000000011f71fb04cb00",
    ),
    (0, control.SnapshotFooterRecord(), "000000"),
    (0, control.KRaftVersionRecord(kraft_version=1), "0000000100"),
    (
        0,
        control.VotersRecord(
            voters=[
                control.VotersRecordVoter(
                    voter_id=1,
                    voter_directory_id=uuid(10),
                    endpoints=[
                        control.VoterEndpoint(name="CONTROLLER", host="127.0.0.1", port=9093)
                    ],
                    kraft_version_feature=control.KRaftVersionFeature(max_supported_version=1),
                )
            ]
        ),
        (
            "000002000000010102030405060708000000000000000a020b434f4e54524f4c4c45520a3132372e"
            "302e302e3123850000000001000000"
        ),
    ),
    (
        1,
        group.OffsetCommitKey(group="g", topic="flights", partition=3),
        "0001670007666c696768747300000003",
    ),
    (0, committed(), "000000000000002a00016d00000000000003e8"),
    (1, committed(expire_timestamp=2000), "000000000000002a00016d00000000000003e800000000000007d0"),
    (2, committed(), "000000000000002a00016d00000000000003e8"),
    (3, committed(leader_epoch=5), "000000000000002a0000000500016d00000000000003e8"),
    (
        4,
        committed(leader_epoch=5, topic_id=uuid(4)),
        ("000000000000002a00000005026d00000000000003e801001001020304050607080000000000000004"),
    ),
    (2, group.GroupMetadataKey(group="g"), "000167"),
    (
        0,
        generation(),
        (
            "0008636f6e73756d657200000002000572616e676500036d2d310000000100036d2d31000163000a"
            "2f3132372e302e302e310000afc80000000200010000000102"
        ),
    ),
    (
        1,
        generation(member(rebalance_timeout=300000)),
        (
            "0008636f6e73756d657200000002000572616e676500036d2d310000000100036d2d31000163000a"
            "2f3132372e302e302e31000493e00000afc80000000200010000000102"
        ),
    ),
    (
        2,
        generation(member(rebalance_timeout=300000), current_state_timestamp=77),
        (
            "0008636f6e73756d657200000002000572616e676500036d2d31000000000000004d000000010003"
            "6d2d31000163000a2f3132372e302e302e31000493e00000afc80000000200010000000102"
        ),
    ),
    (
        3,
        generation(
            member(rebalance_timeout=300000, group_instance_id="i-1"), current_state_timestamp=77
        ),
        (
            "0008636f6e73756d657200000002000572616e676500036d2d31000000000000004d000000010003"
            "6d2d310003692d31000163000a2f3132372e302e302e31000493e00000afc8000000020001000000"
            "0102"
        ),
    ),
    (
        4,
        generation(
            member(rebalance_timeout=300000, group_instance_id="i-1"), current_state_timestamp=77
        ),
        (
            "09636f6e73756d6572000000020672616e6765046d2d31000000000000004d02046d2d3104692d31"
            "02630b2f3132372e302e302e31000493e00000afc803000102020000"
        ),
    ),
]
