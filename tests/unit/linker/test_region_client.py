"""Changes that are proposed together get the answers that are theirs."""

from random import Random
from typing import Any

from brokers.errors import KafkaError, Refusal
from brokers.metadata.commands.document_commands import DocumentChange, PutDocuments
from brokers.metadata.commands.mirror_commands import SetTopicWriter, SetTopicWriters
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
        for act in self.region.timers.due(0):
            self.take(act(0))

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
    for act in region.timers.due(0):
        asking.take(act(0))
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
