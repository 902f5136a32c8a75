"""The partitions and settings of a mirror's topic: what they are made with, and what is to be changed."""

from collections.abc import Mapping
from typing import Final

from brokers.errors import KafkaError, Refusal
from brokers.ids import Offset
from brokers.metadata.commands.config_commands import ConfigOperation, ConfigOutcome
from brokers.metadata.commands.mirror_commands import CreateMirrorTopic
from brokers.metadata.commands.topic_commands import TopicOutcome
from linker.config_values import CLEANUP_POLICY
from linker.data.mirror_link import LinkOfMirror
from linker.frames import TopicState
from linker.records.mirror_record import MIRROR_KIND, TopicSpec

DELETE: Final = "delete"  # Kafka's default of cleanup.policy
NOT_COMPACTED: Final = (CLEANUP_POLICY, DELETE)


def config_changes(
    source: Mapping[str, str], here: Mapping[str, str], in_step: tuple[str, ...]
) -> dict[str, tuple[ConfigOperation, str | None]]:
    """The changes here that make the settings named in `in_step` equal to the source's."""
    changes: dict[str, tuple[ConfigOperation, str | None]] = {}
    for name in in_step:
        if name in source and source[name] != here.get(name):
            changes[name] = (ConfigOperation.SET, source[name])
        elif name not in source and name in here and (name, here[name]) != NOT_COMPACTED:
            changes[name] = (ConfigOperation.DELETE, None)
    return changes


def with_policy(configs: Mapping[str, str], in_force: str) -> Mapping[str, str]:
    """A source that compacts says so, also where all its topics are compacted. A mirror of another one must not, also
    where all topics of this region are. `in_force`: the policy of the mirror now."""
    if CLEANUP_POLICY in configs:
        return configs
    return {**configs, CLEANUP_POLICY: DELETE} if "compact" in in_force else configs


def creation(
    topic: str, link: LinkOfMirror, state: TopicState, spec: TopicSpec, record_version: Offset
) -> CreateMirrorTopic:
    """The local topic of a new mirror: the source's partitions and synced settings, and what the operator wants.

    `record_version`: of the mirror's record; 0 where it is not written yet."""
    in_step = link.config.value("topic.config.sync.include")
    return CreateMirrorTopic(
        name=topic,
        partition_count=state.partition_count,
        writer=link.name,
        configs={
            **dict(spec.configs),
            **{name: state.configs[name] for name in in_step if name in state.configs},
        },
        leader_epochs=dict(enumerate(state.leader_epochs)),
        replication_factor=spec.replication_factor,
        record_kind=MIRROR_KIND,
        record_version=record_version,
    )


def refusal_of(result: object) -> str | None:
    """Why the controller refused; None if it did not."""
    if isinstance(result, Refusal):
        return result.because
    outcomes = result if isinstance(result, list | tuple) else (result,)
    for outcome in outcomes:
        if (
            isinstance(outcome, TopicOutcome | ConfigOutcome)
            and outcome.error is not KafkaError.NONE
        ):
            return outcome.because or outcome.error.name
    return None
