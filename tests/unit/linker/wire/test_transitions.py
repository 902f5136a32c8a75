"""What a mirror topic is in the middle of, over protobuf."""

from dataclasses import replace

from linker.answers import Transition, TransitionStep
from linker.wire.administration import reply
from linker.wire.v1 import admin_pb2 as pb
from tests.unit.linker.wire.test_administration import MIRROR

TRANSITION = Transition(
    verb="promote",
    step=TransitionStep.PROVING,
    since=4,
    waits_for="partition 0 is behind",
    can_be_cancelled=True,
    gives_up_at=9,
    asked_by="ann",
    why="exercise",
)


def test_a_transition_arrives_as_it_is_and_none_as_none() -> None:
    described = reply("DescribeMirror", replace(MIRROR, transition=TRANSITION))
    mirror = pb.MirrorReply.FromString(described).mirror
    assert mirror.transition == pb.Transition(
        verb="promote",
        step="PROVING",
        since_ms=4,
        waits_for="partition 0 is behind",
        can_be_cancelled=True,
        gives_up_at_ms=9,
        asked_by="ann",
        reason="exercise",
    )
    without = pb.MirrorReply.FromString(reply("DescribeMirror", MIRROR)).mirror
    assert not without.HasField("transition")
