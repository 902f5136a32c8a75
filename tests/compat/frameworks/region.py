"""What a region holds, as a stock client sees it."""

from confluent_kafka import OFFSET_BEGINNING, Consumer, Message
from confluent_kafka import TopicPartition as Position
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType

from tests.compat.frameworks.programs import TIMEOUT_S


def admin(bootstrap: str) -> AdminClient:
    return AdminClient({"bootstrap.servers": bootstrap, "log_level": 2})


def configs(bootstrap: str, topic: str) -> dict[str, str]:
    resource = ConfigResource(ResourceType.TOPIC, topic)
    client = admin(bootstrap)  # must be there when the answer comes
    (found,) = client.describe_configs([resource]).values()
    return {name: str(entry.value) for name, entry in found.result(TIMEOUT_S).items()}


def topics_in(bootstrap: str) -> set[str]:
    return set(admin(bootstrap).list_topics(timeout=TIMEOUT_S).topics)


def partitions_of(bootstrap: str, topic: str) -> int:
    """0 where there is no such topic."""
    known = admin(bootstrap).list_topics(timeout=TIMEOUT_S).topics
    return len(known[topic].partitions) if topic in known else 0


def records_in(bootstrap: str, topic: str) -> list[Message]:
    """All that is committed now, partition by partition."""
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "reader", "enable.auto.commit": False,
         "enable.partition.eof": True}
    )  # fmt: skip
    found = []
    for partition in range(partitions_of(bootstrap, topic)):
        consumer.assign([Position(topic, partition, OFFSET_BEGINNING)])
        while True:
            message = consumer.poll(TIMEOUT_S)
            assert message is not None, f"{topic}-{partition} is not read"
            if message.error():
                break
            found.append(message)
    consumer.close()
    return found


def values_in(bootstrap: str, topic: str) -> list[str]:
    return [message.value().decode() for message in records_in(bootstrap, topic)]


def ends(bootstrap: str, topic: str) -> list[int]:
    """One past the last committed record, by partition."""
    return [high for _, high in _watermarks(bootstrap, topic)]


def starts(bootstrap: str, topic: str) -> list[int]:
    return [low for low, _ in _watermarks(bootstrap, topic)]


def _watermarks(bootstrap: str, topic: str) -> list[tuple[int, int]]:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "reader"})
    places = [Position(topic, each) for each in range(partitions_of(bootstrap, topic))]
    found = [consumer.get_watermark_offsets(place, TIMEOUT_S) for place in places]
    consumer.close()
    return found


def committed(bootstrap: str, group: str, topic: str) -> list[int]:
    """By partition; -1001 where there is none."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group})
    places = [Position(topic, each) for each in range(partitions_of(bootstrap, topic))]
    found = [each.offset for each in consumer.committed(places, timeout=TIMEOUT_S)]
    consumer.close()
    return found
