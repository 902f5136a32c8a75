"""Who may write a topic, and that every change of hands begins a new leader epoch."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.errors import KafkaError, Refusal
from brokers.metadata.commands.document_commands import DocumentChange, PutDocuments
from brokers.metadata.commands.mirror_commands import (
    CreateMirrorTopic,
    CreateMirrorTopics,
    RaiseLeaderEpochs,
    RaiseLeaderEpochsOfTopics,
    SetTopicWriter,
    SetTopicWriters,
)
from brokers.metadata.commands.topic_commands import CreateTopics, DeleteTopics, NewTopic
from tests.unit.brokers.metadata.images import Region


def region_with_mirror() -> Region:
    region = Region()
    region.do(CreateTopics((NewTopic(name="plain"),)))
    region.do(
        CreateMirrorTopic(
            name="m",
            partition_count=3,
            writer="east",
            configs={"retention.ms": "9"},
            leader_epochs={0: 4, 2: 7},
        )
    )
    return region


def refusal(region: Region, command: object) -> KafkaError:
    before = region.image.next_offset
    with pytest.raises(Refusal) as refused:
        region.do(command)  # type: ignore[arg-type]
    assert region.image.next_offset == before
    return refused.value.error


def test_a_mirror_has_its_writer_its_settings_and_its_leader_epochs() -> None:
    region = region_with_mirror()
    topic = region.image.topics_by_name["m"]
    assert topic.writer == "east"
    assert [partition.leader_epoch for partition in topic.partitions] == [4, 0, 7]
    assert region.image.config((2, "m")) == {"retention.ms": "9"}
    assert region.delta.topics_created == ("m",) and region.delta.topics_changed == ()


@pytest.mark.parametrize(
    ("name", "count", "configs", "error"),
    [
        ("plain", 1, {}, KafkaError.TOPIC_ALREADY_EXISTS),
        ("bad name", 1, {}, KafkaError.INVALID_TOPIC_EXCEPTION),
        ("x", 0, {}, KafkaError.INVALID_PARTITIONS),
        ("x", 10_000, {}, KafkaError.POLICY_VIOLATION),
    ],
)
def test_a_mirror_that_cannot_be_is_refused(
    name: str, count: int, configs: dict[str, str], error: KafkaError
) -> None:
    command = CreateMirrorTopic(name=name, partition_count=count, writer="east", configs=configs)
    assert refusal(region_with_mirror(), command) is error


def test_a_mirror_whose_record_was_removed_is_refused() -> None:
    region = region_with_mirror()
    command = CreateMirrorTopic(name="x", partition_count=1, writer="east", record_kind="mirror")
    for kind, name in (("mirror", "m"), ("link", "x")):
        region.do(PutDocuments((DocumentChange(kind=kind, name=name, body=b"1"),)))
        assert refusal(region, command) is KafkaError.INVALID_UPDATE_VERSION
    region.do(PutDocuments((DocumentChange(kind="mirror", name="x", body=b"1"),)))
    region.do(CreateMirrorTopics((command,)))
    assert region.image.topics_by_name["x"].writer == "east"


def test_handing_a_topic_to_producers_raises_every_leader_epoch() -> None:
    region = region_with_mirror()
    command = SetTopicWriter(
        topic="m", expected_writer="east", writer=None, leader_epochs={1: 9, 2: 3}
    )
    assert region.do(command) == {0: 5, 1: 9, 2: 8}
    topic = region.image.topics_by_name["m"]
    assert topic.writer is None
    assert [partition.leader_epoch for partition in topic.partitions] == [5, 9, 8]
    assert [partition.partition_epoch for partition in topic.partitions] == [1, 1, 1]


def test_a_topic_can_be_handed_to_a_link() -> None:
    region = region_with_mirror()
    assert region.do(SetTopicWriter(topic="plain", expected_writer=None, writer="west")) == {0: 1}
    assert region.image.topics_by_name["plain"].writer == "west"


def put(region: Region, kind: str, name: str, body: bytes | None) -> int:
    """Returns the new version."""
    done = region.do(PutDocuments((DocumentChange(kind=kind, name=name, body=body),)))
    version: int = done[kind, name]
    return version


def test_a_mirror_is_made_only_while_its_record_is_the_one_that_was_decided_upon() -> None:
    region = region_with_mirror()
    versions = [put(region, "mirror", "x", body) for body in (b"1", b"2")]
    for version, refused in ((versions[0], True), (versions[1] + 1, True), (versions[1], False)):
        command = CreateMirrorTopic(
            name="x", partition_count=1, writer="e", record_kind="mirror", record_version=version
        )
        if refused:
            assert refusal(region, command) is KafkaError.INVALID_UPDATE_VERSION
        else:
            region.do(command)
    assert region.image.topics_by_name["x"].writer == "e"


def test_a_writer_is_changed_only_while_the_documents_are_those_that_were_decided_upon() -> None:
    region = region_with_mirror()
    before = put(region, "mirror", "m", b"1")
    version = put(region, "mirror", "m", b"2")

    def handover(*versions: tuple[str, str, int]) -> SetTopicWriter:
        expected = {(kind, name): version for kind, name, version in versions}
        return SetTopicWriter(
            topic="m", expected_writer="east", writer=None, expected_versions=expected
        )

    for late in (("mirror", "m", before), ("mirror", "m", 0), ("mirror", "x", version)):
        also = handover(("mirror", "m", version), late)
        assert refusal(region, also) is KafkaError.INVALID_UPDATE_VERSION
    right = handover(("mirror", "m", version), ("unfenced", "m", 0))
    put(region, "unfenced", "m", b"1")
    assert refusal(region, right) is KafkaError.INVALID_UPDATE_VERSION
    put(region, "unfenced", "m", None)
    region.do(right)
    assert region.image.topics_by_name["m"].writer is None


def test_a_writer_is_not_changed_by_a_record_that_was_made_anew() -> None:
    """The body is the same, the version is not."""
    region = region_with_mirror()
    version = put(region, "mirror", "m", b"1")
    put(region, "mirror", "m", None)
    put(region, "mirror", "m", b"1")
    command = SetTopicWriter(
        topic="m",
        expected_writer="east",
        writer=None,
        expected_versions={("mirror", "m"): version},
    )
    assert refusal(region, command) is KafkaError.INVALID_UPDATE_VERSION
    (refused,) = region.do(SetTopicWriters((command,)))
    assert refused.error is KafkaError.INVALID_UPDATE_VERSION


def test_a_topic_that_was_made_anew_is_not_the_one_that_was_decided_upon() -> None:
    region = region_with_mirror()
    topic_id = region.image.topics_by_name["plain"].id
    command = SetTopicWriter(topic="plain", expected_writer=None, writer="west", topic_id=topic_id)
    region.do(DeleteTopics(("plain",)))
    region.do(CreateTopics((NewTopic(name="plain"),)))
    assert refusal(region, command) is KafkaError.INVALID_UPDATE_VERSION
    region.do(replace(command, topic_id=region.image.topics_by_name["plain"].id))
    assert region.image.topics_by_name["plain"].writer == "west"


@pytest.mark.parametrize(
    ("topic", "expected", "error"),
    [
        ("nope", "east", KafkaError.UNKNOWN_TOPIC_OR_PARTITION),
        ("m", "west", KafkaError.POLICY_VIOLATION),
        ("m", None, KafkaError.POLICY_VIOLATION),
        ("plain", "east", KafkaError.POLICY_VIOLATION),
    ],
)
def test_only_who_holds_the_pen_can_hand_it_over(
    topic: str, expected: str | None, error: KafkaError
) -> None:
    command = SetTopicWriter(topic=topic, expected_writer=expected, writer=None)
    assert refusal(region_with_mirror(), command) is error


def test_a_coordinators_topic_is_nobodys_mirror() -> None:
    region = Region()
    region.do(CreateTopics((NewTopic(name="__consumer_offsets"),)))
    command = SetTopicWriter(topic="__consumer_offsets", expected_writer=None, writer="east")
    assert refusal(region, command) is KafkaError.POLICY_VIOLATION
    mirror = CreateMirrorTopic(name="__transaction_state", partition_count=1, writer="east")
    assert refusal(region, mirror) is KafkaError.POLICY_VIOLATION


@given(st.dictionaries(st.integers(0, 2), st.integers(0, 12)))
def test_leader_epochs_never_fall(wanted: dict[int, int]) -> None:
    region = region_with_mirror()
    before = [partition.leader_epoch for partition in region.image.topics_by_name["m"].partitions]
    result = region.do(RaiseLeaderEpochs(topic="m", leader_epochs=wanted))
    after = [partition.leader_epoch for partition in region.image.topics_by_name["m"].partitions]
    assert after == [max(was, wanted.get(index, 0)) for index, was in enumerate(before)]
    assert result == {index: after[index] for index in wanted}


def test_raising_what_does_not_exist_is_refused() -> None:
    region = region_with_mirror()
    for topic, index in (("nope", 0), ("m", 3), ("m", -1)):
        command = RaiseLeaderEpochs(topic=topic, leader_epochs={index: 5})
        assert refusal(region, command) is KafkaError.UNKNOWN_TOPIC_OR_PARTITION


def test_raising_to_where_they_are_writes_nothing() -> None:
    decision = region_with_mirror().decide(RaiseLeaderEpochs(topic="m", leader_epochs={0: 4, 2: 1}))
    assert decision.records == () and decision.result == {0: 4, 2: 7}


def test_the_writers_of_many_topics_change_in_one_batch_and_each_is_refused_by_itself() -> None:
    region = region_with_mirror()
    first = SetTopicWriter(topic="m", expected_writer="east", writer=None)
    wrong = SetTopicWriter(topic="plain", expected_writer="east", writer=None)
    right = SetTopicWriter(topic="plain", expected_writer=None, writer="west")
    done = region.do(SetTopicWriters((first, wrong, right, first)))
    assert done[0] == {0: 5, 1: 1, 2: 8} and done[2] == {0: 1}
    assert [one.error for one in (done[1], done[3])] == [
        KafkaError.POLICY_VIOLATION,
        KafkaError.INVALID_REQUEST,
    ]
    writers = {name: topic.writer for name, topic in region.image.topics_by_name.items()}
    assert writers == {"m": None, "plain": "west"}
    assert set(region.delta.topics_changed) == {"m", "plain"}


def test_no_more_records_are_written_at_once_than_a_batch_may_have() -> None:
    region = Region()
    for name in ("a", "b"):
        region.do(CreateTopics((NewTopic(name=name, partition_count=6_000),)))
    many = SetTopicWriters(
        tuple(
            SetTopicWriter(topic=name, expected_writer=None, writer="west") for name in ("a", "b")
        )
    )
    assert refusal(region, many) is KafkaError.POLICY_VIOLATION


def test_many_mirrors_are_made_in_one_batch_and_each_is_refused_by_itself() -> None:
    region = region_with_mirror()
    names = ["a.b", "m", "a_b", "c"]
    items = [CreateMirrorTopic(name=name, partition_count=1, writer="east") for name in names]
    made, taken, collides, last = region.do(CreateMirrorTopics(tuple(items)))
    assert (made.name, last.name) == ("a.b", "c")
    assert taken.error is KafkaError.TOPIC_ALREADY_EXISTS
    assert collides.error is KafkaError.INVALID_TOPIC_EXCEPTION
    assert set(region.delta.topics_created) == {"a.b", "c"}
    assert {region.image.topics_by_name[name].writer for name in ("a.b", "c")} == {"east"}


def test_mirrors_of_one_batch_are_led_by_different_brokers() -> None:
    region = Region(brokers=3)
    items = [CreateMirrorTopic(name=f"m{n}", partition_count=1, writer="east") for n in range(6)]
    region.do(CreateMirrorTopics(tuple(items)))
    leaders = [topic.partitions[0].leader for topic in region.image.topics_by_name.values()]
    assert sorted(leaders) == [1, 1, 2, 2, 3, 3]


def test_the_leader_epochs_of_many_topics_rise_in_one_batch_and_each_is_refused_by_itself() -> None:
    region = region_with_mirror()
    first = RaiseLeaderEpochs(topic="m", leader_epochs={0: 5, 1: 5})
    wrong = RaiseLeaderEpochs(topic="plain", leader_epochs={7: 5})
    right = RaiseLeaderEpochs(topic="plain", leader_epochs={0: 5})
    done = region.do(RaiseLeaderEpochsOfTopics((first, wrong, right, first)))
    assert (done[0], done[2]) == ({0: 5, 1: 5}, {0: 5})
    assert done[1].error is KafkaError.UNKNOWN_TOPIC_OR_PARTITION
    assert done[3].error is KafkaError.INVALID_REQUEST
    assert [each.leader_epoch for each in region.image.topics_by_name["m"].partitions] == [5, 5, 7]
