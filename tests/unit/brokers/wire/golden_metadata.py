"""Records of the metadata log, beside the bytes that Kafka 4.3.1's own classes wrote for them.

Neither of the two oracles has them, so here is one value or more of each,
at the versions that differ.
"""

from typing import Any
from uuid import UUID

from brokers.wire.message import Message
from brokers.wire.messages import metadata_records as metadata


def uuid(number: int) -> UUID:
    return UUID(int=0x0102030405060708 << 64 | number)


def registered(**fields: Any) -> Message:
    return metadata.RegisterBrokerRecord(
        broker_id=7,
        incarnation_id=uuid(1),
        broker_epoch=99,
        end_points=[metadata.BrokerEndpoint(name="PLAINTEXT", host="127.0.0.1", port=50000)],
        features=[
            metadata.BrokerFeature(
                name="metadata.version", min_supported_version=7, max_supported_version=30
            )
        ],
        rack="rack-a",
        fenced=False,
        **fields,
    )


def partition(**fields: Any) -> Message:
    return metadata.PartitionRecord(
        partition_id=3,
        topic_id=uuid(4),
        replicas=[1, 2, 3],
        isr=[2, 3],
        adding_replicas=[3],
        leader=2,
        leader_epoch=5,
        partition_epoch=9,
        **fields,
    )


def changed(**fields: Any) -> Message:
    return metadata.PartitionChangeRecord(
        partition_id=3,
        topic_id=uuid(4),
        isr=[2],
        leader=-1,
        replicas=[2, 3],
        removing_replicas=[],
        adding_replicas=[4],
        leader_recovery_state=0,
        **fields,
    )


def re_registered(**fields: Any) -> Message:
    return metadata.BrokerRegistrationChangeRecord(
        broker_id=7, broker_epoch=99, fenced=-1, **fields
    )


# version, message, what Kafka wrote for it
METADATA_RECORDS: list[tuple[int, Message, str]] = [
    (
        0,
        registered(),
        (
            "00000007010203040506070800000000000000010000000000000063020a504c41494e544558540a"
            "3132372e302e302e31c35000000002116d657461646174612e76657273696f6e0007001e00077261"
            "636b2d610000"
        ),
    ),
    (
        1,
        registered(in_controlled_shutdown=True),
        (
            "00000007010203040506070800000000000000010000000000000063020a504c41494e544558540a"
            "3132372e302e302e31c35000000002116d657461646174612e76657273696f6e0007001e00077261"
            "636b2d61000100"
        ),
    ),
    (
        3,
        registered(in_controlled_shutdown=True, log_dirs=[uuid(2), uuid(3)]),
        (
            "0000000700010203040506070800000000000000010000000000000063020a504c41494e54455854"
            "0a3132372e302e302e31c35000000002116d657461646174612e76657273696f6e0007001e000772"
            "61636b2d610001010021030102030405060708000000000000000201020304050607080000000000"
            "000003"
        ),
    ),
    (
        4,
        registered(
            in_controlled_shutdown=True, log_dirs=[uuid(2), uuid(3)], cordoned_log_dirs=[uuid(2)]
        ),
        (
            "0000000700010203040506070800000000000000010000000000000063020a504c41494e54455854"
            "0a3132372e302e302e31c35000000002116d657461646174612e76657273696f6e0007001e000772"
            "61636b2d610001020021030102030405060708000000000000000201020304050607080000000000"
            "00000301110201020304050607080000000000000002"
        ),
    ),
    (
        0,
        metadata.UnregisterBrokerRecord(broker_id=7, broker_epoch=99),
        "00000007000000000000006300",
    ),
    (
        0,
        metadata.TopicRecord(name="flights", topic_id=uuid(4)),
        "08666c69676874730102030405060708000000000000000400",
    ),
    (
        0,
        partition(),
        (
            "00000003010203040506070800000000000000040400000001000000020000000303000000020000"
            "000301020000000300000002000000050000000900"
        ),
    ),
    (
        1,
        partition(leader_recovery_state=1, directories=[uuid(5), uuid(6), uuid(7)]),
        (
            "00000003010203040506070800000000000000040400000001000000020000000303000000020000"
            "00030102000000030000000200000005000000090401020304050607080000000000000005010203"
            "040506070800000000000000060102030405060708000000000000000701000101"
        ),
    ),
    (
        2,
        partition(
            leader_recovery_state=1,
            directories=[uuid(5), uuid(6), uuid(7)],
            eligible_leader_replicas=[1],
            last_known_elr=[],
        ),
        (
            "00000003010203040506070800000000000000040400000001000000020000000303000000020000"
            "00030102000000030000000200000005000000090401020304050607080000000000000005010203"
            "04050607080000000000000006010203040506070800000000000000070300010101050200000001"
            "020101"
        ),
    ),
    (
        0,
        metadata.ConfigRecord(
            resource_type=2, resource_name="flights", name="retention.ms", value="1000"
        ),
        "0208666c69676874730d726574656e74696f6e2e6d73053130303000",
    ),
    (
        0,
        metadata.ConfigRecord(resource_type=4, resource_name="", name="a", value=None),
        "040102610000",
    ),
    (
        0,
        metadata.PartitionChangeRecord(partition_id=3, topic_id=uuid(4)),
        "000000030102030405060708000000000000000400",
    ),
    (
        0,
        changed(),
        (
            "000000030102030405060708000000000000000406000502000000020104ffffffff020903000000"
            "020000000303010104050200000004050100"
        ),
    ),
    (
        1,
        changed(directories=[uuid(5), uuid(6)]),
        (
            "000000030102030405060708000000000000000407000502000000020104ffffffff020903000000"
            "02000000030301010405020000000405010008210301020304050607080000000000000005010203"
            "04050607080000000000000006"
        ),
    ),
    (
        2,
        changed(directories=[uuid(5), uuid(6)], eligible_leader_replicas=[2], last_known_elr=[3]),
        (
            "000000030102030405060708000000000000000409000502000000020104ffffffff020903000000"
            "02000000030301010405020000000405010006050200000002070502000000030821030102030405"
            "060708000000000000000501020304050607080000000000000006"
        ),
    ),
    (0, metadata.FenceBrokerRecord(id=7, epoch=99), "00000007000000000000006300"),
    (0, metadata.UnfenceBrokerRecord(id=7, epoch=99), "00000007000000000000006300"),
    (0, metadata.RemoveTopicRecord(topic_id=uuid(4)), "0102030405060708000000000000000400"),
    (
        0,
        metadata.UserScramCredentialRecord(
            name="ann", mechanism=1, salt=b"\1\2", stored_key=b"\3", iterations=4096
        ),
        "04616e6e010301020203010000100000",
    ),
    (
        0,
        metadata.FeatureLevelRecord(name="metadata.version", feature_level=30),
        "116d657461646174612e76657273696f6e001e00",
    ),
    (
        0,
        metadata.ClientQuotaRecord(
            entity=[metadata.EntityData(entity_type="user", entity_name=None)],
            key="producer_byte_rate",
            value=1024.5,
        ),
        "02057573657200001370726f64756365725f627974655f7261746540900200000000000000",
    ),
    (
        0,
        metadata.ProducerIdsRecord(broker_id=7, broker_epoch=99, next_producer_id=3000),
        "0000000700000000000000630000000000000bb800",
    ),
    (0, re_registered(), "000000070000000000000063010001ff"),
    (
        2,
        re_registered(in_controlled_shutdown=1, log_dirs=[uuid(2)]),
        "000000070000000000000063030001ff01010102110201020304050607080000000000000002",
    ),
    (
        3,
        re_registered(in_controlled_shutdown=1, log_dirs=[uuid(2)], cordoned_log_dirs=[]),
        ("000000070000000000000063040001ff01010102110201020304050607080000000000000002030101"),
    ),
    (
        0,
        metadata.AccessControlEntryRecord(
            id=uuid(8),
            resource_type=2,
            resource_name="flights",
            pattern_type=3,
            principal="User:ann",
            host="*",
            operation=4,
            permission_type=3,
        ),
        "010203040506070800000000000000080208666c69676874730309557365723a616e6e022a040300",
    ),
    (0, metadata.RemoveAccessControlEntryRecord(id=uuid(8)), "0102030405060708000000000000000800"),
    (0, metadata.NoOpRecord(), "00"),
    (0, metadata.BeginTransactionRecord(name="bootstrap"), "01000a0a626f6f747374726170"),
    (0, metadata.EndTransactionRecord(), "00"),
    (0, metadata.AbortTransactionRecord(), "00"),
    (0, metadata.RemoveUserScramCredentialRecord(name="ann", mechanism=2), "04616e6e0200"),
    (
        0,
        metadata.RegisterControllerRecord(
            controller_id=3,
            incarnation_id=uuid(9),
            end_points=[metadata.ControllerEndpoint(name="CONTROLLER", host="h", port=9093)],
        ),
        ("000000030102030405060708000000000000000900020b434f4e54524f4c4c4552026823850000000100"),
    ),
    (0, metadata.ClearElrRecord(topic_name="flights"), "08666c696768747300"),
    # by Kafka 4.4.0: earlier ones have no such record
    (0, metadata.UnregisterControllerRecord(controller_id=3), "0000000300"),
    (
        0,
        metadata.DelegationTokenRecord(
            owner="User:ann",
            requester="User:bob",
            renewers=["User:cid"],
            issue_timestamp=1,
            max_timestamp=2,
            expiration_timestamp=3,
            token_id="t",
        ),
        (
            "09557365723a616e6e09557365723a626f620209557365723a636964000000000000000100000000"
            "000000020000000000000003027400"
        ),
    ),
    (0, metadata.RemoveDelegationTokenRecord(token_id="t"), "027400"),
    (0, metadata.ZkMigrationStateRecord(zk_migration_state=2), "0200"),
]

# The same of records with observers. Kafka knows no tag 10000: it kept the tag as it was given it.
WITH_OBSERVERS: list[tuple[int, Message, str]] = [
    (
        0,
        partition(observers=[4, 5]),
        (
            "00000003010203040506070800000000000000040400000001000000020000000303000000020000"
            "000301020000000300000002000000050000000901904e09030000000400000005"
        ),
    ),
    (
        2,
        partition(
            directories=[uuid(5), uuid(6)],
            eligible_leader_replicas=[1],
            last_known_elr=[2],
            observers=[4, 5],
        ),
        (
            "00000003010203040506070800000000000000040400000001000000020000000303000000020000"
            "00030102000000030000000200000005000000090301020304050607080000000000000005010203"
            "04050607080000000000000006030105020000000102050200000002904e09030000000400000005"
        ),
    ),
    (
        0,
        metadata.PartitionChangeRecord(partition_id=3, topic_id=uuid(4), observers=[]),
        "000000030102030405060708000000000000000401904e0101",
    ),
    (
        2,
        metadata.PartitionChangeRecord(
            partition_id=3, topic_id=uuid(4), last_known_elr=[3], observers=[4, 5]
        ),
        ("00000003010203040506070800000000000000040207050200000003904e09030000000400000005"),
    ),
]
