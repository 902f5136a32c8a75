"""Changes that are proposed together get the answers that are theirs."""

from random import Random
from typing import Any

from brokers.errors import KafkaError, Refusal
from brokers.metadata.commands.document_commands import DocumentChange, PutDocuments
from brokers.metadata.commands.mirror_commands import (
    CreateMirrorTopic,
    CreateMirrorTopics,
    RaiseLeaderEpochs,
    RaiseLeaderEpochsOfTopics,
    SetTopicWriter,
    SetTopicWriters,
)
from brokers.region import Propose, Proposed
from linker.region_client import RegionClient
from tests.unit.brokers.api.whole import Whole


class Asking:
    """`answers` by topic; `proposed` and not answered, oldest first."""

    def __init__(self, *topics: str) -> None:
        self.answers: dict[str, object] = {}
        self.proposed: list[Propose] = []
        self.region = RegionClient(Whole().broker.view, Random(1))
        for topic in topics:
            change = SetTopicWriter(topic=topic, expected_writer=None, writer="link")
            self.take(self.region.set_writer(change, self.answered(topic)))
        self.run()

    def run(self) -> None:
        for act in self.region.timers.due(0):
            self.take(act(0))

    def raise_epoch(self, topic: str, index: int, epoch: int) -> None:
        command = RaiseLeaderEpochs(topic=topic, leader_epochs={index: epoch})
        self.region.raise_leader_epochs(command, self.answered(f"{topic}-{index}"))

    def answered(self, topic: str) -> Any:
        def answered(result: object, now: int) -> list[Any]:
            self.answers[topic] = result
            return []

        return answered

    def take(self, effects: list[Any]) -> None:
        self.proposed += effects

    def answer(self, result: object) -> None:
        oldest = self.proposed.pop(0)
        self.take(self.region.answered(Proposed(oldest.ticket, result), 0))


def test_each_topic_of_many_gets_its_own_result() -> None:
    asking = Asking("a", "b")
    (proposal,) = asking.proposed
    assert isinstance(proposal.command, SetTopicWriters)
    refused = Refusal(KafkaError.POLICY_VIOLATION, "a mirror of another link")
    asking.answer(({0: 1}, refused))
    assert asking.answers == {"a": {0: 1}, "b": refused}


def test_a_controller_of_an_older_release_is_asked_for_each_topic() -> None:
    asking = Asking("a", "b")
    asking.answer(Refusal(KafkaError.UNSUPPORTED_VERSION, "unknown"))
    topics = [each.command.topic for each in asking.proposed]  # type: ignore[union-attr]
    assert topics == ["a", "b"]
    asking.answer({0: 1})
    asking.answer({0: 2})
    assert asking.answers == {"a": {0: 1}, "b": {0: 2}}


def test_what_nobody_knows_is_not_asked_for_again() -> None:
    asking = Asking("a", "b")
    unknown = Refusal(KafkaError.REQUEST_TIMED_OUT, "the controller is gone")
    asking.answer(unknown)
    assert asking.proposed == []
    assert asking.answers == {"a": unknown, "b": unknown}


def test_an_answer_that_leaves_a_topic_out_leaves_its_outcome_unknown() -> None:
    asking = Asking("a", "b")
    asking.answer(({0: 1},))
    found = asking.answers["b"]
    assert isinstance(found, Refusal) and found.error is KafkaError.REQUEST_TIMED_OUT


def test_documents_that_are_refused_together_are_put_one_by_one_and_others_wait_for_them() -> None:
    asking = Asking()
    region = asking.region
    for name in ("a", "b"):
        change = DocumentChange(kind="test", name=name, body=b"x", expected_version=0)
        region.put(change, asking.answered(name))
    asking.run()
    asking.answer(Refusal(KafkaError.INVALID_UPDATE_VERSION, "changed meanwhile"))
    assert len(asking.proposed) == 2
    last = DocumentChange(kind="test", name="c", body=b"x", expected_version=0)
    region.put(last, asking.answered("c"))
    asking.answer({})
    assert len(asking.proposed) == 1
    asking.answer({})
    (proposal,) = asking.proposed
    assert proposal.command == PutDocuments((last,))
    assert asking.answers == {"a": None, "b": None}


def test_the_document_at_fault_among_many_is_found_by_halves() -> None:
    asking = Asking()
    for number in range(8):
        change = DocumentChange(kind="test", name=str(number), body=b"x", expected_version=0)
        asking.region.put(change, asking.answered(str(number)))
    asking.run()
    refused = Refusal(KafkaError.INVALID_UPDATE_VERSION, "changed meanwhile")
    proposals = 0
    while asking.proposed:
        proposals += 1
        command = asking.proposed[0].command
        assert isinstance(command, PutDocuments)
        asking.answer(refused if "5" in {each.name for each in command.items} else {})
    assert asking.answers == {str(n): refused if n == 5 else None for n in range(8)}
    assert proposals == 7


def test_two_changes_of_one_document_are_proposed_one_after_the_other() -> None:
    asking = Asking()
    for number in range(2):
        change = DocumentChange(kind="test", name="a", body=b"x", expected_version=number)
        asking.region.put(change, asking.answered(str(number)))
    asking.run()
    assert len(asking.proposed) == 1
    asking.answer({})
    assert asking.answers == {"0": None} and len(asking.proposed) == 1


def test_the_leader_epochs_of_a_topic_are_raised_together_with_those_of_others() -> None:
    asking = Asking()
    for topic, index, epoch in (("a", 0, 5), ("b", 1, 6), ("a", 2, 7), ("a", 0, 8)):
        asking.raise_epoch(topic, index, epoch)
    asking.run()
    (proposal,) = asking.proposed
    both = RaiseLeaderEpochs(topic="a", leader_epochs={0: 8, 2: 7})
    other = RaiseLeaderEpochs(topic="b", leader_epochs={1: 6})
    assert proposal.command == RaiseLeaderEpochsOfTopics((both, other))
    gone = Refusal(KafkaError.UNKNOWN_TOPIC_OR_PARTITION, "b was deleted")
    asking.answer(({0: 8, 2: 7}, gone))
    assert asking.answers == {"a-0": {0: 8, 2: 7}, "a-2": {0: 8, 2: 7}, "b-1": gone}


def test_leader_epochs_of_one_topic_need_no_newer_controller() -> None:
    asking = Asking()
    asking.raise_epoch("a", 0, 5)
    asking.raise_epoch("a", 1, 6)
    asking.run()
    (proposal,) = asking.proposed
    assert proposal.command == RaiseLeaderEpochs(topic="a", leader_epochs={0: 5, 1: 6})


def test_a_controller_of_an_older_release_makes_one_mirror_topic_after_the_other() -> None:
    asking = Asking()
    wanted = [
        CreateMirrorTopic(name=name, partition_count=1, writer="link") for name in ("a", "b", "c")
    ]
    for each in wanted:
        asking.region.create_mirror_topic(each, asking.answered(each.name))
    asking.run()
    (proposal,) = asking.proposed
    assert proposal.command == CreateMirrorTopics(tuple(wanted))
    asking.answer(Refusal(KafkaError.UNSUPPORTED_VERSION, "unknown"))
    assert [each.command for each in asking.proposed] == wanted
