"""What a region would say of the partitions that its directories hold: one in-sync replica per node."""

import os
from collections import defaultdict
from typing import Any

from federation.audit.cut.bounds import AuditedRegion
from federation.audit.facts.region_facts import SCHEMA, RegionFacts
from federation.audit.segments.checkpoints import Key
from federation.audit.segments.data_dir import identify
from federation.audit.segments.replica_log import PARTITION_FOLDER


def region(name: str, *data_dirs: str, bootstrap: str = "", **said: Any) -> AuditedRegion:
    return AuditedRegion(name, data_dirs, bootstrap, facts(*data_dirs, **said))


def facts(
    *data_dirs: str,
    isr: dict[Key, list[int]] | None = None,
    configs: dict[str, str] | None = None,
    partition: dict[str, list[Any]] | None = None,
    **said: Any,
) -> RegionFacts:
    """Every replica in sync unless `isr` says otherwise, -1 for none; `configs` are those of all topics, `partition`
    has more about every partition."""
    nodes: dict[Key, list[int]] = defaultdict(list)
    for data_dir in data_dirs if isr is None else ():
        for entry in os.scandir(data_dir):
            if folder := PARTITION_FOLDER.fullmatch(entry.name):
                key = folder["topic"], int(folder["partition"])
                nodes[key].append(max(0, identify(data_dir).node_id))
    topics: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for (topic, number), in_sync in (isr or nodes).items():
        present = [node for node in in_sync if node >= 0]
        row = {"partition": number, "leader": in_sync[0], "replicas": present, "isr": present}
        row |= partition or {}
        topics[topic].append(row)
    return RegionFacts.model_validate(
        {
            "schema": SCHEMA,
            "cluster_id": "",
            "at_ms": 0,
            "topics": [
                {"name": name, "configs": configs or {}, "partitions": partitions}
                for name, partitions in topics.items()
            ],
            **said,
        }
    )
