"""A partition and a broker survive their records; a change says just what changes."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from brokers.metadata.image import record_serde as records
from brokers.metadata.image.broker_records import broker_changed_by, broker_of, registration_record
from brokers.metadata.image.image import BrokerImage, Endpoint, FeatureRange, PartitionImage
from brokers.metadata.image.partition_records import (
    change_record,
    changed_by,
    partition_of,
    partition_record,
)
from brokers.wire.messages.metadata_records import BrokerRegistrationChangeRecord

ids = st.lists(st.integers(0, 9), max_size=4, unique=True).map(tuple)
uuids = st.uuids()
partitions = st.builds(
    PartitionImage,
    leader=st.integers(-1, 9),
    leader_epoch=st.integers(0, 9),
    partition_epoch=st.integers(0, 9),
    replicas=ids,
    isr=ids,
    elr=ids,
    last_known_elr=ids,
    observers=ids,
    promoted=ids,
    adding=ids,
    removing=ids,
    recovery_state=st.integers(0, 1),
    directories=st.lists(uuids, max_size=3).map(tuple),
)
brokers = st.builds(
    BrokerImage,
    id=st.integers(0, 9),
    broker_epoch=st.integers(0, 9),
    incarnation=uuids,
    endpoints=st.lists(
        st.builds(Endpoint, st.text(max_size=5), st.text(max_size=5), st.integers(0, 65_535)),
        min_size=1,
        max_size=2,
    ).map(tuple),
    rack=st.none() | st.text(max_size=5),
    host_label=st.none() | st.text(max_size=5),
    features=st.lists(
        st.builds(FeatureRange, st.text(max_size=5), st.integers(0, 9), st.integers(0, 9)),
        max_size=2,
    ).map(tuple),
    log_dirs=st.lists(uuids, max_size=2).map(tuple),
)
TOPIC = UUID(int=9)


@given(partitions)
def test_a_partition_is_its_record(partition: PartitionImage) -> None:
    record = records.decode(records.encode(partition_record(TOPIC, 3, partition)))
    assert partition_of(record) == partition  # type: ignore[arg-type]


@given(was=partitions, to=partitions, leads=st.booleans())
def test_a_change_makes_one_of_the_other(
    was: PartitionImage, to: PartitionImage, leads: bool
) -> None:
    leader = to.leader if leads else was.leader
    to = to._replace(
        leader=leader,
        leader_epoch=was.leader_epoch + leads,
        partition_epoch=was.partition_epoch + 1,
    )
    record = change_record(TOPIC, 3, was, to)
    assert record is not None
    assert changed_by(was, records.decode(records.encode(record))) == to  # type: ignore[arg-type]


@given(partitions)
def test_no_change_needs_no_record(partition: PartitionImage) -> None:
    assert change_record(TOPIC, 3, partition, partition) is None


@given(brokers)
def test_a_broker_is_its_record(broker: BrokerImage) -> None:
    record = records.decode(records.encode(registration_record(broker)))
    assert broker_of(record) == broker  # type: ignore[arg-type]


def test_a_change_of_a_broker_says_what_changes_and_leaves_the_rest() -> None:
    was = BrokerImage(1, 2, UUID(int=3), (Endpoint("P", "h", 1),), fenced=True, log_dirs=(TOPIC,))

    def change(**said: int) -> BrokerImage:
        record = BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=2, **said)
        return broker_changed_by(was, records.decode(records.encode(record)))  # type: ignore[arg-type]

    assert change() == was
    assert not change(fenced=-1).fenced and change(fenced=1).fenced
    leaving = change(in_controlled_shutdown=1)
    assert leaving.in_controlled_shutdown and leaving.fenced and leaving.log_dirs == (TOPIC,)
