"""The command that adds to the operator log a change that is made beside the controller."""

from dataclasses import dataclass
from typing import TypeAlias

from brokers.security.origin import Origin

# What was changed: its kind (topic, broker, link ...) and its name.
ChangedResource: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordOperation:
    """-> None. `operation` names what was asked, by its API or command."""

    origin: Origin
    operation: str
    resources: tuple[ChangedResource, ...]
    details: str = ""
