"""What all messages share."""

import pytest

from brokers.wire.messages.fetch import FetchRequest, FetchTopic
from brokers.wire.messages.metadata import MetadataRequestTopic
from brokers.wire.messages.metadata_records import FenceBrokerRecord, UnfenceBrokerRecord


def test_messages_are_equal_when_class_and_fields_are() -> None:
    assert FenceBrokerRecord(id=1, epoch=2) == FenceBrokerRecord(id=1, epoch=2)
    assert FenceBrokerRecord(id=1, epoch=2) != FenceBrokerRecord(id=1, epoch=3)
    assert FenceBrokerRecord(id=1, epoch=2) != UnfenceBrokerRecord(id=1, epoch=2)
    assert FenceBrokerRecord() != 0


def test_a_message_shows_its_fields() -> None:
    assert repr(FenceBrokerRecord(id=1, epoch=2)) == "FenceBrokerRecord(id=1, epoch=2)"


def test_messages_that_are_left_to_their_defaults_share_nothing() -> None:
    first, second = FetchRequest(), FetchRequest()
    first.topics.append(FetchTopic())
    assert second.topics == []


def test_a_list_given_to_a_message_is_the_list_it_has() -> None:
    topics = [FetchTopic()]
    assert FetchRequest(topics=topics).topics is topics


def test_fields_are_given_by_name_and_only_known_ones() -> None:
    with pytest.raises(TypeError):
        MetadataRequestTopic("flights")  # type: ignore[call-arg,arg-type]
    with pytest.raises(TypeError):
        MetadataRequestTopic(topic="flights")  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        MetadataRequestTopic().topic = "flights"  # type: ignore[attr-defined]


def test_a_mutable_value_has_no_hash() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(FenceBrokerRecord())
