"""The events of `RaftManager`, and its effects beside those on disk and network."""

from typing import TypeAlias

from brokers.effects import Effect
from brokers.events import LogFailed, LogOpened, RangeRead, StateLoaded, StateSaved, Written
from brokers.metadata.controller.active_controller import CommandCompleted
from brokers.metadata.image.image import ImageDelta
from brokers.values import value


@value
class MetadataUpdated:
    """`RaftManager.image` has changed. The first delta lists everything in the image."""

    delta: ImageDelta


@value
class MetadataReady:
    """The image has reached the high watermark for the first time: the node may act on it from now on."""


MetadataEffect: TypeAlias = "Effect | CommandCompleted | MetadataUpdated | MetadataReady"
MetadataEvent: TypeAlias = LogOpened | LogFailed | Written | RangeRead | StateSaved | StateLoaded
