"""Commands as an operator, a client or a link would give them, good and bad alike."""

from hypothesis import strategies as st

from brokers.metadata.commands.config_commands import (
    AlterConfigs,
    ConfigChange,
    ConfigOperation,
    ResourceType,
)
from brokers.metadata.commands.document_commands import DocumentChange, PutDocuments
from brokers.metadata.commands.mirror_commands import (
    CreateMirrorTopic,
    CreateMirrorTopics,
    RaiseLeaderEpochs,
    RaiseLeaderEpochsOfTopics,
    SetTopicWriter,
    SetTopicWriters,
)
from brokers.metadata.commands.operation_commands import RecordOperation
from brokers.metadata.commands.producer_id_commands import AllocateProducerIds
from brokers.metadata.commands.topic_commands import (
    CreatePartitions,
    CreateTopics,
    DeleteTopics,
    NewPartitions,
    NewTopic,
)
from brokers.security.origin import Origin

names = st.sampled_from(["a", "b", "a.b", "a_b", "flights", "bad name", "__consumer_offsets"])
links = st.sampled_from(["east", "west"])
configs = st.dictionaries(
    st.sampled_from(["retention.ms", "segment.ms", "cleanup.policy", "nonsense"]),
    st.sampled_from(["1000", "7", "delete", "compact"]),
    max_size=2,
)
epochs = st.dictionaries(st.integers(0, 3), st.integers(0, 9), max_size=2)

new_topics = st.builds(NewTopic, name=names, partition_count=st.integers(-1, 3), configs=configs)
changes = st.builds(
    ConfigChange,
    resource=st.tuples(st.just(ResourceType.TOPIC), names)
    | st.tuples(st.just(ResourceType.BROKER), st.sampled_from(["", "1", "2"])),
    changes=st.dictionaries(
        st.sampled_from(["retention.ms", "cleanup.policy", "log.retention.ms", "flush.messages"]),
        st.tuples(st.sampled_from(ConfigOperation), st.sampled_from([None, "1", "5", "delete"])),
        max_size=2,
    ),
    replace=st.booleans(),
)
documents = st.builds(
    DocumentChange,
    kind=st.sampled_from(["link", "mirror"]),
    name=links,
    body=st.none() | st.binary(max_size=20),
    expected_version=st.none() | st.integers(0, 12),
)

writer_changes = st.builds(
    SetTopicWriter,
    topic=names,
    expected_writer=st.none() | links,
    writer=st.none() | links,
    leader_epochs=epochs,
    expected_versions=st.dictionaries(
        st.tuples(st.sampled_from(["link", "mirror"]), names | links),
        st.integers(0, 12),
        max_size=1,
    ),
)

new_mirrors = st.builds(
    CreateMirrorTopic,
    name=names,
    partition_count=st.integers(0, 3),
    writer=links,
    configs=configs,
    leader_epochs=epochs,
)
raises = st.builds(RaiseLeaderEpochs, topic=names, leader_epochs=epochs)

commands = st.one_of(
    st.builds(CreateTopics, st.lists(new_topics, max_size=3).map(tuple), st.booleans()),
    st.builds(DeleteTopics, st.lists(names, max_size=2).map(tuple), st.none() | links),
    st.builds(
        CreatePartitions,
        st.lists(st.builds(NewPartitions, name=names, count=st.integers(0, 5)), max_size=2).map(
            tuple
        ),
        writer=st.none() | links,
    ),
    new_mirrors,
    st.builds(CreateMirrorTopics, st.lists(new_mirrors, max_size=3).map(tuple)),
    writer_changes,
    st.builds(SetTopicWriters, st.lists(writer_changes, max_size=3).map(tuple)),
    raises,
    st.builds(RaiseLeaderEpochsOfTopics, st.lists(raises, max_size=3).map(tuple)),
    st.builds(AlterConfigs, st.lists(changes, max_size=2).map(tuple), writer=st.none() | links),
    st.builds(AllocateProducerIds, st.integers(1, 2)),
    st.builds(
        RecordOperation,
        origin=st.builds(Origin, st.just("User:ANONYMOUS"), st.none() | links, st.just("10.0.0.7")),
        operation=st.sampled_from(["CreateLink", "Failover"]),
        resources=st.lists(st.tuples(st.sampled_from(["link", "mirror"]), links), max_size=2).map(
            tuple
        ),
        details=st.sampled_from(["", "why not"]),
    ),
    st.builds(PutDocuments, st.lists(documents, max_size=2).map(tuple)),
)
