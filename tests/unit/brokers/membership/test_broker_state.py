"""A broker's life, told by what it is told and what it does about it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.effects import Changed, End, Serve
from brokers.errors import KafkaError
from brokers.membership.broker_state import (
    LEAVE_TIMEOUT_MS,
    LEAVING_INTERVAL_MS,
    RETRY_MS,
    SILENCE_TIMEOUT_MS,
    Beat,
    BrokerState,
    Register,
    State,
    Unfenced,
)

INTERVAL, SESSION = 2_000, 9_000


class Story:
    """A life and its clock; every step returns what was asked for, without what is only told."""

    def __init__(self, previous: int = -1) -> None:
        self.now = 1_000_000
        self.life = BrokerState(
            7, interval_ms=INTERVAL, session_ms=SESSION, previous_broker_epoch=previous
        )

    def _done(self, effects: list[Any]) -> list[Any]:
        return [effect for effect in effects if not isinstance(effect, Changed)]

    def start(self) -> list[Any]:
        return self._done(self.life.start(self.now))

    def registered(self, broker_epoch: int = 40) -> list[Any]:
        return self._done(self.life.registered(broker_epoch, self.now))

    def refused(self, error: KafkaError) -> list[Any]:
        return self._done(self.life.not_registered(error, "because", self.now))

    def beaten(self, *, fenced: bool = False, go: bool = False) -> list[Any]:
        return self._done(self.life.beaten(is_fenced=fenced, should_shut_down=go, now=self.now))

    def missed(self, error: KafkaError = KafkaError.NOT_CONTROLLER) -> list[Any]:
        return self._done(self.life.not_beaten(error, self.now))

    def progressed(self, next_offset: int, *, settled: bool = True) -> list[Any]:
        return self._done(self.life.progressed(next_offset, is_settled=settled, now=self.now))

    def leave(self, *, hands_over: bool = True) -> list[Any]:
        return self._done(self.life.leave(self.now, hands_over=hands_over))

    def wait(self, milliseconds: int) -> list[Any]:
        self.now += milliseconds
        return self._done(self.life.on_time(self.now))

    def wait_for_it(self) -> tuple[int, list[Any]]:
        """Until something is due: how long that was, and what was done."""
        assert self.life.deadline is not None
        waited = max(0, self.life.deadline - self.now)
        return waited, self.wait(waited)

    def serve(self) -> "Story":
        self.start()
        self.registered(40)
        self.progressed(41)
        self.beaten(fenced=True)
        self.beaten()
        assert self.life.state is State.SERVING
        return self


def test_it_registers_catches_up_and_serves_before_it_is_counted_on() -> None:
    story = Story(previous=12)
    assert story.start() == [Register(12)]
    assert story.registered(40) == [Beat(40, True, False)]
    assert story.progressed(40) == []  # the registration itself is at 40
    assert story.progressed(50, settled=False) == []
    assert story.beaten(fenced=True) == []
    assert story.progressed(50) == [Serve(), Beat(40, False, False)]
    assert story.beaten(fenced=True) == []
    assert story.wait_for_it() == (INTERVAL, [Beat(40, False, False)])
    assert story.beaten() == [Unfenced()]
    assert story.wait_for_it() == (INTERVAL, [Beat(40, False, False)])


def test_what_became_urgent_during_a_heartbeat_follows_it_at_once() -> None:
    story = Story()
    story.start()
    story.registered()
    assert story.progressed(41) == [Serve()]
    assert story.beaten(fenced=True) == [Beat(40, False, False)]


def test_fenced_again_it_goes_on_and_is_announced_once_only() -> None:
    story = Story().serve()
    story.wait_for_it()
    assert story.beaten(fenced=True) == []
    assert story.life.state is State.FENCED
    assert story.wait_for_it() == (INTERVAL, [Beat(40, False, False)])
    assert story.beaten() == []
    assert story.life.state is State.SERVING


def test_without_an_answer_it_asks_again_ever_more_slowly() -> None:
    story = Story()
    story.start()
    waits = []
    for _ in range(8):
        assert story.refused(KafkaError.NOT_CONTROLLER) == []
        waited, asked = story.wait_for_it()
        assert asked == [Register(-1)]
        waits.append(waited)
    assert waits == [min(RETRY_MS << step, INTERVAL) for step in range(8)]
    story.registered()
    story.missed()
    assert story.wait_for_it() == (RETRY_MS, [Beat(40, True, False)])


@pytest.mark.parametrize(
    "error", [KafkaError.STALE_BROKER_EPOCH, KafkaError.BROKER_ID_NOT_REGISTERED]
)
def test_a_controller_that_does_not_know_it_is_told_anew(error: KafkaError) -> None:
    story = Story().serve()
    story.wait_for_it()
    assert story.missed(error) == [Register(40)]
    assert story.registered(90) == [Beat(90, True, False)]
    assert story.progressed(91) == []
    assert story.beaten(fenced=True) == [Beat(90, False, False)]
    assert story.beaten() == []
    assert story.life.state is State.SERVING


@pytest.mark.parametrize(
    "error",
    [
        KafkaError.INCONSISTENT_CLUSTER_ID,
        KafkaError.UNSUPPORTED_VERSION,
        KafkaError.INVALID_REGISTRATION,
    ],
)
def test_what_no_repetition_mends_ends_the_node_with_the_reason(error: KafkaError) -> None:
    story = Story()
    story.start()
    (gone,) = story.refused(error)
    assert "node 7" in gone.reason and "because" in gone.reason
    assert story.life.deadline is None


def test_a_killed_ones_successor_waits_for_its_session_to_end() -> None:
    story = Story()
    story.start()
    started = story.now
    while story.now < started + SESSION:
        assert story.refused(KafkaError.DUPLICATE_BROKER_REGISTRATION) == []
        _, asked = story.wait_for_it()
        assert asked == [Register(-1)]
    assert story.registered() == [Beat(40, True, False)]


def test_the_second_of_two_with_one_id_ends_with_what_to_do() -> None:
    story = Story()
    story.start()
    started = story.now
    while not (ended := story.refused(KafkaError.DUPLICATE_BROKER_REGISTRATION)):
        story.wait_for_it()
    assert story.now == started + SESSION + INTERVAL
    assert "node.id 7" in ended[0].reason and "an id of its own" in ended[0].reason


def test_leaving_hands_over_first() -> None:
    story = Story().serve()
    assert story.leave() == [Beat(40, False, True)]
    assert story.beaten() == []
    assert story.wait_for_it() == (LEAVING_INTERVAL_MS, [Beat(40, False, True)])
    assert story.beaten(go=True) == [End()]
    assert story.wait(100_000) == story.beaten() == story.missed() == story.leave() == []
    assert story.registered() == story.refused(KafkaError.INVALID_REGISTRATION) == []


def test_leaving_waits_for_the_heartbeat_that_is_under_way() -> None:
    story = Story().serve()
    story.wait_for_it()
    assert story.leave() == []
    assert story.beaten(go=True) == [End()]  # it said so before it was asked: fine


@pytest.mark.parametrize("when", ["registering", "catching up"])
def test_one_that_never_served_leaves_at_once(when: str) -> None:
    story = Story()
    story.start()
    if when == "catching up":
        story.registered()
    assert story.leave() == [End()]


def test_one_that_has_nobody_to_hand_over_to_leaves_at_once() -> None:
    assert Story().serve().leave(hands_over=False) == [End()]


def test_asked_twice_it_leaves_at_once() -> None:
    story = Story().serve()
    story.leave()
    assert story.leave() == [End()]


def test_a_controller_that_answers_and_does_not_let_go_is_waited_for_until_a_timeout() -> None:
    story = Story().serve()
    story.leave()
    started = story.now
    while not (effects := story.beaten()):
        _, effects = story.wait_for_it()
        if effects == [End()]:
            break
        assert effects == [Beat(40, False, True)]
    assert (effects, story.now - started) == ([End()], LEAVE_TIMEOUT_MS)


def test_the_timeout_is_shorter_where_the_controller_is_silent() -> None:
    story = Story().serve()
    story.leave()
    assert story.wait_for_it() == (SILENCE_TIMEOUT_MS, [End()])


def test_a_registration_that_was_taken_away_keeps_nobody_from_leaving() -> None:
    story = Story().serve()
    story.leave()
    assert story.missed(KafkaError.STALE_BROKER_EPOCH) == [End()]


STEPS = st.lists(
    st.sampled_from(
        ["fenced", "unfenced", "go", "missed", "stale", "late", "settled", "unsettled", "duplicate"]
    ),
    max_size=60,
)


@given(STEPS, st.integers(0, 60))
def test_whatever_happens_one_request_is_under_way_or_a_time_to_ask_is_set(
    steps: list[str], leave_at: int
) -> None:
    story, asked = Story(), True
    story.start()
    served = announced = 0
    for number, step in enumerate(steps):
        effects: list[Any] = []
        registering = story.life.state is State.REGISTERING
        if number == leave_at:
            effects = story.leave()
        elif step in ("settled", "unsettled"):
            effects = story.progressed(10_000, settled=step == "settled")
        elif step == "late" or not asked:
            _, effects = (0, []) if story.life.deadline is None else story.wait_for_it()
        else:
            asked = False
            match step:
                case "duplicate" if registering:
                    effects = story.refused(KafkaError.DUPLICATE_BROKER_REGISTRATION)
                case "stale" if not registering:
                    effects = story.missed(KafkaError.STALE_BROKER_EPOCH)
                case "missed" | "stale" | "duplicate":
                    effects = (
                        story.refused(KafkaError.NOT_CONTROLLER) if registering else story.missed()
                    )
                case _ if registering:
                    effects = story.registered(40 + number)
                case _:
                    effects = story.beaten(fenced=step == "fenced", go=step == "go")
        requests = [each for each in effects if isinstance(each, Register | Beat)]
        assert len(requests) <= (0 if asked else 1), (step, effects)
        asked = asked or bool(requests)
        served += effects.count(Serve())
        announced += effects.count(Unfenced())
        assert announced <= served <= 1
        if any(isinstance(each, End) for each in effects):
            assert story.life.deadline is None
            return
        assert asked or story.life.deadline is not None
