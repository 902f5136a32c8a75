"""One mirror partition, event by event: contiguous or ask again, nothing placed before its turn."""

from brokers.errors import KafkaError, Refusal
from brokers.metadata.commands.mirror_commands import RaiseLeaderEpochs
from linker.errors import MirrorError
from linker.frames import Credit, Declined, Subscribe, Unsubscribe
from tests.unit.linker.data.stage import WINDOW, Stage, streaming


def test_it_subscribes_where_its_log_ends() -> None:
    stage = Stage()
    stage.region.end = 42
    assert [frame.offset for frame in stage.start().sent(Subscribe)] == [42]


def test_contiguous_chunks_are_placed_as_they_come_several_under_way() -> None:
    stage = streaming().chunk(0, 10)
    assert [one.offset for one in stage.placed()] == [0]
    assert [one.offset for one in stage.chunk(10, 20).placed()] == [10]


def test_a_gap_makes_it_ask_again_from_where_its_log_ends() -> None:
    stage = streaming().chunk(0, 10)
    first = stage.placed()[0]
    assert stage.chunk(20, 30).placed() == []
    assert stage.sent(Unsubscribe)
    assert not stage.sent(Subscribe), "what is under way comes first"
    stage.answer(first).later()
    assert [frame.offset for frame in stage.sent(Subscribe)] == [10]


def test_a_repeated_chunk_is_never_placed_twice() -> None:
    stage = streaming().chunk(0, 10).chunk(0, 10)
    assert stage.placed() == []


def test_a_chunk_that_holds_nothing_is_a_lie() -> None:
    assert streaming().chunk(0, 0).placed() == []


def test_it_does_not_subscribe_anew_while_something_is_under_way() -> None:
    stage = streaming().chunk(0, 10)
    under_way = stage.placed()[0]
    stage.chunk(50, 60)
    stage.later()
    assert not stage.sent(Subscribe)
    stage.answer(under_way)
    assert [frame.offset for frame in stage.sent(Subscribe)] == [10]


def test_a_higher_leader_epoch_is_raised_here_before_its_batches_are_placed() -> None:
    stage = streaming().chunk(0, 10, epoch=3).at_once()
    assert stage.placed() == []
    (question,) = stage.proposed()
    assert question.command == RaiseLeaderEpochs(topic="orders", leader_epochs={0: 3})
    assert stage.chunk(10, 20, epoch=3).effects == [], "it waits in the queue"
    stage.region.leader_epoch = 3
    assert [one.offset for one in stage.decide(question).placed()] == [0, 10]


def test_an_epoch_that_cannot_be_raised_is_tried_again() -> None:
    stage = streaming().chunk(0, 10, epoch=3).at_once()
    refusal = Refusal(KafkaError.KAFKA_STORAGE_ERROR, "full")
    stage.decide(stage.proposed()[0], refusal)
    assert stage.placed() == []
    assert stage.later().sent(Subscribe)


def test_a_source_that_would_go_back_is_asked_again() -> None:
    stage = streaming().chunk(0, 10)
    stage.answer(stage.placed()[0])
    stage.agree(start=5)
    assert stage.sent(Unsubscribe)


def test_what_the_region_refuses_is_asked_for_again_with_growing_pauses() -> None:
    stage = streaming()
    pauses = []
    for _ in range(6):
        stage.chunk(0, 10)
        before = stage.now
        stage.answer(stage.placed()[0], KafkaError.KAFKA_STORAGE_ERROR).later()
        pauses.append(stage.now - before)
        assert stage.sent(Subscribe)
        stage.agree()
    assert pauses[-1] > 4 * pauses[0]
    assert stage.link.failures == []


def test_batches_that_stay_damaged_fail_the_mirror_when_time_is_up() -> None:
    stage = Stage(**{"cluster.link.retry.timeout.ms": "3000"}).start().agree()
    for _ in range(20):
        stage.chunk(0, 10)
        stage.answer(stage.placed()[0], KafkaError.CORRUPT_MESSAGE)
        if stage.link.failures:
            break
        stage.later().agree()
    assert [error for error, _ in stage.link.failures] == [MirrorError.UNSUPPORTED_MESSAGE_FORMAT]
    assert stage.now - 1_000 >= 3_000
    assert not stage.feed.running


def test_old_message_formats_fail_the_mirror_as_damage_does() -> None:
    stage = Stage(**{"cluster.link.retry.timeout.ms": "3000"}).start().agree()
    refused_for_ever(stage, KafkaError.INVALID_RECORD)
    assert [error for error, _ in stage.link.failures] == [MirrorError.UNSUPPORTED_MESSAGE_FORMAT]


def test_batches_that_begin_below_the_agreed_offset_fail_the_mirror_when_time_is_up() -> None:
    """The leader epochs agree and the batches do not: no asking again makes that good."""
    stage = Stage(**{"cluster.link.retry.timeout.ms": "3000"}).start().agree()
    refused_for_ever(stage, KafkaError.OFFSET_OUT_OF_RANGE)
    assert [error for error, _ in stage.link.failures] == [MirrorError.UNEXPECTED_TRUNCATION]
    assert stage.now - 1_000 >= 3_000
    assert not stage.feed.running


def test_a_range_that_came_after_another_was_lost_never_fails_the_mirror() -> None:
    """The disk refuses the first: the log's end is below the others, and nothing is wrong with them."""
    stage = Stage(**{"cluster.link.retry.timeout.ms": "3000"}).start().agree()
    for _ in range(20):
        first, second = stage.chunk(0, 10).placed()[0], stage.chunk(10, 20).placed()[0]
        stage.answer(first, KafkaError.KAFKA_STORAGE_ERROR)
        stage.answer(second, KafkaError.OFFSET_OUT_OF_RANGE)
        stage.later().agree()
    assert stage.link.failures == []


def test_a_source_that_keeps_breaking_its_word_fails_the_mirror_when_time_is_up() -> None:
    stage = Stage(**{"cluster.link.retry.timeout.ms": "3000"}).start().agree()
    for _ in range(20):
        stage.chunk(7, 9)
        if stage.link.failures:
            break
        stage.later().agree()
    assert [error for error, _ in stage.link.failures] == [MirrorError.ILLEGAL_STATE]
    assert not stage.feed.running


def test_a_source_that_would_always_go_back_fails_the_mirror_when_time_is_up() -> None:
    stage = Stage(**{"cluster.link.retry.timeout.ms": "3000"})
    stage.region.end = 5
    stage.start()
    for _ in range(20):
        stage.agree(3)
        if stage.link.failures:
            break
        stage.later()
    assert [error for error, _ in stage.link.failures] == [MirrorError.ILLEGAL_STATE]


def test_a_source_whose_batches_end_elsewhere_than_it_says_fails_the_mirror_in_time() -> None:
    stage = Stage(**{"cluster.link.retry.timeout.ms": "3000"}).start().agree()
    for _ in range(20):
        end = stage.region.end
        stage.chunk(end, end + 11)
        stage.answer(stage.placed()[0])
        if stage.link.failures:
            break
        assert stage.sent(Unsubscribe)
        stage.later().agree(end + 10)
    assert [error for error, _ in stage.link.failures] == [MirrorError.ILLEGAL_STATE]
    assert "came as one to" in stage.feed.trouble


def refused_for_ever(stage: Stage, error: KafkaError) -> None:
    for _ in range(20):
        stage.chunk(0, 10)
        stage.answer(stage.placed()[0], error)
        if stage.link.failures:
            return
        stage.later().agree()


def test_a_topic_that_is_not_the_links_any_more_ends_the_feed() -> None:
    stage = streaming().chunk(0, 10)
    stage.answer(stage.placed()[0], KafkaError.POLICY_VIOLATION)
    assert not stage.feed.running
    assert stage.client.timers.deadline is None


def test_a_source_that_cannot_serve_now_is_asked_again_and_a_verdict_is_passed_on() -> None:
    stage = Stage().start()
    stage.effects = stage.feed.on_declined(Declined(1, MirrorError.NOT_SET, "offline"), stage.now)
    assert stage.feed.trouble == "offline"
    assert stage.later().sent(Subscribe)
    stage.feed.on_declined(Declined(2, MirrorError.UNEXPECTED_TRUNCATION, "shorter"), stage.now)
    assert stage.link.failures[0][0] is MirrorError.UNEXPECTED_TRUNCATION


def test_credit_comes_back_for_what_was_placed_and_for_what_was_dropped() -> None:
    stage = streaming().chunk(0, 10, size=3_000)
    stage.answer(stage.placed()[0])
    assert [frame.granted_bytes for frame in stage.sent(Credit)] == [WINDOW + 3_000]
    stage.chunk(10, 20, epoch=5, size=2_000)
    stage.effects = stage.feed.stop()
    assert [frame.granted_bytes for frame in stage.sent(Credit)] == [WINDOW + 5_000]


def test_a_partition_that_goes_offline_is_tried_again() -> None:
    stage = streaming()
    stage.region.online = False
    stage.chunk(0, 10)
    assert stage.placed() == []
    stage.later()
    stage.region.online = True
    assert stage.later().sent(Subscribe)


# --- what the log has in common with its source's ---


def test_what_was_copied_before_the_stream_was_lost_is_in_common_with_the_source() -> None:
    """A restore sealed it as an orphan tail: it was beyond the offset that the source had agreed to."""
    stage = streaming().chunk(0, 10)
    assert stage.feed.common.offset == 0
    stage.answer(stage.placed()[0])
    under_way = stage.chunk(10, 20).placed()[0]
    stage.feed.stop()
    assert stage.feed.common.offset == 10 and not stage.feed.is_drained
    stage.answer(under_way)
    assert stage.feed.common.offset == 20


def test_what_is_placed_after_a_comparison_was_forgotten_says_nothing() -> None:
    stage = streaming().chunk(0, 10)
    stage.feed.common.forget()
    stage.answer(stage.placed()[0])
    assert stage.feed.common.offset == -1
