"""All conversions, by command and by API key."""

from collections.abc import Mapping

from brokers.metadata.commands.commands import Submitted
from brokers.metadata.requests.configs import ALTER_MIRROR_CONFIGS
from brokers.metadata.requests.conversion import AnyConversion
from brokers.metadata.requests.documents import PUT_DOCUMENTS
from brokers.metadata.requests.mirror_batches import (
    CREATE_MIRROR_TOPICS,
    RAISE_LEADER_EPOCHS_OF_TOPICS,
    SET_TOPIC_WRITERS,
)
from brokers.metadata.requests.mirrors import (
    CREATE_MIRROR_TOPIC,
    RAISE_LEADER_EPOCHS,
    SET_TOPIC_WRITER,
)
from brokers.metadata.requests.operations import RECORD_OPERATION
from brokers.metadata.requests.topics import (
    CREATE_MIRROR_PARTITIONS,
    CREATE_TOPICS,
    DELETE_MIRROR_TOPICS,
)

_OF_OUR_OWN: tuple[AnyConversion, ...] = (
    CREATE_MIRROR_TOPIC,
    CREATE_MIRROR_TOPICS,
    SET_TOPIC_WRITER,
    SET_TOPIC_WRITERS,
    RAISE_LEADER_EPOCHS,
    RAISE_LEADER_EPOCHS_OF_TOPICS,
    PUT_DOCUMENTS,
    RECORD_OPERATION,
    DELETE_MIRROR_TOPICS,
    CREATE_MIRROR_PARTITIONS,
    ALTER_MIRROR_CONFIGS,
)
# key of an API that is not Kafka's -> its conversion
OWN_APIS: Mapping[int, AnyConversion] = {each.api_key: each for each in _OF_OUR_OWN}
_BY_COMMAND: Mapping[type, AnyConversion] = {
    each.command: each for each in (CREATE_TOPICS, *_OF_OUR_OWN)
}


def conversion_of(command: Submitted) -> AnyConversion:
    """The conversion of this command."""
    return _BY_COMMAND[type(command)]
