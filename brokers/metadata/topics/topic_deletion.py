"""DeleteTopics."""

from uuid import UUID

from brokers.config.broker_config import BrokerConfig
from brokers.errors import KafkaError, Refusal
from brokers.ids import NO_ID
from brokers.metadata.commands.controller_result import ControllerResult, once
from brokers.metadata.commands.topic_commands import DeleteTopics, TopicOutcome
from brokers.metadata.image.image import Image, TopicImage
from brokers.metadata.topics.mirror_topics import check_writer
from brokers.wire.message import Message
from brokers.wire.messages.metadata_records import RemoveTopicRecord


def delete_topics(config: BrokerConfig, image: Image, command: DeleteTopics) -> ControllerResult:
    records: list[Message] = []
    outcomes: list[TopicOutcome] = []
    deleted: set[UUID] = set()
    for named, is_repeated in once(command.topics):
        name, topic_id = (named, NO_ID) if isinstance(named, str) else (None, named)
        try:
            topic = _find(image, named)
            name, topic_id = topic.name, topic.id
            if is_repeated or topic.id in deleted:
                raise Refusal(
                    KafkaError.INVALID_REQUEST, f"topic {name} appears twice in one request"
                )
            _check_deletable(config, topic, command.writer)
        except Refusal as refusal:
            error, because = refusal.error, refusal.because
            outcomes.append(
                TopicOutcome(name=name, topic_id=topic_id, error=error, because=because)
            )
            continue
        deleted.add(topic.id)
        records.append(RemoveTopicRecord(topic_id=topic.id))
        outcomes.append(TopicOutcome(name=name, topic_id=topic_id))
    return ControllerResult(tuple(records), tuple(outcomes))


def _find(image: Image, named: str | UUID) -> TopicImage:
    if isinstance(named, str):
        topic, error = image.topics_by_name.get(named), KafkaError.UNKNOWN_TOPIC_OR_PARTITION
    elif named == NO_ID:
        raise Refusal(KafkaError.INVALID_REQUEST, "neither a name nor an id")
    else:
        topic, error = image.topics_by_id.get(named), KafkaError.UNKNOWN_TOPIC_ID
    if topic is None:
        raise Refusal(error, f"there is no topic {named}")
    return topic


def _check_deletable(config: BrokerConfig, topic: TopicImage, writer: str | None) -> None:
    if not config.delete_topic_enable:
        because = "topics are not deleted: delete.topic.enable is false on the active controller"
        raise Refusal(KafkaError.TOPIC_DELETION_DISABLED, because)
    if topic.is_internal:
        raise Refusal(KafkaError.POLICY_VIOLATION, f"{topic.name} is the coordinator's own")
    check_writer(topic, writer)
