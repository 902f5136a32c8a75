"""How a part waits for the answer of another node."""

import random

import pytest

from brokers.config.broker_config import from_settings
from brokers.effects import Ask, Changed
from brokers.events import Answered, AskFailure
from brokers.ids import Peer
from brokers.node.broker import Broker
from brokers.wire.messages.api_versions import ApiVersionsRequest
from tests.playbooks.metadata.host import NOW

PEER = Peer(2, "127.0.0.1", 9)


def test_every_ask_is_answered_to_whoever_asked() -> None:
    broker = Broker(from_settings({"node.id": 1, "log.dirs": "data"}), "one", random.Random(1))
    continuations = broker.parts.continuations
    asks = [
        ask
        for name in ("first", "second")
        for ask in continuations.ask(
            PEER, "probe", 18, 4, ApiVersionsRequest(), 100,
            lambda answer, now, name=name: [Changed(name, answer.failure.value)],
        )
    ]  # fmt: skip
    tickets = [ask.ticket for ask in asks if isinstance(ask, Ask)]
    assert len(set(tickets)) == 2 and max(tickets) < 0
    second = broker.step(Answered(tickets[1], None, AskFailure.REFUSED), NOW)
    first = broker.step(Answered(tickets[0], None, AskFailure.CLOSED), NOW)
    assert (first, second) == ([Changed("first", "closed")], [Changed("second", "refused")])
    with pytest.raises(KeyError):  # each was answered once
        broker.step(Answered(tickets[0], None, AskFailure.CLOSED), NOW)
