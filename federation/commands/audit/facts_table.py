"""A region's facts as tables for people."""

from rich.table import Table

from federation.audit.facts.region_facts import RegionFacts, TopicFacts, parse
from federation.commands.answers import screen, show_table


def show_facts(text: str) -> None:
    """`text` is the JSON object that `causeway audit facts --json` prints."""
    facts = parse(text)
    screen().print(f"cluster {facts.cluster_id}: {len(facts.topics)} topics", highlight=False)
    show_table(_topics(facts))
    if facts.holes:
        show_table(_holes(facts))


def _topics(facts: RegionFacts) -> Table:
    table = Table("topic", "partitions", "in sync", "retention.ms", "mirror of", "state")
    mirrors = {one.mirror_topic: one for one in facts.mirrors}
    for topic in facts.topics:
        mirror = mirrors.get(topic.name)
        table.add_row(
            topic.name,
            str(len(topic.partitions)),
            _in_sync(topic),
            topic.configs.get("retention.ms", ""),
            f"{mirror.source_topic} ({mirror.link_name})" if mirror else "",
            mirror.state if mirror else "",
        )
    return table


def _in_sync(topic: TopicFacts) -> str:
    """Replicas that must hold everything below the high watermark, of all."""
    complete = sum(len(one.complete) for one in topic.partitions)
    return f"{complete} of {sum(len(one.replicas) for one in topic.partitions)} replicas"


def _holes(facts: RegionFacts) -> Table:
    table = Table("hole in", "from offset", "to offset", "cause")
    for hole in facts.holes:
        where = f"{hole.topic}-{hole.partition}"
        table.add_row(where, str(hole.from_offset), str(hole.to_offset), hole.cause)
    return table
