"""Questions of the link coordinator to the other brokers of its region about mirror topics."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from brokers.ids import BrokerId, Instant
from brokers.region import DescribeMirrors, MirrorsDescribed
from linker.region_client import Effects, RegionClient

Then: TypeAlias = Callable[[Instant], Effects]
# Of one broker: the topics that it was asked about, and its answer.
Heard: TypeAlias = Callable[[BrokerId, tuple[str, ...], MirrorsDescribed], None]


@dataclass(slots=True)
class _Questions:
    """To one broker."""

    topics: dict[str, None] = field(default_factory=dict)
    waiting: list[Then] = field(default_factory=list)
    is_under_way: bool = False


class BrokerQuestions:
    """One question to a broker is under way at a time, and the next one has all that was asked meanwhile."""

    def __init__(self, region: RegionClient, heard: Heard) -> None:
        self._region = region
        self._heard = heard
        self._questions: dict[BrokerId, _Questions] = {}

    def ask(self, wanted: Mapping[BrokerId, Iterable[str]], then: Then, now: Instant) -> Effects:
        """`then` runs once each of these brokers has answered about its topics, or has not in time."""
        if not wanted:
            return then(now)
        missing = len(wanted)

        def one(at: Instant) -> Effects:
            nonlocal missing
            missing -= 1
            return [] if missing else then(at)

        effects: Effects = []
        for broker_id, topics in wanted.items():
            questions = self._questions.setdefault(broker_id, _Questions())
            questions.topics.update(dict.fromkeys(topics))
            questions.waiting.append(one)
            effects += self._next(broker_id)
        return effects

    def _next(self, broker_id: BrokerId) -> Effects:
        questions = self._questions[broker_id]
        if questions.is_under_way or not questions.waiting:
            return []
        topics, questions.topics = tuple(questions.topics), {}
        waiting, questions.waiting = questions.waiting, []
        questions.is_under_way = True
        return [
            self._region.ask(
                lambda ticket: DescribeMirrors(ticket, broker_id, topics),
                partial(self._on_described, broker_id, topics, waiting),
            )
        ]

    def _on_described(
        self,
        broker_id: BrokerId,
        topics: tuple[str, ...],
        waiting: list[Then],
        answer: MirrorsDescribed,
        now: Instant,
    ) -> Effects:
        self._questions[broker_id].is_under_way = False
        self._heard(broker_id, topics, answer)
        effects = self._next(broker_id)
        for then in waiting:
            effects += then(now)
        return effects
