"""The source topics that a link watches: those of its mirrors, and those that an operator wants to mirror."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Final, TypeAlias

from brokers.ids import Instant
from linker.control.link_settings import LinkSettings
from linker.control.source_brokers import SourceBrokers
from linker.data.destination_stream import DestinationStream
from linker.filters import Filter, admits
from linker.frames import RewatchTopics, TopicState, WatchTopics
from linker.protocol_versions import REWATCHES_FROM
from linker.region_client import Effects, RegionClient

GATHER_MS: Final = 20
_Names: TypeAlias = dict[str, None]  # in order
# Receives the state of the source topic; None if the source cannot be asked.
Inquirer: TypeAlias = Callable[[TopicState | None, Instant], Effects]


class SourceTopics:
    """Call `watch` after the mirrors or streams have changed; `mirrored` returns the source topics of the mirrors.

    `lacks_state`: whether a mirror of a source topic needs its state, and nothing is under way that brings it.
    """

    def __init__(
        self,
        region: RegionClient,
        settings: LinkSettings,
        sources: SourceBrokers,
        mirrored: Callable[[], Iterable[str]],
        lacks_state: Callable[[str], bool],
        filters: Callable[[], tuple[Filter, ...]],
    ) -> None:
        self._region = region
        self._settings = settings
        self._sources = sources
        self._mirrored = mirrored
        self._lacks_state = lacks_state
        self._filters = filters
        self._watched: dict[DestinationStream, tuple[_Names, tuple[Filter, ...]]] = {}
        # Named on a stream from its beginning, also where the filters admit them: they may be gone by now, and filters
        # admit what exists. Topics that the filters bring later are not named: each would be a list of all of them.
        self._named: dict[DestinationStream, frozenset[str]] = {}
        self._inquiries: dict[str, list[Inquirer]] = {}
        self._unsent: dict[str, None] = {}  # inquiries that the source has not been sent
        self._answered: dict[str, None] = {}  # what the source's list has, and is to be sent again
        self._untried: list[Callable[[Instant], Effects]] = []
        self._timer: int | None = None
        self._is_due = False  # the list will be looked at
        self._looked_at: Instant = 0
        self._admitted: tuple[tuple[Filter, ...], dict[str, bool]] = ((), {})  # by these filters

    def begin(self, now: Instant) -> None:
        """Ask for all states again every `metadata.max.age.ms`, which is new or as before."""
        self.end()
        age = self._settings.config.number("metadata.max.age.ms")
        self._timer = self._region.timers.set(now + age, self._refresh)

    def end(self) -> None:
        """The link is deleted."""
        if self._timer is not None:
            self._region.timers.cancel(self._timer)
            self._timer = None

    def _refresh(self, now: Instant) -> Effects:
        """Changes are sent as they happen; this is for one that was missed."""
        self.begin(now)
        open_streams = [one for one in self._sources.metadata_streams if one in self._watched]
        effects: Effects = []
        for stream in open_streams:
            effects += stream.sender.send(WatchTopics(()), _list(*self._watched[stream]))
        return effects

    def watch(self) -> None:
        """The list of topics may have changed: send it where it has.

        What changes many topics calls this for each of them, and the list has all of them: so it is made once, after
        the event, and not again before `GATHER_MS` have passed.
        """
        if not self._is_due:
            self._is_due = True
            self._region.timers.set(self._looked_at + GATHER_MS, self._on_due)

    def _on_due(self, now: Instant) -> Effects:
        self._is_due, self._looked_at = False, now
        return self._ask_for_admitted(now) + self.send()

    def _ask_for_admitted(self, now: Instant) -> Effects:
        """The state of a topic that filters admit is sent as it changes. It may have come before its mirror was known
        here, and is in no list in which the topic could be new."""
        known, filters = self._watched.get(self._sources.first, ({}, ()))
        return [
            effect
            for topic in self._answered
            if topic not in known and self._admits(filters, topic) and self._lacks_state(topic)
            for effect in self.inquire(topic, lambda state, at: [], now)
        ]

    def send(self) -> Effects:
        """Send the source the list of topics on each stream of metadata, if it has changed there.

        At once when a stream opens, before a beacon is asked for on it: the states of topics come before its answer.
        """
        filters = self._filters()
        topics = dict.fromkeys((*self._mirrored(), *self._inquiries))
        effects = self._drop_answered(topics)
        for stream in self._sources.metadata_streams:
            named = self._named.setdefault(stream, frozenset(topics))
            needed = named | self._inquiries.keys()
            by_name = (one for one in topics if one in needed or not self._admits(filters, one))
            effects += self._send_changes(stream, dict.fromkeys(by_name), filters)
        return effects

    def _send_changes(
        self, stream: DestinationStream, topics: _Names, filters: tuple[Filter, ...]
    ) -> Effects:
        is_new = stream not in self._watched
        known, known_filters = self._watched.get(stream, ({}, ()))
        if topics.keys() == known.keys() and filters == known_filters:
            return []
        self._watched[stream] = topics, filters
        if is_new or filters != known_filters or stream.version < REWATCHES_FROM:
            return [*stream.sender.send(_list(topics, filters))]
        added = tuple(one for one in topics if one not in known)
        removed = tuple(one for one in known if one not in topics)
        return [*stream.sender.send(RewatchTopics(added, removed))]

    def _drop_answered(self, wanted: Iterable[str]) -> Effects:
        """The state of such a topic has been sent. Who watches it from now on has not seen it, and the source sends it
        once more where the topic is new in the list."""
        answered, self._answered = self._answered, {}
        first = self._sources.first
        known, filters = self._watched.get(first, ({}, ()))
        again = answered.keys() & known.keys() & set(wanted)
        if not again:
            return []
        rest = {one: None for one in known if one not in again}
        self._watched[first] = rest, filters
        if first.version >= REWATCHES_FROM:
            return []  # as it names what is new
        return [*first.sender.send(_list(rest, filters))]

    def _admits(self, filters: tuple[Filter, ...], topic: str) -> bool:
        if self._admitted[0] != filters:
            self._admitted = (filters, {})
        known = self._admitted[1]
        if topic not in known:
            known[topic] = admits(filters, topic)
        return known[topic]

    def stream_closed(self, stream: DestinationStream, now: Instant) -> Effects:
        """The stream was lost. If it was the first: inquiries are answered with None."""
        self._watched.pop(stream, None)
        self._named.pop(stream, None)
        self.watch()
        if stream is not self._sources.first:
            return []
        inquiries, self._inquiries = self._inquiries, {}
        effects: Effects = []
        for inquirers in inquiries.values():
            for inquirer in inquirers:
                effects += inquirer(None, now)
        return effects + self.tried(now)

    def when_tried(self, then: Callable[[Instant], Effects], now: Instant) -> Effects:
        """`then` runs once the link is open, or an attempt to open it has failed; at once where the source dials."""
        config = self._settings.config
        if self._sources.is_open or config.paused or config.is_dialed:
            return then(now)
        self._untried.append(then)
        return []

    def tried(self, now: Instant) -> Effects:
        """The link is open, or an attempt to open it has failed."""
        untried, self._untried = self._untried, []
        return [effect for then in untried for effect in then(now)]

    def inquire(self, source_topic: str, inquirer: Inquirer, now: Instant) -> Effects:
        """`inquirer` receives the topic; None when the link does not open, or closes before the answer."""
        return self.when_tried(partial(self._inquire, source_topic, inquirer), now)

    def _inquire(self, source_topic: str, inquirer: Inquirer, now: Instant) -> Effects:
        if not self._sources.is_open:
            return inquirer(None, now)
        self._inquiries.setdefault(source_topic, []).append(inquirer)
        if not self._unsent:
            self._region.timers.set(now, self._send_inquiries)
        self._unsent[source_topic] = None
        return []

    def _send_inquiries(self, now: Instant) -> Effects:
        """Those of one instant together, for each list costs the source a look at all of its topics."""
        topics, self._unsent = self._unsent, {}
        wanted = [topic for topic in topics if topic in self._inquiries]
        if not wanted or not self._sources.is_open:
            return []  # answered with None when the stream closed
        # Sent again even if a topic is watched, so that the answer is newer than the inquiry.
        first = self._sources.first
        is_told = first in self._watched
        known, filters = self._watched.get(first, ({}, ()))
        rest = {one: None for one in known if one not in topics}
        self._watched[first] = rest | dict.fromkeys(wanted), filters
        if first.version >= REWATCHES_FROM and is_told:
            return [*first.sender.send(RewatchTopics(tuple(wanted)))]
        # Without the filters, which may admit them.
        without, whole = _list(rest, ()), _list(*self._watched[first])
        return [*first.sender.send(without, whole)]

    def again(self, topic: str) -> None:
        """Its state is needed once more, if the source was asked for it before."""
        self._answered[topic] = None
        self.watch()

    def mirror_deleted(self, topic: str, now: Instant) -> Effects:
        """Filters that admit the source topic have a mirror of it made anew, for which its state is needed."""
        if not self._admits(self._filters(), topic):
            return []
        return self.inquire(topic, lambda state, at: [], now)

    def answered(self, state: TopicState, now: Instant) -> Effects:
        """The source has sent a topic's state."""
        effects: Effects = []
        inquirers = self._inquiries.pop(state.topic, [])
        for inquirer in inquirers:
            effects += inquirer(state, now)
        if inquirers:
            self._answered[state.topic] = None
            self.watch()
        return effects


def _list(topics: Iterable[str], filters: tuple[Filter, ...]) -> WatchTopics:
    return WatchTopics(tuple(topics), filters)
