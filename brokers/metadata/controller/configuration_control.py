"""AlterConfigs (Kafka's ConfigurationControlManager): of topics, and of brokers while they run."""

from collections.abc import Sequence
from dataclasses import replace

from brokers.config.broker_config import BrokerConfig
from brokers.config.replica_placement import parse
from brokers.errors import KafkaError, Refusal
from brokers.metadata.commands.config_commands import (
    AlterConfigs,
    ConfigChange,
    ConfigOperation,
    ConfigOutcome,
    Resource,
    ResourceType,
)
from brokers.metadata.commands.controller_result import ControllerResult, RecordBudget, once
from brokers.metadata.configs.config_def import ConfigKey, ConfigType, config_error, elements
from brokers.metadata.configs.config_keys import (
    DYNAMIC_BROKER_KEYS,
    INDEPENDENT_OF_SOURCE,
    TOPIC_KEYS,
    topic_config_error,
)
from brokers.metadata.configs.effective_configs import topic_values
from brokers.metadata.image.image import NO_LEADER, Image, TopicImage
from brokers.metadata.image.replay import replay
from brokers.metadata.partitions.partition_changes import PartitionChanges
from brokers.metadata.partitions.replica_placer import check_placement
from brokers.metadata.partitions.replica_rules import PLACEMENT_KEY, RULE_KEYS
from brokers.metadata.topics.mirror_topics import (
    check_writer,
    find_topic,
)
from brokers.metadata.topics.topic_names import check_name
from brokers.wire.message import Message
from brokers.wire.messages.metadata_records import ConfigRecord

_TOPIC = ResourceType.TOPIC


def alter_configs(config: BrokerConfig, image: Image, command: AlterConfigs) -> ControllerResult:
    items = {item.resource: item for item in command.items}
    records: list[ConfigRecord] = []
    outcomes: list[ConfigOutcome] = []
    budget = RecordBudget()
    for resource, is_repeated in once(item.resource for item in command.items):
        try:
            if is_repeated:
                because = f"resource {resource[1]} appears twice in one request"
                raise Refusal(KafkaError.INVALID_REQUEST, because)
            changed = _change(config, image, items[resource], command.writer)
            budget.take(len(changed))
        except Refusal as refusal:
            because = refusal.because
            outcomes.append(ConfigOutcome(resource=resource, error=refusal.error, because=because))
            continue
        records += changed
        outcomes.append(ConfigOutcome(resource=resource))
    if command.validate_only:
        return ControllerResult((), tuple(outcomes))
    return ControllerResult((*records, *_consequences(config, image, records)), tuple(outcomes))


def _consequences(
    config: BrokerConfig, image: Image, records: Sequence[ConfigRecord]
) -> Sequence[Message]:
    """Changed keys of `RULE_KEYS` take effect at once: on eligible replicas, promotions and offline partitions."""
    changed = [record for record in records if record.name in RULE_KEYS]
    if not changed:
        return ()
    after = image.copy()
    replay(after, records, image.next_offset)
    names = {record.resource_name for record in changed if record.resource_type == _TOPIC}
    concerns_all = any(record.resource_type != _TOPIC for record in changed)
    changes = PartitionChanges(after, config)
    for topic, index, partition in changes.partitions():
        is_settled = partition.leader != NO_LEADER and not (
            partition.elr or partition.observers or partition.promoted
        )
        if (concerns_all or topic.name in names) and not is_settled:
            changes.update(topic, index, partition)
    return changes.records


def _change(
    config: BrokerConfig, image: Image, item: ConfigChange, writer: str | None
) -> list[ConfigRecord]:
    was = dict(image.config(item.resource))
    wanted = {} if item.replace else dict(was)
    for name, (operation, value) in item.changes.items():
        key = _key(config, item.resource, name, operation)
        base = wanted.get(name, _inherited(config, image, item.resource, key))
        new = _applied(key, name, operation, value, base)
        if new is None:
            wanted.pop(name, None)
        else:
            wanted[name] = new
    _check(image, item.resource, was, wanted, writer)
    names = sorted(name for name in {**was, **wanted} if was.get(name) != wanted.get(name))
    return [_record(item.resource, name, wanted.get(name)) for name in names]


def _record(resource: Resource, name: str, value: str | None) -> ConfigRecord:
    kind, owner = resource
    return ConfigRecord(resource_type=kind, resource_name=owner, name=name, value=value)


def _key(
    config: BrokerConfig, resource: Resource, name: str, operation: ConfigOperation
) -> ConfigKey | None:
    """None for an unknown key, which can only be removed.

    Kafka's tools remove keys that they may have set, whether these are set or not.
    """
    if resource[0] == ResourceType.BROKER:
        is_known = any(name == known for known, _, _ in config.by_kafka_name())
        if operation is ConfigOperation.DELETE and not is_known:
            return DYNAMIC_BROKER_KEYS.get(name)
        if name not in DYNAMIC_BROKER_KEYS:
            because = f"{name} cannot be changed while the broker runs: set it in the node's file"
            raise Refusal(KafkaError.INVALID_REQUEST, because)
        return DYNAMIC_BROKER_KEYS[name]
    return TOPIC_KEYS.get(name)


def _inherited(
    config: BrokerConfig, image: Image, resource: Resource, key: ConfigKey | None
) -> str:
    """The inherited value of a list that is not set, to which an operation appends or from which it subtracts."""
    if key is None or key.type is not ConfigType.LIST:
        return ""
    return topic_values(image, config, resource[1])[key.name]


def _applied(
    key: ConfigKey | None, name: str, operation: ConfigOperation, value: str | None, base: str
) -> str | None:
    if operation is ConfigOperation.DELETE:
        return None
    if value is None:
        raise Refusal(KafkaError.INVALID_REQUEST, f"{name}: no value to {operation.name.lower()}")
    if operation is ConfigOperation.SET:
        return value
    if key is None or key.type is not ConfigType.LIST:
        because = f"{name} is not a list: nothing can be appended to it or subtracted from it"
        raise Refusal(KafkaError.INVALID_CONFIG, because)
    members = dict.fromkeys(elements(base))
    if operation is ConfigOperation.APPEND:
        return ",".join({**members, **dict.fromkeys(elements(value))})
    removed = elements(value)
    return ",".join(member for member in members if member not in removed)


def _check(
    image: Image,
    resource: Resource,
    was: dict[str, str],
    wanted: dict[str, str],
    writer: str | None,
) -> None:
    kind, owner = resource
    changed = [name for name in {**was, **wanted} if was.get(name) != wanted.get(name)]
    if kind == ResourceType.TOPIC:
        check_name(owner)
        topic = find_topic(image, owner)
        followed = [name for name in changed if name not in INDEPENDENT_OF_SOURCE]
        if writer is not None:
            check_writer(topic, writer)
        elif followed:
            _check_own(topic, followed)
    elif kind != ResourceType.BROKER:
        raise Refusal(KafkaError.INVALID_REQUEST, f"resource type {kind} has no settings here")
    else:
        _check_broker(image, owner, changed)
    for name in changed:
        if name in wanted:
            _check_value(kind, owner, name, wanted[name])
        if name == PLACEMENT_KEY and kind == ResourceType.TOPIC:
            _check_placement(image, was.get(name, ""), wanted.get(name, ""))


def _check_own(topic: TopicImage, followed: list[str]) -> None:
    try:
        check_writer(topic, None)
    except Refusal as refusal:
        because = (
            f"{', '.join(followed)} of {topic.name}: settings of a mirror of link {topic.writer} are its source's;"
            " set them there, and have topic.config.sync.include of the link name them"
        )
        raise Refusal(refusal.error, because) from None


def _check_placement(image: Image, was: str, value: str) -> None:
    """A placement that the brokers cannot meet is refused here as for a new topic, which has another error code.

    Another promotion policy of the same placement is always taken: it is needed just when brokers are missing.
    """
    before, placement = parse(was), parse(value)
    if placement is None:
        return
    if before is not None and replace(before, policy=placement.policy) == placement:
        return
    try:
        check_placement(image, placement)
    except Refusal as refusal:
        because = f"{PLACEMENT_KEY}: {refusal.because}"
        raise Refusal(KafkaError.INVALID_CONFIG, because) from None


def _check_broker(image: Image, owner: str, changed: list[str]) -> None:
    if owner == "":
        return
    if owner not in map(str, image.brokers):
        because = f"broker {owner} is not registered; leave the name empty to set it for all"
        raise Refusal(KafkaError.INVALID_REQUEST, because)
    for name in changed:
        if DYNAMIC_BROKER_KEYS[name].is_region_wide:
            because = f"{name} is one for all brokers: set it with an empty broker name"
            raise Refusal(KafkaError.INVALID_CONFIG, because)


def _check_value(kind: int, owner: str, name: str, value: str) -> None:
    if kind == ResourceType.TOPIC:
        because = topic_config_error(owner, name, value)
    else:
        because = config_error(DYNAMIC_BROKER_KEYS[name], "", value)
    if because:
        raise Refusal(KafkaError.INVALID_CONFIG, because)
