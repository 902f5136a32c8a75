"""Which streams a source that dials is to have, as the brokers of the destination have said.

Each broker of the destination says what it needs itself; the link coordinator says it of all. Where that one is out of
reach, a broker of the source has a stream to every other broker, so that each can say its own.
"""

from collections.abc import Collection, Iterable
from typing import Final

from brokers.ids import BrokerId, Instant
from linker.control.source_brokers import Fetcher
from linker.frames import WantedStreams

# A stream that nobody wants any more stays for so long: a leader may come back.
LINGER_MS: Final = 5_000
# A coordinator that was killed is alive in the metadata for `broker.session.timeout.ms` (9 s). No broker of the source
# reaches it then, and none of them is to open streams to all brokers for that.
UNREACHED_MS: Final = 10_000


class WantedByDestination:
    """What a broker has said stays true while its stream is away, and it is one of the destination's.

    `look` after whatever may have changed, then ask. `due`: when to look again.
    """

    def __init__(self) -> None:
        # None: the broker is of a release that does not say.
        self._said: dict[BrokerId, WantedStreams | None] = {}
        self._unwanted_since: dict[Fetcher, Instant] = {}
        self._unreached_since: dict[
            BrokerId, Instant
        ] = {}  # of brokers to which a stream is wanted
        self._lost: set[BrokerId] = set()  # those that have not been reached for long
        self._is_cut_off = False  # whether the coordinator is one of them

    def says(self, broker_id: BrokerId, wanted: WantedStreams | None) -> None:
        self._said[broker_id] = wanted

    def will_say(self, broker_id: BrokerId) -> None:
        """It was of an older release, or not known, until now."""
        if self._said.get(broker_id) is None:
            self._said.pop(broker_id, None)

    def clear(self) -> None:
        self._said.clear()
        self._unwanted_since.clear()
        self._unreached_since.clear()
        self._lost.clear()
        self._is_cut_off = False

    @property
    def due(self) -> Instant | None:
        """None if only news can change anything."""
        waiting = (at for one, at in self._unreached_since.items() if one not in self._lost)
        dues = [at + UNREACHED_MS for at in waiting]
        dues += [at + LINGER_MS for at in self._unwanted_since.values()]
        return min(dues, default=None)

    def look(
        self, alive: Collection[BrokerId], reached: Collection[BrokerId], now: Instant
    ) -> None:
        """`alive`: the brokers of the destination; `reached`: those to which a stream is open."""
        before, wanted = self._unreached_since, self.fetchers(alive, 1)
        since = {
            one.broker_id: before.get(one.broker_id, now)
            for one in wanted
            if one.broker_id not in reached
        }
        self._unreached_since = since
        self._lost = {one for one, at in since.items() if at + UNREACHED_MS <= now}
        coordinators = self._coordinators(reached).intersection(alive)
        self._is_cut_off = not coordinators.isdisjoint(self._lost)
        if coordinators and coordinators.isdisjoint(since):
            self._forget_lost()

    def _coordinators(self, reached: Collection[BrokerId]) -> set[BrokerId]:
        """As those say that can be heard. It names brokers that mirror nothing, too, which does no harm."""
        told = (self._said.get(broker) for broker in reached)
        return {broker for one in told if one is not None for broker in one.metadata_ids}

    def _forget_lost(self) -> None:
        """What they said is old, and the coordinator says what they need."""
        for broker_id in self._lost:
            self._said.pop(broker_id, None)

    def fetchers(self, alive: Iterable[BrokerId], count: int) -> dict[Fetcher, None]:
        """`alive`: the brokers of the destination; `count`: the streams of two brokers that share partitions."""
        brokers = list(alive)
        said = [one for broker, one in self._said.items() if broker in brokers]
        told = [one for one in said if one is not None]
        if len(told) < len(said):
            return {Fetcher(broker, number): None for broker in brokers for number in range(count)}
        data = {broker for one in told for broker in one.broker_ids}
        metadata = {broker for one in told for broker in one.metadata_ids}
        if self._is_cut_off:
            metadata.update(brokers)
        return {
            Fetcher(broker, number): None
            for broker in brokers
            for number in range(count if broker in data else broker in metadata)
        }

    def outlived(
        self, there: Iterable[Fetcher], wanted: Iterable[Fetcher], now: Instant
    ) -> list[Fetcher]:
        """Of the streams that are there, those that nobody has wanted for long."""
        before, kept = self._unwanted_since, set(wanted)
        since = {one: before.get(one, now) for one in there if one not in kept}
        over = [one for one, instant in since.items() if instant + LINGER_MS <= now]
        self._unwanted_since = {one: at for one, at in since.items() if one not in over}
        return over
