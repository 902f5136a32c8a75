"""A region that was down learns what was taken over meanwhile before it takes writes (`link.source.startup.wait.ms`).

When a broker starts, producers' requests to topics that another region mirrors wait: until that region's link has said
what it has taken over, another broker of this region is known to have taken writes all along, or the time is up. Each
of these is a newer version of the link's record (`source_destinations`). What was taken over is read-only in the
metadata log before that. A region without such records waits for nothing.
"""

from typing import Final
from uuid import UUID

from brokers.effects import Changed
from brokers.errors import Refusal
from brokers.ids import Instant, Offset
from brokers.metadata.image.image import ImageDelta
from linker.control.source_destinations import SourceDestinations
from linker.control.write_holds import WriteHolds
from linker.records.destination import DESTINATION_KIND
from linker.region_client import Effects, RegionClient

SETTING: Final = "link.source.startup.wait.ms"
RETRY_MS: Final = 500


class StartupWait:
    """One per broker. `missed`: the destinations that this broker has not waited for any longer since it started."""

    def __init__(
        self,
        region: RegionClient,
        destinations: SourceDestinations,
        holds: WriteHolds,
        wait_ms: int,
    ) -> None:
        self.missed: tuple[str, ...] = ()
        self._region = region
        self._destinations = destinations
        self._holds = holds
        self._wait_ms = wait_ms
        self.has_begun = False  # before that nobody knows who is to be waited for
        self._ready_at: Instant | None = None
        self._awaited: dict[
            str, Offset
        ] = {}  # names of records, and their versions when this broker started
        self._told_at: dict[str, Instant] = {}  # what they said of themselves then
        self._timer: int | None = None

    @property
    def awaited(self) -> tuple[str, ...]:
        """The destinations that are waited for."""
        return tuple(self._awaited)

    def wait_ms(self, name: str, now: Instant) -> int | None:
        """For how much longer at most writes wait for this destination; None: they do not."""
        if name not in self._awaited:
            return None
        until = (now if self._ready_at is None else self._ready_at) + self._wait_ms
        return max(0, until - now)

    # --- the broker's life ---

    def follow(self, delta: ImageDelta, now: Instant) -> Effects:
        """The image may have this process as a broker now. It leads nothing before that."""
        effects: Effects = []
        if not self.has_begun and (began_at := self._region.view.broker_epoch) is not None:
            effects += self._begin(began_at, now)
        self._destinations.follow(delta.documents_changed)
        is_news = any(kind == DESTINATION_KIND for kind, _ in delta.documents_changed)
        return effects + (self._look(now) if is_news or delta.brokers_changed else [])

    def ready(self, now: Instant) -> Effects:
        """Clients are served, and links come in. A lone node has no registration: all that it has is of before."""
        image, own = self._region.view.image, self._region.view.broker_id
        if own not in image.brokers:
            return []  # a controller alone, which has no writes, and may be ready before it knows anything
        effects = [] if self.has_begun else self._begin(image.next_offset, now)
        self._ready_at = now
        if self._awaited:
            self._timer = self._region.timers.set(now + self._wait_ms, self._on_late)
        return effects

    def _begin(self, began_at: Offset, now: Instant) -> Effects:
        self.has_begun = True
        self._destinations.began_at = began_at
        self._destinations.follow(self._region.view.image.documents)
        if not self._wait_ms or not self._destinations.is_enabled:
            return []
        versions = self._destinations.versions
        self._awaited = {name: one for name, one in versions.items() if one < began_at}
        records = self._destinations.records
        self._told_at = {name: records[name].told_at for name in self._awaited}
        return self._hold() if self._awaited else []

    # --- what is waited for ---

    def _look(self, now: Instant) -> Effects:
        """Records of destinations may be newer, or gone; brokers may have been registered."""
        if not self.has_begun:
            return []
        versions = self._destinations.versions
        before = list(self._awaited)
        self._awaited = {
            name: one for name, one in self._awaited.items() if versions.get(name) == one
        }
        effects = self.confirm(now)
        over = [name for name in before if name not in self._awaited]
        return effects + (self._go_on(self._heard(over), now) if over else [])

    def _heard(self, names: list[str]) -> str:
        records = self._destinations.records
        newer = [name for name in names if name in records]
        gone = [name for name in names if name not in newer]
        # Another broker writes a record again as it is.
        heard = [name for name in newer if records[name].told_at != self._told_at[name]]
        unheard = [name for name in newer if name not in heard]
        because = [f"of {', '.join(heard)} it is known what was taken over"] if heard else []
        if unheard:
            because.append(
                f"another broker takes writes; {', '.join(unheard)} was not heard since this one started"
            )
        because += [f"{', '.join(gone)} mirrors nothing any more, or is forgotten"] if gone else []
        return "; ".join(because)

    def _on_late(self, now: Instant) -> Effects:
        self._timer = None
        self.missed, self._awaited = self.awaited, {}
        names = ", ".join(self.missed)
        because = (
            f"{names} was not heard in {SETTING}={self._wait_ms}: it may have taken topics over"
        )
        return self._go_on(because, now) + self.confirm(now)

    def _go_on(self, because: str, now: Instant) -> Effects:
        if self._awaited:
            return self._hold()
        if self._timer is not None:
            self._region.timers.cancel(self._timer)
            self._timer = None
        waited = now - (now if self._ready_at is None else self._ready_at)
        told = Changed("writes", "taken", f"{because}; {waited} ms after the start")
        return [told, self._holds.hold(SETTING, frozenset())]

    def _hold(self) -> Effects:
        records = [self._destinations.records[name] for name in self._awaited]
        topics = frozenset[UUID]().union(*(one.topic_ids for one in records))
        because = f"the link of {', '.join(self._awaited)} has to say first what it has taken over"
        until = f"{because}, for {SETTING}={self._wait_ms} at most"
        return [
            Changed("writes", f"held of {len(topics)} topics", until),
            self._holds.hold(SETTING, topics, because),
        ]

    # --- what others wait for ---

    def confirm(self, now: Instant) -> Effects:
        """This broker takes writes, so those that have started later need not wait: the record is written once more."""
        if self._ready_at is None:
            return []
        names = [name for name in self._destinations.older if name not in self._awaited]
        return [
            effect
            for name in names
            for effect in self._region.put(self._destinations.again(name), self._on_confirmed)
        ]

    def _on_confirmed(self, refusal: Refusal | None, now: Instant) -> Effects:
        if refusal is not None:
            self._region.timers.set(now + RETRY_MS, self.confirm)
        return []
