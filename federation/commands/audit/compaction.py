"""Facts about compaction, for copies of partition folders without the checkpoint files beside them."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from federation.audit.cut.listed_offsets import Unanswered, brokers
from federation.audit.facts.region_facts import RegionFacts, parse
from federation.audit.fetch.compactions import compactions
from federation.audit.segments import data_dir
from federation.audit.segments.checkpoints import Key
from federation.audit.segments.compaction import Compactions
from federation.commands.audit.facts import NoFacts

Told: TypeAlias = dict[int, dict[Key, int]]
"""From where on the log of a partition lacks nothing, by node id."""


def with_compaction(text: str, told: Told) -> str:
    """Facts as JSON, with what is told of each replica."""
    document = json.loads(text)
    for topic in document["topics"]:
        for partition in topic["partitions"]:
            key = topic["name"], partition["partition"]
            partition["complete_from"] = [
                {"replica": node, "offset": told[node][key]}
                for node in sorted(partition["replicas"])
                if key in told.get(node, {})
            ]
    return json.dumps(document)


def by_brokers(bootstrap: str, text: str) -> Told:
    """As each broker of a region that runs says it; an earlier release, or none that answers, says nothing."""
    try:
        addresses = brokers(bootstrap)
    except Unanswered:
        return {}
    told: Told = {}
    for node, keys in _placed(parse(text)).items():
        try:
            found = compactions(addresses[node], keys)
        except (KeyError, OSError):
            continue
        told[node] = {key: one.complete_from for key, one in found.items()}
    return told


def by_directories(paths: Sequence[str], text: str) -> Told:
    """As the checkpoint files of a region that is down say it; raises NoFacts."""
    told: Told = defaultdict(dict)
    placed = _placed(parse(text))
    for path in paths:
        try:
            node, found = data_dir.identify(path).node_id, Compactions(path)
        except (OSError, ValueError) as error:
            raise NoFacts(f"{path}: {error}") from error
        for key in placed.get(node, ()):
            if (one := found.of(key)) is not None:
                told[node][key] = max(one.complete_from, told[node].get(key, 0))
    return told


def _placed(facts: RegionFacts) -> Mapping[int, list[Key]]:
    """The partitions of which each node has a replica."""
    placed: dict[int, list[Key]] = defaultdict(list)
    for key, partition in facts.partitions().items():
        for node in partition.replicas:
            placed[node].append(key)
    return placed
