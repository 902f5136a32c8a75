"""Documents are compared and set, all of a command or none."""

from dataclasses import replace

import pytest

from brokers.errors import KafkaError, Refusal
from brokers.metadata.commands.document_commands import DocumentChange, PutDocuments
from brokers.metadata.commands.mirror_commands import (
    CreateMirrorTopic,
    RaiseLeaderEpochs,
    SetTopicWriter,
)
from brokers.metadata.controller.document_control import DOCUMENT_BYTES_MAX
from tests.unit.brokers.metadata.images import Region


def change(name: str, body: bytes | None, expected: int | None = None) -> DocumentChange:
    return DocumentChange(kind="link", name=name, body=body, expected_version=expected)


def refusal(region: Region, *items: DocumentChange) -> KafkaError:
    before = dict(region.image.documents)
    with pytest.raises(Refusal) as refused:
        region.do(PutDocuments(items))
    assert region.image.documents == before
    return refused.value.error


def test_a_document_is_made_changed_and_deleted() -> None:
    region = Region()
    versions = region.do(PutDocuments((change("a", b"1", 0), change("b", b"2", 0))))
    assert isinstance(versions, dict) and versions["link", "a"] < versions["link", "b"]
    assert region.delta.documents_changed == (("link", "a"), ("link", "b"))
    document = region.image.documents["link", "a"]
    assert (document.version, document.body) == (versions["link", "a"], b"1")
    again = region.do(PutDocuments((change("a", b"3", document.version),)))
    assert again == {("link", "a"): region.image.documents["link", "a"].version}
    assert region.do(PutDocuments((change("a", None),))) == {("link", "a"): 0}
    assert list(region.image.documents) == [("link", "b")]


def test_a_stale_version_is_refused_with_the_current_one() -> None:
    region = Region()
    region.do(PutDocuments((change("a", b"1", 0),)))
    version = region.image.documents["link", "a"].version
    assert refusal(region, change("a", b"2", 0)) is KafkaError.INVALID_UPDATE_VERSION
    assert refusal(region, change("a", None, version + 1)) is KafkaError.INVALID_UPDATE_VERSION
    assert refusal(region, change("c", b"2", 5)) is KafkaError.INVALID_UPDATE_VERSION
    # one stale item spoils the command
    assert (
        refusal(region, change("c", b"2", 0), change("a", b"2", 0))
        is KafkaError.INVALID_UPDATE_VERSION
    )


def test_a_document_made_anew_never_has_an_old_version() -> None:
    region = Region()
    region.do(PutDocuments((change("a", b"1"),)))
    old = region.image.documents["link", "a"].version
    region.do(PutDocuments((change("a", None),)))
    region.do(PutDocuments((change("a", b"1"),)))
    assert region.image.documents["link", "a"].version > old
    assert refusal(region, change("a", b"2", old)) is KafkaError.INVALID_UPDATE_VERSION


def test_a_document_twice_or_too_large_is_refused() -> None:
    region = Region()
    assert refusal(region, change("a", b"1"), change("a", b"2")) is KafkaError.INVALID_REQUEST
    assert (
        refusal(region, change("a", bytes(DOCUMENT_BYTES_MAX + 1))) is KafkaError.POLICY_VIOLATION
    )


def test_an_empty_document_is_not_an_absent_one() -> None:
    region = Region()
    region.do(PutDocuments((change("a", b""),)))
    assert region.image.documents["link", "a"].body == b""


def test_the_record_of_a_topic_that_a_link_writes_is_removed_only_without_that_condition() -> None:
    region = Region()
    region.do(PutDocuments((change("a", b"1"), change("b", b"1"))))
    region.do(CreateMirrorTopic(name="a", partition_count=1, writer="west"))
    removal = replace(change("a", None), unless_writer="west")
    assert refusal(region, change("b", None), removal) is KafkaError.TOPIC_ALREADY_EXISTS
    assert region.do(PutDocuments((replace(removal, unless_writer="north"),))) == {("link", "a"): 0}
    assert region.do(PutDocuments((replace(change("b", None), unless_writer="west"),)))
    region.do(PutDocuments((change("a", b"1"),)))
    region.do(SetTopicWriter(topic="a", expected_writer="west", writer=None))
    assert region.do(PutDocuments((removal,))) == {("link", "a"): 0}


def test_a_decision_by_partitions_that_have_changed_meanwhile_is_refused() -> None:
    region = Region()
    region.do(CreateMirrorTopic(name="a", partition_count=2, writer="west"))
    first, second = (each.partition_epoch for each in region.image.topics_by_name["a"].partitions)
    decided = replace(change("a", b"1"), partition_epochs=(first, second))
    of_the_first = replace(decided, partition_epochs=(first,))
    region.do(RaiseLeaderEpochs(topic="a", leader_epochs={1: 7}))
    assert refusal(region, decided) is KafkaError.INVALID_UPDATE_VERSION
    assert region.do(PutDocuments((of_the_first,)))


def test_a_decision_by_partitions_of_a_topic_that_is_gone_is_refused() -> None:
    decided = replace(change("a", b"1"), partition_epochs=(0,))
    assert refusal(Region(), decided) is KafkaError.INVALID_UPDATE_VERSION
