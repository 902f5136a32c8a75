"""Lists of topics to stop: how large they are, and which topics are left."""

from dataclasses import replace
from uuid import UUID

import pytest

from brokers.metadata.controller.document_control import DOCUMENT_BYTES_MAX
from linker.frames import TOPICS_MAX
from linker.records.mirror_record import Asked, CutKind, MirrorRecord
from linker.records.mirror_state import MirrorState
from linker.records.stop_list import (
    LIST_TOPICS_MAX,
    Stop,
    decode_stop_list,
    in_parts,
    listed,
    put,
)

MIRROR = MirrorRecord(
    topic="orders",
    link="west-east",
    source_topic="orders",
    source_topic_id=UUID(int=7),
    created_at=1_800_000_000_000,
    state=MirrorState.ACTIVE,
    since=1_800_000_000_000,
    asked=Asked("a" * 249 + "@1800000000000", 1_800_000_000_000, "", ""),
)
STOP = Stop(CutKind.FAILOVER, 60_000, Asked("west-east@5", 5, "10.0.0.7:4321", "a drill"))


def test_a_command_of_all_topics_that_a_link_may_have_is_written_in_parts() -> None:
    """With names as long as they may be, and after commands of a link with such a name."""
    records = [replace(MIRROR, topic=f"{index:0249}") for index in range(TOPICS_MAX)]
    parts = list(in_parts("west-east", STOP, records))
    assert [len(one.topics) for one in parts] == [LIST_TOPICS_MAX] * (TOPICS_MAX // LIST_TOPICS_MAX)
    bodies = [put(one).body or b"" for one in parts]
    assert max(map(len, bodies)) < DOCUMENT_BYTES_MAX
    assert [decode_stop_list(body) for body in bodies] == parts
    assert len({one.name for one in parts}) == len(parts)


@pytest.mark.parametrize(
    ("later", "is_left"),
    [
        ({}, True),
        ({"state": MirrorState.PAUSED, "since": 9, "reason": "holes"}, True),
        ({"asked": STOP.asked}, False),
        ({"asked": Asked("west-east@9", 9, "", "")}, False),
        ({"created_at": 9}, False),
        ({"topic": "stock"}, False),
    ],
    ids=["same", "paused", "stopped", "cancelled", "made-anew", "other"],
)
def test_a_topic_is_left_until_somebody_decides_about_its_mirror(
    later: dict[str, object], is_left: bool
) -> None:
    assert listed(MIRROR).is_left(replace(MIRROR, **later)) is is_left  # type: ignore[arg-type]


def test_a_mirror_of_which_nothing_was_asked_is_left_until_something_is() -> None:
    mirror = replace(MIRROR, asked=None)
    assert listed(mirror).is_left(mirror)
    assert not listed(mirror).is_left(MIRROR)


def test_a_restore_says_who_asked_for_it_and_is_no_decision_of_its_own() -> None:
    """What was listed before it has its turn as before. A restore that nobody asked for names nobody."""
    target = MirrorState.PENDING_SETUP_FOR_RESTORE
    restored = MIRROR.restored(target, "truncate-and-restore", 7, by="ann", why="the way back")
    assert restored.asked is not None and MIRROR.asked is not None
    assert restored.asked == Asked(MIRROR.asked.decision_id, 7, "ann", "the way back")
    assert listed(MIRROR).is_left(restored)
    by_itself = restored.restored(target, "mirror.divergence.policy: it lost records", 8)
    assert by_itself.asked == Asked(MIRROR.asked.decision_id, 8, "", "")
    never_asked = replace(MIRROR, asked=None)
    assert listed(never_asked).is_left(never_asked.restored(target, "", 7, by="ann"))
