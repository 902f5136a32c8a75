"""Topics and partitions as the options of `causeway group` name them: `orders`, or `orders:0,1`."""

from collections.abc import Iterable, Sequence

import click

from brokers.ids import TopicPartition
from federation.commands.answers import Failure
from federation.commands.group.brokers import RegionBrokers

topic_option = click.option(
    "--topic",
    "topics",
    multiple=True,
    metavar="TOPIC[:0,1,...]",
    help="A topic, or some partitions of it; once for each topic.",
)
all_groups_option = click.option("--all-groups", is_flag=True, help="Every group of the region.")


def check_groups(names: Sequence[str], *, all_groups: bool) -> None:
    """Raises UsageError unless groups are named in one way."""
    if bool(names) == all_groups:
        raise click.UsageError("Name a group, or give --all-groups.")
    if "" in names:
        raise click.UsageError("The name of a group is not empty.")


def partitions_of(brokers: RegionBrokers, items: Iterable[str]) -> list[TopicPartition]:
    """In order. Raises Failure for a partition that does not exist."""
    wanted = [_split(item) for item in items]
    leaders, _ = brokers.leaders(topic for topic, _ in wanted)
    found: dict[TopicPartition, None] = {}
    for topic, numbers in wanted:
        existing = [name for name in leaders if name.topic == topic]
        if not existing:
            hint = "`causeway topic list` lists those that there are"
            raise Failure(f"there is no topic {topic}", hint=hint)
        named = existing if numbers is None else [TopicPartition(topic, each) for each in numbers]
        unknown = [name for name in named if name not in leaders]
        if unknown:
            hint = f"{topic} has the partitions 0 to {len(existing) - 1}"
            raise Failure(f"there is no partition {unknown[0]}", hint=hint)
        found.update((name, None) for name in named)
    return sorted(found)


def _split(item: str) -> tuple[str, list[int] | None]:
    topic, separator, numbers = item.partition(":")
    if not separator:
        return topic, None
    try:
        return topic, [int(number) for number in numbers.split(",")]
    except ValueError:
        raise click.UsageError(f"--topic {item!r} is not TOPIC:PARTITION,PARTITION.") from None
