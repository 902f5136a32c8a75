"""What a replicator uses of the link and the mirror topic that it is of."""

from collections.abc import Callable
from typing import Protocol, TypeAlias

from brokers.ids import Instant
from linker.config import LinkConfig
from linker.errors import MirrorError
from linker.region_client import Effects

# Receives the mirror topic, the error, why, and when.
FailMirror: TypeAlias = Callable[[str, MirrorError, str, Instant], Effects]


class LinkOfMirror(Protocol):
    """What a mirror reads of its link."""

    @property
    def name(self) -> str: ...

    @property
    def config(self) -> LinkConfig: ...
