"""What the source would refuse of a reversal: a dry run asks it, and nothing is changed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeAlias

from brokers.ids import Instant
from linker.control.source_brokers import SourceBrokers
from linker.region_client import Effects, RegionClient
from linker.reversal_frames import (
    CHECKED_MAX,
    CheckReversals,
    ReversalRefused,
    ReversalsChecked,
    ReversedTopic,
)

ANSWER_MS: Final = 5_000  # after which an answer is not waited for any more

Then: TypeAlias = Callable[[Mapping[str, ReversalRefused] | None, Instant], Effects]


@dataclass(slots=True, eq=False)
class _Check:
    """`unanswered`: the nonces of its frames."""

    then: Then
    unanswered: set[int] = field(default_factory=set)
    refused: dict[str, ReversalRefused] = field(default_factory=dict)


class ReversalChecks:
    """Of one link, on its coordinator."""

    def __init__(self, region: RegionClient, sources: SourceBrokers) -> None:
        self._region = region
        self._sources = sources
        self._nonce = 0
        self._waiting: dict[int, _Check] = {}

    def ask(self, topics: Sequence[ReversedTopic], then: Then, now: Instant) -> Effects:
        """`then` gets what the source would refuse, by its topic; None if it does not answer."""
        if not self._sources.is_open:
            return then(None, now)
        check = _Check(then)
        effects: Effects = []
        for first in range(0, len(topics), CHECKED_MAX):
            self._nonce += 1
            self._waiting[self._nonce] = check
            check.unanswered.add(self._nonce)
            frame = CheckReversals(self._nonce, tuple(topics[first : first + CHECKED_MAX]))
            effects += self._sources.first.sender.send(frame)
        self._region.timers.set(now + ANSWER_MS, partial(self._give_up, check))
        return effects

    def answered(self, frame: ReversalsChecked, now: Instant) -> Effects:
        check = self._waiting.pop(frame.nonce, None)
        if check is None:
            return []  # too late, or nobody asked
        check.unanswered.discard(frame.nonce)
        check.refused.update((one.topic, one) for one in frame.refused)
        return [] if check.unanswered else check.then(check.refused, now)

    def _give_up(self, check: _Check, now: Instant) -> Effects:
        if not check.unanswered:
            return []
        for nonce in check.unanswered:
            del self._waiting[nonce]
        return check.then(None, now)
