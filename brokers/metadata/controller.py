"""Decides: an image and a command to the records that change it. Routes to the file that owns the rule."""

from typing import assert_never

from brokers.config import BrokerConfig
from brokers.ids import Offset
from brokers.metadata.commands import (
    AllocateProducerIds,
    AlterConfigs,
    Command,
    CreateMirrorTopic,
    CreatePartitions,
    CreateTopics,
    DeleteTopics,
    PutDocuments,
    RaiseLeaderEpochs,
    RegisterBroker,
    SetTopicWriter,
)
from brokers.metadata.config_changes import alter_configs
from brokers.metadata.decision import Decision
from brokers.metadata.deletion import delete_topics
from brokers.metadata.documents import put_documents
from brokers.metadata.image import Image
from brokers.metadata.mirrors import create_mirror_topic, raise_leader_epochs, set_topic_writer
from brokers.metadata.partitions import create_partitions
from brokers.metadata.producer_ids import allocate_producer_ids
from brokers.metadata.registration import register_broker
from brokers.metadata.topics import Rules, create_topics
from brokers.ports import Rng


class Controller:
    """Holds no state of its own: everything it goes by is in the image."""

    def __init__(self, config: BrokerConfig, rng: Rng) -> None:
        self._rules = Rules(config, rng)

    def decide(self, image: Image, command: Command, next_offset: Offset) -> Decision:
        """What `command` does to `image` if its records go to `next_offset`; raises `Refusal`."""
        match command:
            case CreateTopics():
                return create_topics(self._rules, image, command)
            case DeleteTopics():
                return delete_topics(image, command)
            case CreatePartitions():
                return create_partitions(image, command)
            case CreateMirrorTopic():
                return create_mirror_topic(self._rules, image, command)
            case SetTopicWriter():
                return set_topic_writer(image, command)
            case RaiseLeaderEpochs():
                return raise_leader_epochs(image, command)
            case AlterConfigs():
                return alter_configs(self._rules.config, image, command)
            case RegisterBroker():
                return register_broker(image, command, next_offset)
            case AllocateProducerIds():
                return allocate_producer_ids(image, command)
            case PutDocuments():
                return put_documents(image, command, next_offset)
            case _:
                assert_never(command)
