"""What a node says to its region, and what it does about the answers."""

from typing import Any
from uuid import UUID

import pytest

from brokers.config.broker_config import from_settings
from brokers.effects import Ask, Changed, Effect, End, KeepBrokerEpoch, RemoveStrays, Serve
from brokers.errors import KafkaError
from brokers.events import Answered, AskFailure
from brokers.ids import NO_ID, Peer
from brokers.membership.log_dirs import OwnDirectories, OwnDirectory
from brokers.metadata.image.image import BrokerImage, Endpoint, Image
from brokers.metadata.log.effects import MetadataEffect
from brokers.node.broker_lifecycle import QUORUM_TIMEOUT_MS, BrokerLifecycle
from brokers.region import Ready
from brokers.wire.messages.broker_lifecycle import (
    BrokerHeartbeatResponse,
    BrokerRegistrationResponse,
    Listener,
)
from tests.unit.brokers.wiring import Wiring

ONE = Peer(1, "127.0.0.1", 91)
INCARNATION, DIRECTORY = UUID(int=5), UUID(int=6)
SETTINGS = {
    "node.id": 7,
    "log.dirs": "data",
    "cluster.id": "region-one",
    "process.roles": "broker",
    "controller.quorum.voters": "1@127.0.0.1:91",
    "listeners": "PLAINTEXT://127.0.0.1:97",
    "broker.rack": "a",
    "broker.host": "machine-3",
}


class Plane:
    """Stands for the metadata plane of a node that follows the quorum; a test moves it on."""

    def __init__(self) -> None:
        self.image = Image("region-one")
        self.is_active = False
        self.controller: Peer | None = ONE
        self.has_left = False
        self.is_leaving = False

    def leave(self, now: int) -> list[MetadataEffect]:
        self.is_leaving = True
        return []


class Node:
    """`effects` are those that nobody answers; `asks` wait for the test's answer."""

    def __init__(self, **settings: object) -> None:
        named = {key.replace("_", "."): value for key, value in settings.items()}
        self.plane = Plane()
        self.now = 1_000
        self.effects: list[Effect] = []
        self.asks: list[Ask] = []
        self.is_settled = True
        self.heartbeats_answered = 0
        config = from_settings(SETTINGS | named)
        log_dirs = OwnDirectories((OwnDirectory("data", DIRECTORY),), DIRECTORY)
        self.wiring = Wiring(config, self.plane, log_dirs=log_dirs)
        self.lifecycle = BrokerLifecycle(
            config,
            self.wiring.raft,
            self.wiring.controller,
            self.wiring.channel,
            self.wiring.timers,
            log_dirs=log_dirs,
            shutdown=self.wiring.shutdown,
            host=self,
            incarnation=INCARNATION,
            previous_broker_epoch=12,
        )

    def heartbeat_answered(self, failed: tuple[UUID, ...], now: int) -> None:
        self.heartbeats_answered += 1

    def strays(self) -> Effect:
        return RemoveStrays(frozenset())

    def take(self, effects: list[Effect]) -> None:
        self.asks += [effect for effect in effects if isinstance(effect, Ask)]
        self.effects += [effect for effect in effects if not isinstance(effect, Ask | Changed)]

    def start(self) -> "Node":
        self.take(self.lifecycle.start(self.now))
        return self

    def answer(self, message: Any, failure: AskFailure = AskFailure.NONE) -> None:
        answered = Answered(self.asks.pop(0).ticket, message, failure)
        self.take(self.wiring.continuations.peer_answered(answered, self.now))

    def reach(self, next_offset: int) -> None:
        self.plane.image.next_offset = next_offset
        self.take(self.lifecycle.progressed(self.now))

    def wait(self, milliseconds: int) -> None:
        until = self.now + milliseconds
        while (due := self.wiring.timers.deadline) is not None and due <= until:
            self.now = due
            for act in self.wiring.timers.due(due):
                self.take(act(due))
        self.now = until

    def join(self) -> "Node":
        self.start()
        self.answer(BrokerRegistrationResponse(broker_epoch=40))
        self.reach(41)
        self.answer(BrokerHeartbeatResponse(is_fenced=True))
        self.answer(BrokerHeartbeatResponse(is_fenced=False))
        return self


def test_a_registration_says_all_about_the_node() -> None:
    node = Node().start()
    (ask,) = node.asks
    assert (ask.peer, ask.channel, ask.api_key, ask.api_version) == (ONE, "controller", 62, 4)
    message: Any = ask.message
    assert (message.broker_id, message.cluster_id) == (7, "region-one")
    assert (message.incarnation_id, message.log_dirs) == (INCARNATION, [DIRECTORY])
    assert message.listeners == [Listener(name="PLAINTEXT", host="127.0.0.1", port=97)]
    assert (message.rack, message.host_label, message.previous_broker_epoch) == (
        "a",
        "machine-3",
        12,
    )
    supported = {each.name: each.max_supported_version for each in message.features}
    assert supported["metadata.version"] == 30 and 0 not in supported.values()


def test_a_node_joins_step_by_step() -> None:
    node = Node().start()
    node.answer(BrokerRegistrationResponse(broker_epoch=40))
    (ask,) = node.asks
    message: Any = ask.message
    assert (ask.api_key, message.broker_epoch, message.want_fence) == (63, 40, True)
    node.is_settled = False
    node.reach(41)
    assert node.effects == []
    node.is_settled = True
    node.reach(45)
    assert node.effects == [Serve()]
    node.answer(BrokerHeartbeatResponse(is_fenced=True))
    message = node.asks[0].message
    assert (message.want_fence, message.current_metadata_offset) == (False, 44)
    node.answer(BrokerHeartbeatResponse(is_fenced=False))
    assert node.effects == [Serve(), Ready(), RemoveStrays(frozenset())]
    assert node.heartbeats_answered == 2
    assert node.lifecycle.ended() == [KeepBrokerEpoch(40)]
    node.wait(1_999)
    assert node.asks == []
    node.wait(1)
    assert [each.api_key for each in node.asks] == [63]


def test_an_image_that_is_there_already_is_not_waited_for() -> None:
    node = Node().start()
    node.plane.image.next_offset = 50
    node.answer(BrokerRegistrationResponse(broker_epoch=40))
    assert node.effects == [Serve()]


def test_without_a_controller_it_asks_whoever_becomes_one() -> None:
    node = Node()
    node.plane.controller = None
    node.start()
    node.wait(10_000)
    assert node.asks == []
    node.plane.controller = ONE
    node.take(node.wiring.channel.progressed(node.now))
    node.wait(200)
    assert [each.api_key for each in node.asks] == [62]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (KafkaError.INCONSISTENT_CLUSTER_ID, "log.dirs of this region"),
        (KafkaError.UNSUPPORTED_VERSION, "upgrade this node"),
    ],
)
def test_a_final_refusal_ends_the_node_with_what_to_do(error: KafkaError, said: str) -> None:
    node = Node().start()
    node.answer(BrokerRegistrationResponse(error_code=error))
    (end,) = node.effects
    assert isinstance(end, End) and end.reason is not None and said in end.reason


def test_an_error_of_a_newer_release_is_one_to_try_again_after() -> None:
    node = Node().start()
    node.answer(BrokerRegistrationResponse(error_code=999))
    node.wait(1_000)
    node.answer(BrokerRegistrationResponse(broker_epoch=40))
    node.reach(41)
    node.answer(BrokerHeartbeatResponse(error_code=999))
    node.wait(1_000)
    assert [each.api_key for each in node.asks] == [63]
    assert not [each for each in node.effects if isinstance(each, End)]


def broker(broker_id: int, *, fenced: bool) -> BrokerImage:
    return BrokerImage(
        id=broker_id, broker_epoch=1, incarnation=NO_ID,
        endpoints=(Endpoint("PLAINTEXT", "h", 1),), fenced=fenced,
    )  # fmt: skip


def test_leaving_is_asked_for_where_another_may_take_over() -> None:
    node = Node().join()
    node.plane.image.brokers[8] = broker(8, fenced=False)
    node.take(node.lifecycle.end_asked(node.now))
    message: Any = node.asks[0].message
    assert message.want_shut_down and message.want_fence, "it leads nothing"
    assert not node.plane.is_leaving  # it may be the controller that lets it go
    node.answer(BrokerHeartbeatResponse(is_fenced=False, should_shut_down=True))
    assert node.plane.is_leaving and End() not in node.effects
    node.plane.has_left = True
    node.reach(50)
    assert node.effects[-1] == End()
    node.wait(10_000)
    assert node.effects.count(End()) == 1


def test_the_last_one_leaves_at_once() -> None:
    node = Node().join()
    node.plane.image.brokers[8] = broker(8, fenced=True)
    node.plane.image.brokers[7] = broker(7, fenced=False)
    node.plane.has_left = True
    node.take(node.lifecycle.end_asked(node.now))
    assert node.effects[-1] == End() and node.asks == []


def test_a_node_that_is_no_broker_is_there_once_it_knows_the_controller() -> None:
    node = Node(
        process_roles="controller",
        listeners="CONTROLLER://127.0.0.1:97",
        controller_quorum_voters="1@127.0.0.1:91,7@127.0.0.1:97",
    )
    node.plane.controller = None
    node.start()
    assert node.effects == []
    node.plane.controller = ONE
    node.reach(1)
    node.reach(2)
    assert node.effects == [Serve(), Ready()] and node.asks == []
    node.take(node.lifecycle.end_asked(node.now))
    assert End() not in node.effects
    node.wait(QUORUM_TIMEOUT_MS)  # nobody takes the lead
    assert node.effects[-1] == End()


def test_asked_again_a_node_waits_for_nobody() -> None:
    node = Node().join()
    node.take(node.lifecycle.end_asked(node.now))
    assert End() not in node.effects
    node.take(node.lifecycle.end_asked(node.now))
    assert node.effects[-1] == End()
