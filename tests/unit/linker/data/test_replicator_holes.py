"""A replicator before a hole: recorded, then skipped, or refused."""

from brokers.errors import KafkaError, Refusal
from brokers.metadata.commands.document_commands import PutDocuments
from brokers.region import (
    SkipTo,
)
from linker.errors import MirrorError
from tests.unit.linker.data.stage import Stage, streaming


def test_a_hole_is_recorded_then_skipped_then_the_rest_is_placed() -> None:
    stage = Stage().start().agree(start=50, log_start=50)
    (question,) = stage.proposed()
    assert isinstance(question.command, PutDocuments)
    assert stage.chunk(50, 60).effects == []
    (skip,) = stage.decide(question).effects[:1]
    assert isinstance(skip, SkipTo)
    assert skip.offset == 50
    stage.answer(skip)
    assert [one.offset for one in stage.placed()] == [50]


def test_a_hole_that_is_refused_stops_the_partition_where_it_is() -> None:
    stage = Stage()
    stage.region.end = 5
    stage.link.refuses = True
    stage.start().agree(9)
    assert (stage.proposed(), stage.placed(), stage.feed.running) == ([], [], False)
    (hole,) = stage.link.holes
    assert (hole.base_offset, hole.next_offset) == (5, 9)
    assert stage.client.timers.deadline is None, "whoever refused it starts the partition again"


def test_where_nothing_is_yet_no_hole_is_refused() -> None:
    stage = Stage()
    stage.link.refuses = True
    assert len(stage.start().agree(9).proposed()) == 1
    assert stage.link.holes == []


def test_a_hole_waits_for_what_came_before_it() -> None:
    stage = streaming().chunk(0, 10)
    under_way = stage.placed()[0]
    assert stage.agree(start=50, log_start=50).proposed() == []
    stage.answer(under_way)
    assert stage.proposed()


def test_a_hole_that_was_not_recorded_is_not_skipped() -> None:
    stage = Stage().start().agree(start=50, log_start=50)
    stage.decide(stage.proposed()[0], Refusal(KafkaError.KAFKA_STORAGE_ERROR, "full"))
    assert not [effect for effect in stage.effects if isinstance(effect, SkipTo)]


def test_what_the_source_never_had_is_not_deleted_to_go_on_where_its_log_began() -> None:
    stage = Stage()
    stage.region.end = 5
    stage.start().agree(9, log_start=9, began_at=9)
    assert (stage.proposed(), stage.feed.running) == ([], False)
    (failure,) = stage.link.failures
    assert failure[0] is MirrorError.ILLEGAL_STATE
    later = Stage()
    later.region.end = 5
    assert later.start().agree(12, log_start=12, began_at=9).proposed(), "it has deleted that since"
