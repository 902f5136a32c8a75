"""Who waits is told once, in order, and nobody waits in vain."""

from brokers.errors import KafkaError
from brokers.partition.delayed_operations import DelayedOperations

NOW = 5


class Told:
    """Continuations that write down what they heard."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, KafkaError]] = []

    def __call__(self, name: str):
        def then(error: KafkaError, now: int) -> list:
            self.heard.append((name, error))
            return []

        return then


def test_each_acknowledgement_has_its_own_measure() -> None:
    waiting, told = DelayedOperations(), Told()
    waiting.for_offset(5, told("committed"))
    waiting.for_written(5, told("written"))
    waiting.for_trim(3, told("trimmed"))
    waiting.written(5, NOW)
    assert told.heard == [("written", KafkaError.NONE)]
    waiting.trimmed(2, NOW)
    assert waiting.has_trims
    waiting.trimmed(3, NOW)
    assert not waiting.has_trims
    waiting.advance(4, 0, NOW)
    waiting.advance(5, 0, NOW)
    assert [name for name, _ in told.heard] == ["written", "trimmed", "committed"]
    waiting.fail(KafkaError.NOT_LEADER_OR_FOLLOWER, NOW)
    assert len(told.heard) == 3


def test_a_failure_is_heard_by_all() -> None:
    waiting, told = DelayedOperations(), Told()
    waiting.for_offset(5, told("committed"))
    waiting.for_written(5, told("written"))
    waiting.for_trim(3, told("trimmed"))
    waiting.fail(KafkaError.NOT_LEADER_OR_FOLLOWER, NOW)
    assert told.heard == [
        (name, KafkaError.NOT_LEADER_OR_FOLLOWER) for name in ("written", "committed", "trimmed")
    ]


def test_watchers_hear_of_every_move_until_they_leave() -> None:
    class Watcher:
        moves = 0

        def moved(self) -> None:
            self.moves += 1

    waiting, watcher = DelayedOperations(), Watcher()
    waiting.watch(watcher)
    waiting.moved()
    waiting.fail(KafkaError.NONE, NOW)
    assert watcher.moves == 2
    waiting.unwatch(watcher)
    waiting.moved()
    assert watcher.moves == 2
