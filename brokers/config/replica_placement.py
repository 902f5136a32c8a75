"""Replica placement as operators write it: Confluent's JSON, versions 1 and 2.

    {"version": 2,
     "replicas":  [{"count": 2, "constraints": {"rack": "west"}}],
     "observers": [{"count": 2, "constraints": {"rack": "east"}}],
     "observerPromotionPolicy": "under-min-isr"}

Each rack is named once per list, and may be in both. Version 1 knows no policy: it promotes nobody by itself.
"""

from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError


class PromotionPolicy(Enum):
    """When observers may join the in-sync set: as long as it misses members, by its minimum or at all; or, where only
    an observer was left to lead, by the hand of an operator."""

    UNDER_MIN_ISR = "under-min-isr"
    UNDER_REPLICATED = "under-replicated"
    LEADER_IS_OBSERVER = "leader-is-observer"


@dataclass(frozen=True, slots=True)
class RackCount:
    """So many copies in this rack."""

    rack: str
    count: int


@dataclass(frozen=True, slots=True)
class ReplicaPlacement:
    """How many copies each rack gets."""

    replicas: tuple[RackCount, ...]
    observers: tuple[RackCount, ...]
    policy: PromotionPolicy

    @property
    def replica_count(self) -> int:
        """Copies that may be in sync."""
        return sum(each.count for each in self.replicas)

    @property
    def observer_count(self) -> int:
        return sum(each.count for each in self.observers)


class PlacementError(ValueError):
    """Everything that is wrong with a placement, one sentence a problem."""


@lru_cache(maxsize=256)
def parse(text: str) -> ReplicaPlacement | None:
    """JSON -> placement, None for empty text; raises PlacementError."""
    text = text.strip()  # of more blanks than JSON knows
    if not text:
        return None
    try:
        read = _Placement.model_validate_json(text)
    except ValidationError as error:
        raise PlacementError("; ".join(_problem(each) for each in error.errors())) from None
    problems = [*_twice("replicas", read.replicas), *_twice("observers", read.observers)]
    if read.version == 1 and read.policy not in (None, PromotionPolicy.LEADER_IS_OBSERVER):
        problems.append("observerPromotionPolicy: needs version 2")
    if problems:
        raise PlacementError("; ".join(problems))
    by_version = {1: PromotionPolicy.LEADER_IS_OBSERVER, 2: PromotionPolicy.UNDER_MIN_ISR}
    return ReplicaPlacement(
        replicas=tuple(each.counted for each in read.replicas),
        observers=tuple(each.counted for each in read.observers),
        policy=read.policy or by_version[read.version],
    )


class _Constraints(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    rack: Annotated[str, Field(min_length=1)]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    count: Annotated[int, Field(ge=1, le=32_767, strict=True)]
    constraints: _Constraints

    @property
    def counted(self) -> RackCount:
        return RackCount(self.constraints.rack, self.count)


class _Placement(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1, 2]
    replicas: Annotated[list[_Entry], Field(min_length=1)]
    observers: list[_Entry] = []
    policy: Annotated[PromotionPolicy | None, Field(alias="observerPromotionPolicy")] = None


def _twice(name: str, entries: list[_Entry]) -> list[str]:
    racks = [entry.constraints.rack for entry in entries]
    repeated = dict.fromkeys(rack for rack in racks if racks.count(rack) > 1)
    return [f"{name}: rack {rack} is named twice, give it one count" for rack in repeated]


def _problem(error: Any) -> str:
    where = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        return f"{where}: unknown field"
    if error["type"] == "missing":
        return f"{where}: required"
    return f"{where}: {error['msg']}" if where else error["msg"]
