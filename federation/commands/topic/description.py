"""Topics with their partitions and configurations, as tables and as JSON."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.table import Table

from brokers.ids import id_text
from brokers.metadata.configs.effective_configs import ConfigSource
from federation.commands.answers import screen, show_table
from federation.commands.region.description import PartitionDescription, TopicDescription
from federation.commands.region.partition_rows import COLUMNS, cells, document


def own_configs(described: Mapping[str, Sequence[Any]]) -> dict[str, dict[str, str | None]]:
    """The configurations that a topic has of its own, by topic."""
    return {
        name: {
            each.name: each.value for each in configs if each.config_source == ConfigSource.TOPIC
        }
        for name, configs in described.items()
    }


def topic_document(
    topic: TopicDescription,
    partitions: Iterable[PartitionDescription],
    configs: Mapping[str, str | None],
) -> dict[str, Any]:
    return {
        "topic": topic.name,
        "topic_id": topic.topic_id and id_text(topic.topic_id),
        "internal": topic.is_internal,
        "partition_count": len(topic.partitions),
        "replication_factor": topic.replication,
        "configs": dict(configs),
        "partitions": [document(each) for each in partitions],
    }


def show_topic(
    topic: TopicDescription,
    partitions: Iterable[PartitionDescription],
    configs: Mapping[str, str | None],
) -> None:
    named = f"id {id_text(topic.topic_id)}, " if topic.topic_id else ""
    screen().print(
        f"[bold]{topic.name}[/]  {named}"
        f"partitions {len(topic.partitions)}, replication factor {topic.replication}"
        f"{', internal' if topic.is_internal else ''}",
        highlight=False,
        soft_wrap=True,
    )
    for key, value in configs.items():
        screen().print(f"  {key}={value}", highlight=False, markup=False, soft_wrap=True)
    table = Table(*COLUMNS)
    for each in partitions:
        table.add_row(*cells(each))
    show_table(table)


def show_configs(name: str, configs: Iterable[Any]) -> None:
    """Every configuration with its source; the topic's own first."""
    table = Table(
        "Configuration", "Value", "Source", title=f"{name}: configurations", title_justify="left"
    )
    for each in sorted(configs, key=lambda one: (one.config_source, one.name)):
        table.add_row(each.name, each.value, source_name(each.config_source))
    show_table(table)


def source_name(code: int) -> str:
    """A source of a configuration by Kafka's name, or its number where it is not known."""
    names = {
        ConfigSource.TOPIC: "DYNAMIC_TOPIC_CONFIG",
        ConfigSource.DYNAMIC_BROKER: "DYNAMIC_BROKER_CONFIG",
        ConfigSource.DYNAMIC_DEFAULT_BROKER: "DYNAMIC_DEFAULT_BROKER_CONFIG",
        ConfigSource.STATIC_BROKER: "STATIC_BROKER_CONFIG",
        ConfigSource.DEFAULT: "DEFAULT_CONFIG",
    }
    return next((name for source, name in names.items() if source == code), str(code))
