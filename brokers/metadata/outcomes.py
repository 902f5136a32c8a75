"""What the metadata plane hears, and what it tells beside its effects on disk and network."""

from typing import TypeAlias

from brokers.effects import Effect
from brokers.events import LogFailed, LogOpened, RangeRead, StateLoaded, StateSaved, Written
from brokers.metadata.deciding import Decided
from brokers.metadata.image import ImageDelta
from brokers.values import value


@value
class ImageChanged:
    """`plane.image` has become another. The first one lists everything there is."""

    delta: ImageDelta


@value
class PlaneReady:
    """The image has all that is committed, as far as anyone has told: from now on it is worth going by."""


PlaneEffect: TypeAlias = "Effect | Decided | ImageChanged | PlaneReady"
PlaneEvent: TypeAlias = LogOpened | LogFailed | Written | RangeRead | StateSaved | StateLoaded
