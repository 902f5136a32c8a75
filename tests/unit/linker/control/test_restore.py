"""A restore goes by the record that is there when an answer comes, not by the one that was there when it asked."""

import random
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from brokers.ids import Offset
from brokers.metadata.commands.document_commands import PutDocuments
from brokers.metadata.image.image import Image, PartitionImage, TopicImage
from brokers.region import (
    DescribeMirrors,
    MirrorPartitionStatus,
    MirrorsDescribed,
    MirrorStatus,
    PartitionState,
    Propose,
    Proposed,
)
from linker.control.failover_phases import FailoverProgress
from linker.control.link_settings import LinkSettings
from linker.control.mirror_reports import MirrorReports, Progress, Readers
from linker.control.mirror_topic import MirrorTopic
from linker.control.restore import MirrorRestore
from linker.errors import MirrorError
from linker.records.hole_ledger import DIVERGENCE_CUT_KIND
from linker.records.link_state import LinkRecord
from linker.records.mirror_record import MIRROR_KIND, MirrorRecord, RestorePoint, decode_mirror
from linker.records.mirror_state import MirrorState
from linker.region_client import Effects, RegionClient

OWN, OTHER = 1, 2
CONFIGS = {"bootstrap.servers": "west:9092", "mirror.divergence.policy": "truncate"}
RECORD = MirrorRecord(
    topic="orders",
    link="west-east",
    source_topic="orders",
    source_topic_id=UUID(int=7),
    created_at=0,
    state=MirrorState.PENDING_RESTORE,
    since=0,
)
FAILED = replace(
    RECORD,
    state=MirrorState.FAILED,
    error=MirrorError.UNEXPECTED_TRUNCATION,
    reason="orders-0: the mirror ends at 9, the source at 5",
)


class View:
    """The destination: a mirror topic of one partition."""

    broker_id = OWN

    def __init__(self, leader: int) -> None:
        self.image = Image("east")
        placed = PartitionImage(leader, 0, 0, (leader,), (leader,))
        topic = TopicImage("orders", UUID(int=1), (placed,), writer="west-east")
        self.image.topics_by_name["orders"] = topic

    def partition_state(self, partition: object) -> PartitionState | None:
        return None

    def is_serving(self, partition: object) -> bool:
        return False

    def led_group_partitions(self) -> tuple[tuple[int, int], ...]:
        return ()

    def groups_are_known(self) -> bool:
        return True

    def groups_with_offsets(self) -> tuple[str, ...]:
        return ()

    def active_readers(self, topic: str) -> tuple[str, ...]:
        return ()


class Coordinator:
    """The link coordinator's restore of the topic. `asked`: what it wants of the region."""

    def __init__(self, record: MirrorRecord, *, leader: int) -> None:
        self.client = RegionClient(View(leader), random.Random(1))  # type: ignore[arg-type]
        self.client.is_coordinator = True
        link = LinkSettings(LinkRecord("west-east", "id", "", CONFIGS, 0), 1)
        reports = MirrorReports(
            self.client,
            lambda topic: Progress((), {0: 64}, ""),
            lambda topic: Readers(),
            lambda place, now: None,
        )
        self.mirror = MirrorTopic(
            self.client,
            link,
            None,  # type: ignore[arg-type]  # no stream is looked for
            None,  # type: ignore[arg-type]
            record,
            1,
            FailoverProgress(),
        )
        self.restore = MirrorRestore(self.client, link, reports, self.mirror)
        self.now = 1_000
        self.asked: list[Any] = self.step(self.restore.follow(self.now))

    def step(self, effects: Effects) -> Effects:
        """With what is proposed together with others of the same step."""
        due = [effect for act in self.client.timers.due(self.now) for effect in act(self.now)]
        return effects + due

    def find(self, record: MirrorRecord, version: Offset) -> None:
        """Another broker has written this record."""
        self.mirror.record, self.mirror.version = record, version
        self.asked = self.step(self.restore.follow(self.now))

    def answer(self, answer: Any) -> None:
        self.asked = self.step(self.client.answered(answer, self.now))

    @property
    def written(self) -> MirrorRecord | None:
        """The record that it proposes."""
        for effect in self.asked:
            if isinstance(effect, Propose) and isinstance(effect.command, PutDocuments):
                for change in effect.command.items:
                    if change.kind == MIRROR_KIND and change.body is not None:
                        return decode_mirror(change.name, change.body)
        return None


@pytest.mark.parametrize(
    "state", [MirrorState.PENDING_RESTORE, MirrorState.PENDING_SETUP_FOR_RESTORE]
)
def test_a_mirror_that_fails_again_while_leaders_are_asked_is_restored_again(
    state: MirrorState,
) -> None:
    """It stayed FAILED, though `mirror.divergence.policy` of its link is truncate."""
    coordinator = Coordinator(replace(RECORD, state=state), leader=OTHER)
    (question,) = coordinator.asked
    assert isinstance(question, DescribeMirrors)
    coordinator.find(FAILED, 2)
    assert coordinator.asked == []  # until the leader has answered
    coordinator.answer(MirrorsDescribed(question.ticket, None))
    assert coordinator.written is not None
    assert coordinator.written.state is MirrorState.PENDING_SETUP_FOR_RESTORE


def sealed() -> tuple[Coordinator, Propose]:
    """What is to be cut goes to the hole ledger."""
    points = (RestorePoint(5, 9, 0),)
    setup = replace(RECORD, state=MirrorState.PENDING_SETUP_FOR_RESTORE, restore=points)
    coordinator = Coordinator(setup, leader=OWN)
    (proposal,) = (each for each in coordinator.asked if isinstance(each, Propose))
    assert [change.kind for change in proposal.command.items] == [DIVERGENCE_CUT_KIND]
    return coordinator, proposal


def test_what_is_sealed_and_in_the_hole_ledger_is_cut() -> None:
    coordinator, proposal = sealed()
    coordinator.answer(Proposed(proposal.ticket, ()))
    assert coordinator.written is not None
    assert coordinator.written.state is MirrorState.PENDING_RESTORE


def test_a_tail_ends_where_an_election_has_left_it() -> None:
    """The leader that had all of it is gone, and none in sync had the last two records."""
    points = (RestorePoint(5, 9, 0),)
    setup = replace(RECORD, state=MirrorState.PENDING_SETUP_FOR_RESTORE, restore=points)
    coordinator = Coordinator(setup, leader=OTHER)
    (question,) = coordinator.asked
    assert isinstance(question, DescribeMirrors)
    leads = MirrorPartitionStatus(0, 0, 0, log_end_offset=7, high_watermark=7, last_epoch=0)
    status = MirrorStatus("orders", 1, (leads,))
    coordinator.answer(MirrorsDescribed(question.ticket, (status,)))
    assert coordinator.written is not None
    assert coordinator.written.restore == (RestorePoint(5, 7, 0),)
    assert coordinator.written.state is MirrorState.PENDING_SETUP_FOR_RESTORE


def test_a_mirror_that_fails_again_while_the_ledger_is_written_is_restored_again() -> None:
    coordinator, proposal = sealed()
    coordinator.find(FAILED, 2)
    coordinator.answer(Proposed(proposal.ticket, ()))
    assert coordinator.written is not None
    assert coordinator.written.state is MirrorState.PENDING_SETUP_FOR_RESTORE


def test_a_tail_that_was_sealed_for_an_earlier_restore_says_nothing_of_this_one() -> None:
    """An operator restored the mirror that had failed: it is compared with its source anew, before anything is cut."""
    coordinator, proposal = sealed()
    anew = replace(RECORD, state=MirrorState.PENDING_SETUP_FOR_RESTORE)
    coordinator.find(anew, 3)
    coordinator.answer(Proposed(proposal.ticket, ()))
    assert coordinator.written is None
