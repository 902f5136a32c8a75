"""A region's view with faults: looking at what `raising` names raises, as a bug in it would."""

from typing import Any

from brokers.region import RegionView


class FaultyView:
    """All else is as the true one says."""

    def __init__(self, view: RegionView) -> None:
        self._view = view
        self.raising: tuple[str, ...] = ()

    def __getattr__(self, name: str) -> Any:
        if name in self.raising:
            raise KeyError(f"planted in {name}")
        return getattr(self._view, name)
