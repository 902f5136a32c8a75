"""Which streams a source that dials is to have, as the brokers of the destination have said."""

from collections.abc import Iterable
from typing import Final

from brokers.ids import BrokerId, Instant
from linker.control.source_brokers import Fetcher
from linker.frames import WantedStreams

# A stream that nobody wants any more stays for so long: a leader may come back.
LINGER_MS: Final = 5_000


class WantedByDestination:
    """What a broker has said stays true while its stream is away, and it is one of the destination's."""

    def __init__(self) -> None:
        # None: the broker is of a release that does not say.
        self._said: dict[BrokerId, WantedStreams | None] = {}
        self._unwanted_since: dict[Fetcher, Instant] = {}

    def says(self, broker_id: BrokerId, wanted: WantedStreams | None) -> None:
        self._said[broker_id] = wanted

    def will_say(self, broker_id: BrokerId) -> None:
        """It was of an older release, or not known, until now."""
        if self._said.get(broker_id) is None:
            self._said.pop(broker_id, None)

    def clear(self) -> None:
        self._said.clear()
        self._unwanted_since.clear()

    def fetchers(self, alive: Iterable[BrokerId], count: int) -> dict[Fetcher, None]:
        """`alive`: the brokers of the destination; `count`: the streams of two brokers that share partitions."""
        brokers = list(alive)
        said = [one for broker, one in self._said.items() if broker in brokers]
        told = [one for one in said if one is not None]
        if len(told) < len(said):
            return {Fetcher(broker, number): None for broker in brokers for number in range(count)}
        data = {broker for one in told for broker in one.broker_ids}
        metadata = {broker for one in told for broker in one.metadata_ids} - data
        return {
            Fetcher(broker, number): None
            for broker in brokers
            for number in range(count if broker in data else broker in metadata)
        }

    def outlived(
        self, there: Iterable[Fetcher], wanted: Iterable[Fetcher], now: Instant
    ) -> tuple[list[Fetcher], Instant | None]:
        """Of the streams that are there: those that nobody has wanted for long; and when to look again."""
        before, kept = self._unwanted_since, set(wanted)
        since = {one: before.get(one, now) for one in there if one not in kept}
        over = [one for one, instant in since.items() if instant + LINGER_MS <= now]
        self._unwanted_since = {one: at for one, at in since.items() if one not in over}
        due = min(self._unwanted_since.values(), default=None)
        return over, None if due is None else due + LINGER_MS
