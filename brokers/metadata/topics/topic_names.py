"""Valid topic names. The limits are Kafka's."""

import re
from collections.abc import Mapping

from brokers.errors import KafkaError, Refusal
from brokers.ids import METADATA_PARTITION
from brokers.metadata.image.image import Image, metric_name

NAME_LENGTH_MAX = 249  # leaves room for `-partition` in a file name of 255
_LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]+")


def check_name(name: str) -> None:
    """Raises Refusal for an invalid topic name, which could not name a folder either."""
    if name == METADATA_PARTITION.topic:
        raise Refusal(KafkaError.INVALID_REQUEST, f"{name} is the region's own log")
    if not _LEGAL_NAME.fullmatch(name) or name in (".", "..") or len(name) > NAME_LENGTH_MAX:
        raise Refusal(
            KafkaError.INVALID_TOPIC_EXCEPTION,
            f"a topic name has 1 to {NAME_LENGTH_MAX} of the characters a-z, A-Z, 0-9, `.`, `_` and `-`,"
            " and is not `.` or `..`",
        )


def check_name_is_free(image: Image, taken: Mapping[str, str], name: str) -> None:
    """Raises Refusal for a name that is invalid, exists, or differs from one in `taken` by `.` and `_` only."""
    check_name(name)
    if name in image.topics_by_name:
        raise Refusal(KafkaError.TOPIC_ALREADY_EXISTS, f"topic {name} exists")
    other = taken.get(metric_name(name))
    if other is not None:
        because = f"topic {name} collides with {other}: names must not differ by `.` and `_` only"
        raise Refusal(KafkaError.INVALID_TOPIC_EXCEPTION, because)
