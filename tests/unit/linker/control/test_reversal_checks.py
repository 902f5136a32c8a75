"""What a dry run of a reversal asks the source: every answer to it counts, and no other one."""

import random
from collections.abc import Mapping
from types import SimpleNamespace

from brokers.ids import Instant
from brokers.metadata.image.image import Image
from linker.control.reversal_checks import ANSWER_MS, ReversalChecks
from linker.data.credit import StreamSender
from linker.events import Send
from linker.region_client import Effects, RegionClient
from linker.reversal_frames import (
    CHECKED_MAX,
    CheckReversals,
    ReversalRefused,
    ReversalsChecked,
    ReversedTopic,
)

NOW = 1_800_000_000_000
ID = bytes(16)
Refused = Mapping[str, ReversalRefused]


class Asking:
    """The destination, on one open stream; `told` has what came of each question."""

    def __init__(self, *, is_open: bool = True) -> None:
        view = SimpleNamespace(image=Image("c"))
        self.client = RegionClient(view, random.Random(1))  # type: ignore[arg-type]
        sources = SimpleNamespace(is_open=is_open, first=SimpleNamespace(sender=StreamSender(7)))
        self.checks = ReversalChecks(self.client, sources)  # type: ignore[arg-type]
        self.told: list[tuple[Refused | None, Instant]] = []

    def ask(self, count: int) -> list[CheckReversals]:
        effects = self.checks.ask(topics(count), self._then, NOW)
        return [one.frame for one in effects if isinstance(one, Send)]

    def _then(self, refused: Refused | None, now: Instant) -> Effects:
        self.told.append((refused, now))
        return []

    def pass_time(self, now: Instant) -> None:
        for act in self.client.timers.due(now):
            assert act(now) == []


def topics(count: int) -> tuple[ReversedTopic, ...]:
    return tuple(ReversedTopic(f"t{number}", ID, ID, 2, False, 5) for number in range(count))


def refused(topic: str) -> ReversalRefused:
    return ReversalRefused(topic, 2, "INVALID_REQUEST", "because")


def test_more_topics_than_a_frame_takes_are_answered_together() -> None:
    asking = Asking()
    first, second = asking.ask(CHECKED_MAX + 1)
    assert first.topics + second.topics == topics(CHECKED_MAX + 1)
    asking.checks.answered(ReversalsChecked(second.nonce, (refused("t1000"),)), NOW + 1)
    assert asking.told == []
    asking.checks.answered(ReversalsChecked(first.nonce, (refused("t3"),)), NOW + 2)
    both = {topic: refused(topic) for topic in ("t3", "t1000")}
    assert asking.told == [(both, NOW + 2)]
    asking.pass_time(NOW + ANSWER_MS)
    assert len(asking.told) == 1


def test_half_an_answer_is_none() -> None:
    asking = Asking()
    first, second = asking.ask(CHECKED_MAX + 1)
    asking.checks.answered(ReversalsChecked(first.nonce, ()), NOW + 1)
    asking.pass_time(NOW + ANSWER_MS - 1)
    assert asking.told == []
    asking.pass_time(NOW + ANSWER_MS)
    assert asking.told == [(None, NOW + ANSWER_MS)]
    asking.checks.answered(ReversalsChecked(second.nonce, ()), NOW + ANSWER_MS + 1)
    assert len(asking.told) == 1


def test_an_answer_to_another_question_is_not_taken() -> None:
    asking = Asking()
    (frame,) = asking.ask(1)
    for nonce in (0, frame.nonce + 1, 2**64 - 1):
        assert asking.checks.answered(ReversalsChecked(nonce, (refused("t0"),)), NOW) == []
    assert asking.told == []
    for _ in range(2):
        asking.checks.answered(ReversalsChecked(frame.nonce, ()), NOW)
    assert asking.told == [({}, NOW)]


def test_without_a_stream_there_is_no_answer() -> None:
    asking = Asking(is_open=False)
    assert asking.ask(1) == []
    assert asking.told == [(None, NOW)]
