"""An earlier report out of its file: nothing in it is believed before its digest fits."""

import json
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, NonNegativeInt, ValidationError

from federation.audit.facts.replica_choice import ReplicaSelection
from federation.audit.segments.checkpoints import Key
from federation.audit.since.chain import ChainLink, digest

FILE_NAME = "audit.json"
NARROW_TO_WIDE = [ReplicaSelection.LEADER, ReplicaSelection.IN_SYNC, ReplicaSelection.ALL]


class NoReport(Exception):
    """There is no earlier report that this audit could go on from; the message says why."""


class _Read(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class JudgedRange(_Read):
    """Offsets [from_offset, to_offset) that a report of the chain read and found kept; `at_ms` is that report's."""

    from_offset: NonNegativeInt
    to_offset: NonNegativeInt
    at_ms: NonNegativeInt


class LastPartition(_Read):
    """`source_tail` and `mirror_tail` are the digests of the last batch below `compared_to`, or empty."""

    topic: str
    partition: NonNegativeInt
    verdict: str
    compared_to: NonNegativeInt
    judged_by: list[JudgedRange]
    topic_ids: list[str]
    replicas: list[str]
    source_tail: str
    mirror_tail: str


class LastCut(_Read):
    at_ms: NonNegativeInt
    clusters: list[str]
    mirror_prefix: str
    replicas: Literal["leader", "in-sync", "all"]


class LastReport(_Read):
    """What an audit needs of the one before; `path` is where it was found."""

    schema_version: Literal["causeway.audit/1"]
    path: str
    digest: str
    cut: LastCut
    chain: list[ChainLink]
    lineage: list[LastPartition]

    def by_key(self) -> dict[Key, LastPartition]:
        return {(one.topic, one.partition): one for one in self.lineage}

    @property
    def link(self) -> ChainLink:
        return ChainLink(self.digest, self.cut.at_ms, self.path)

    def check(self, clusters: tuple[str, str], prefix: str, replicas: ReplicaSelection) -> None:
        """Raises NoReport unless it is one of the same two regions that judged as many replicas."""
        if not all(clusters):
            raise NoReport("the directories don't say which clusters they are of (cluster.id)")
        if tuple(self.cut.clusters) != clusters:
            there, here = (" and ".join(one) for one in (self.cut.clusters, clusters))
            raise NoReport(f"{self.path} is about clusters {there}, not {here}")
        if self.cut.mirror_prefix != prefix:
            raise NoReport(f"{self.path} has mirror prefix {self.cut.mirror_prefix!r}")
        then = NARROW_TO_WIDE.index(ReplicaSelection(self.cut.replicas))
        if then < NARROW_TO_WIDE.index(replicas):
            raise NoReport(f"{self.path} judged --replicas {self.cut.replicas} only")


def load(path: str) -> LastReport:
    """From audit.json, or the folder that holds it; raises NoReport."""
    file = Path(path, FILE_NAME) if Path(path).is_dir() else Path(path)
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(document, dict):
            raise ValueError("not an object")
        said = document.get("digest")
        if said is None:
            raise ValueError("no digest: a report of an earlier release, or none")
        if said != digest(document):
            raise ValueError("its digest does not fit: it was changed after it was written")
        fields = {**document, "path": str(file.resolve()), "schema_version": document.get("schema")}
        fields["chain"] = [tuple(one.values()) for one in document["chain"]]
        return LastReport.model_validate_json(json.dumps(fields))
    except OSError as error:
        raise NoReport(f"{file}: {error.strerror}") from error
    except ValidationError as error:
        raise NoReport(f"{file} is no report: {error.errors()[0]['msg']}") from error
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise NoReport(f"{file} is no report to go on from: {error}") from error
