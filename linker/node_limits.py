"""What the settings of a node allow its links."""

from dataclasses import dataclass
from typing import Final

from linker.frames import CHUNK_BYTES_MAX, TOPICS_MAX
from linker.gathering import TOGETHER_MAX
from linker.peer_limits import WATCHED, WatchLimits


@dataclass(frozen=True, slots=True)
class NodeLimits:
    """Bytes, where nothing else is said."""

    window_growth_max: int = 0  # of the windows of all streams together
    chunk_bytes_max: int = CHUNK_BYTES_MAX  # that this node takes
    per_second: int = 0  # that a link without a limit of its own copies to this node; 0: no limit
    topics: int = TOPICS_MAX  # mirror topics that a link may have here
    watch: WatchLimits = WATCHED
    together: int = TOGETHER_MAX  # changes of one proposal to the controller


UNLIMITED: Final = NodeLimits()
