"""What the metadata plane hears, and what it tells beside its effects on disk and network."""

from typing import TypeAlias

from brokers.effects import Effect
from brokers.events import LogFailed, LogOpened, RangeRead, StateLoaded, StateSaved, Written
from brokers.metadata.controller.active_controller import CommandCompleted
from brokers.metadata.image.image import ImageDelta
from brokers.values import value


@value
class MetadataUpdated:
    """`plane.image` has become another. The first one lists everything there is."""

    delta: ImageDelta


@value
class MetadataReady:
    """The image has all that is committed, as far as anyone has told: from now on it is worth going by."""


MetadataEffect: TypeAlias = "Effect | CommandCompleted | MetadataUpdated | MetadataReady"
MetadataEvent: TypeAlias = LogOpened | LogFailed | Written | RangeRead | StateSaved | StateLoaded
