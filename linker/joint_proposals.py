"""Changes of many topics in one proposal to the controller, each with an answer of its own (`gathering`).

A controller of an older release, which does not know a command for many topics, is asked for each of them. Where all of
a proposal is refused because of one change, it is halved until that one is alone.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, TypeAlias, TypeVar

from brokers.errors import KafkaError, Refusal
from brokers.ids import Instant, LeaderEpoch
from brokers.metadata.commands.commands import Submitted
from brokers.metadata.commands.document_commands import DocumentChange, PutDocuments
from brokers.metadata.commands.mirror_commands import (
    CreateMirrorTopic,
    CreateMirrorTopics,
    RaiseLeaderEpochs,
    RaiseLeaderEpochsOfTopics,
    SetTopicWriter,
    SetTopicWriters,
)
from brokers.timers import Act, Timers
from linker.gathering import Gathering, after

# The disk may have written it although it failed, or the controller that was lost may have.
UNKNOWN_OUTCOMES: Final = (KafkaError.KAFKA_STORAGE_ERROR, KafkaError.REQUEST_TIMED_OUT)

ChangeT = TypeVar("ChangeT")
_Effects: TypeAlias = list[Any]
OnResult: TypeAlias = Callable[[Any, Instant], _Effects]
# Proposes a command to the controller; the second argument is called with the result or the `Refusal`.
ProposeCommand: TypeAlias = Callable[[Submitted, OnResult], Any]
_Put: TypeAlias = tuple[DocumentChange, OnResult]
_Raise: TypeAlias = tuple[RaiseLeaderEpochs, OnResult]


class JointProposals:
    """Each method's `then` receives the result of its own change, or the `Refusal`."""

    def __init__(self, timers: Timers, propose: ProposeCommand, together: int) -> None:
        """`together`: how many changes one proposal has at most."""
        self._propose = propose
        self._puts = Gathering[_Put](
            timers,
            self._propose_puts,
            key=lambda put: (put[0].kind, put[0].name),
            together=together,
        )
        self._writers = Gathering[tuple[SetTopicWriter, OnResult]](
            timers,
            partial(self._each, SetTopicWriters),
            key=lambda change: change[0].topic,
            together=together,
        )
        self._creations = Gathering[tuple[CreateMirrorTopic, OnResult]](
            timers,
            partial(self._each, CreateMirrorTopics),
            key=lambda change: change[0].name,
            weight=lambda change: change[0].partition_count,
            together=together,
        )
        self._raises = Gathering[_Raise](
            timers,
            self._propose_raises,
            weight=lambda change: len(change[0].leader_epochs),
            together=together,
        )

    def put(self, change: DocumentChange, then: OnResult) -> None:
        """The result is None."""
        self._puts.add((change, then))

    def set_writer(self, command: SetTopicWriter, then: OnResult) -> None:
        self._writers.add((command, then))

    def create_mirror_topic(self, command: CreateMirrorTopic, then: OnResult) -> None:
        self._creations.add((command, then))

    def raise_leader_epochs(self, command: RaiseLeaderEpochs, then: OnResult) -> None:
        """The result may have other partitions of the topic besides."""
        self._raises.add((command, then))

    # --- documents ---

    def _propose_puts(self, puts: list[_Put], done: Act) -> _Effects:
        command = PutDocuments(tuple(change for change, _ in puts))
        return [self._propose(command, partial(self._on_put, puts, done))]

    def _on_put(self, puts: list[_Put], done: Act, result: object, now: Instant) -> _Effects:
        refusal = result if isinstance(result, Refusal) else None
        if refusal and len(puts) > 1 and refusal.error not in UNKNOWN_OUTCOMES:
            each_done = after(2, done)  # one of them is at fault
            return [one for half in _halves(puts) for one in self._propose_puts(half, each_done)]
        return [effect for _, then in puts for effect in then(refusal, now)] + done(now)

    # --- commands that have one of many ---

    def _propose_raises(self, changes: list[_Raise], done: Act) -> _Effects:
        """Of each topic all partitions together."""
        epochs: dict[str, dict[int, LeaderEpoch]] = {}
        waiting: dict[str, list[OnResult]] = {}
        for command, then in changes:
            wanted = epochs.setdefault(command.topic, {})
            for index, epoch in command.leader_epochs.items():
                wanted[index] = max(epoch, wanted.get(index, epoch))
            waiting.setdefault(command.topic, []).append(then)
        raises = [
            (RaiseLeaderEpochs(topic=topic, leader_epochs=wanted), _all_of(waiting[topic]))
            for topic, wanted in epochs.items()
        ]
        return self._each(RaiseLeaderEpochsOfTopics, raises, done)

    def _each(
        self,
        many: Callable[[tuple[ChangeT, ...]], Submitted],
        changes: list[tuple[ChangeT, OnResult]],
        done: Act,
    ) -> _Effects:
        """`many`: the command of several such changes. Its result has one for each, in the same order."""
        if len(changes) == 1:
            return self._alone(changes[0], done)
        command = many(tuple(change for change, _ in changes))
        return [self._propose(command, partial(self._on_each, many, changes, done))]

    def _alone(self, change: tuple[Any, OnResult], done: Act) -> _Effects:
        command, then = change
        return [self._propose(command, lambda result, now: then(result, now) + done(now))]

    def _on_each(
        self,
        many: Callable[[tuple[ChangeT, ...]], Submitted],
        changes: list[tuple[ChangeT, OnResult]],
        done: Act,
        result: object,
        now: Instant,
    ) -> _Effects:
        if isinstance(result, Refusal) and result.error is KafkaError.UNSUPPORTED_VERSION:
            each_done = after(len(changes), done)
            return [one for change in changes for one in self._alone(change, each_done)]
        if isinstance(result, Refusal) and result.error not in UNKNOWN_OUTCOMES:
            each_done = after(2, done)
            return [one for half in _halves(changes) for one in self._each(many, half, each_done)]
        results: Sequence[object] = [result] * len(changes)
        if isinstance(result, tuple):
            unsaid = Refusal(KafkaError.REQUEST_TIMED_OUT, "the controller has not said")
            results = [*result, *[unsaid] * len(changes)]
        answered = zip(changes, results, strict=False)
        return [one for (_, then), each in answered for one in then(each, now)] + done(now)


def _halves(changes: list[ChangeT]) -> tuple[list[ChangeT], list[ChangeT]]:
    middle = len(changes) // 2
    return changes[:middle], changes[middle:]


def _all_of(waiting: list[OnResult]) -> OnResult:
    return lambda result, now: [effect for then in waiting for effect in then(result, now)]
