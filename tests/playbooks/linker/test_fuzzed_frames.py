"""Frames of either end whose values are changed at random: the other end's node lives, and goes on afterwards."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from random import Random
from typing import Any

import pytest

from linker.commands import CreateMirror
from linker.errors import LinkRefusal, MirrorError
from linker.frames import (
    Announce,
    AskBeacon,
    Brokers,
    Credit,
    Declined,
    Former,
    Frame,
    MirroredTopics,
    RewatchTopics,
    SourceBroker,
    Superseded,
    SupersededTopic,
    TopicState,
    Unsubscribe,
    WantedStreams,
)
from linker.hold_frames import HeldTopic, HoldRetention, MirrorPositions, RetentionHeld
from linker.reversal_frames import (
    CheckReversals,
    ReversalRefused,
    ReversalsChecked,
    Reverse,
    ReversedTopic,
    WithdrawnReversal,
    WithdrawReversals,
)
from linker.wire import frames
from tests.playbooks.linker import clients
from tests.playbooks.linker.liars import Liar
from tests.playbooks.linker.test_lying_sources import follow
from tests.playbooks.linker.world import caught_up, linked
from tests.quick import some

NUMBERS = (-(2**63), -(2**31), -9, -2, -1, 0, 1, 7, 2**30, 2**31 - 1, 2**32 - 1, 2**62, 2**63 - 1)
TEXTS = ("", "orders", "own", "no such", "__consumer_offsets", "é" * 249, "x" * 250)
DATA = (b"", b"\0", bytes(16), bytes(300))
CHANGED = 0.3  # of all frames
ID = bytes(16)
STRAYS: tuple[Frame, ...] = (
    Announce("west-east", "cluster-west", "", 1),
    AskBeacon(7, "orders", 5),
    Brokers(5, (SourceBroker(1, "west:9092"), SourceBroker(2, "west:9092"))),
    Credit(1 << 20),
    Declined(1, MirrorError.UNEXPECTED_TRUNCATION, "why", 0, 0),
    HoldRetention(1 << 20, 60_000, (HeldTopic("orders", ID),)),
    MirrorPositions(((1, 1),)),
    MirroredTopics((ID,)),
    RetentionHeld(1 << 20, 60_000, "why"),
    CheckReversals(7, (ReversedTopic("orders", ID, ID, 2, False, 5),)),
    ReversalRefused("orders", 1, "NO", "why"),
    ReversalsChecked(7, (ReversalRefused("orders", 1, "NO", "why"),)),
    Reverse((ReversedTopic("orders", ID, ID, 2, False, 5),)),
    RewatchTopics(("orders",), ("own",)),
    Superseded((SupersededTopic("orders", ID, 2),)),
    TopicState("own", ID, 1, {}, (0,), (), (1,), 5, Former("cluster-east", ID, 2)),
    Unsubscribe(1),
    WantedStreams((1, 2), (1,)),
    WithdrawReversals((WithdrawnReversal("orders", ID, 2),)),
)


def other(value: Any, rng: Random) -> Any:
    """A value of the same type."""
    match value:
        case bool():
            return not value
        case int():
            return rng.choice((*NUMBERS, value - 1, value + 1))
        case str():
            return rng.choice(TEXTS)
        case bytes() | bytearray() | memoryview():
            return rng.choice((*DATA, bytes(value)[:-1], bytes(value) * 2))
        case dict():
            return {changed(key, rng): changed(one, rng) for key, one in value.items()}
        case tuple() if hasattr(value, "_fields"):
            return changed(value, rng)
        case tuple():
            items = tuple(changed(one, rng) for one in value)
            return rng.choice((items, items * 3, items[1:], ()))
        case _:
            return value


def changed(value: Any, rng: Random) -> Any:
    """One of its fields is another; of what has none, itself."""
    if is_dataclass(value) and not isinstance(value, type):
        field = rng.choice(fields(value)).name
        return replace(value, **{field: other(getattr(value, field), rng)})
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        field = rng.choice(value._fields)
        return value._replace(**{field: other(getattr(value, field), rng)})
    return other(value, rng)


def values(rng: Random) -> Callable[[Frame], Frame | bytes]:
    """What protobuf cannot hold is no frame, and is not said."""

    def lie(frame: Frame) -> Frame | bytes:
        if rng.random() >= CHANGED:
            return frame
        said: Frame = changed(frame, rng)
        try:
            return bytes(frames.encode(said))
        except (ValueError, TypeError):
            return frame

    return lie


def bits(rng: Random) -> Callable[[Frame], Frame | bytes]:
    def lie(frame: Frame) -> Frame | bytes:
        data = bytearray(frames.encode(frame))
        if not data or rng.random() >= CHANGED:
            return frame
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        return bytes(data)

    return lie


def strays(rng: Random) -> Callable[[Frame], Frame | bytes]:
    """Frames of all kinds where others are meant, of either end, with such values or others."""
    return lambda frame: values(rng)(rng.choice(STRAYS)) if rng.random() < CHANGED else frame


@pytest.mark.parametrize("lies", [values, bits, strays])
@pytest.mark.parametrize("liar", ["source", "destination"])
@pytest.mark.parametrize("seed", some(range(2), quick=1))
def test_a_node_outlives_frames_whose_values_nobody_meant(
    seed: int, liar: str, lies: Callable[[Random], Any]
) -> None:
    world = Liar(seed)
    world.start()
    world.liar = getattr(world, liar)
    clients.create_topic(world.source, "orders", 2)
    clients.create_topic(world.source, "others")
    for host in (world.source, world.destination):
        clients.create_topic(host, "own")
        clients.send(host, "own", 0, b"mine")
    linked(world, consumer_offset_sync_enable="true", consumer_offset_sync_ms="1000")
    world.lie = lies(Random(seed))
    for _ in range(3):
        follow(world)
    assert world.lies > 0
    world.lie = None
    for host in (world.source, world.destination):
        assert clients.send(host, "own", 0, b"more") == (0, 1)
        host.stop()
        host.start()
    # The mirror of before may have FAILED by what was said; the link has not.
    clients.send(world.source, "others", 0, b"a")
    world.run(10_000)
    answer = world.destination.ask(CreateMirror(link="west-east", mirror_topic="others"))
    assert not isinstance(answer, LinkRefusal), answer
    world.run_until(lambda: caught_up(world, "others"))
