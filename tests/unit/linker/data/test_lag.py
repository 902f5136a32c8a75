"""MirrorLag in records and in milliseconds, against a model that knows the whole truth."""

from hypothesis import given
from hypothesis import strategies as st

from linker.data.lag import MOMENTS_MAX, MirrorLag, SourceClock
from linker.offset_bounds import BehindOrigin, OffsetBounds

STEPS = st.lists(
    st.tuples(st.integers(0, 300), st.integers(0, 5), st.integers(0, 5), st.booleans()), max_size=60
)


def hear(
    lag: MirrorLag,
    clock: SourceClock,
    high_watermark: int | None,
    source: int,
    here: int,
    *,
    bytes_ahead: int = -1,
    origin_lag_ms: int = -1,
) -> None:
    """A chunk or beacon: None says that nothing changed."""
    clock.update(source, here)
    if high_watermark is not None:
        origin = BehindOrigin(origin_lag_ms)
        bounds = OffsetBounds(0, high_watermark, high_watermark, bytes_ahead, origin)
        lag.source_at(source, bounds, clock)


def behind_origin(lag: MirrorLag, now: int) -> int:
    return lag.behind_origin(0, now).milliseconds


@given(STEPS, st.integers(-10_000, 10_000))
def test_the_lag_is_the_age_of_the_newest_moment_that_is_held(
    steps: list[tuple[int, int, int, bool]], skew: int
) -> None:
    lag, clock = MirrorLag(), SourceClock()
    now, end, held = 1_000_000, 0, 0
    moments: list[tuple[int, int]] = []  # (source clock, high watermark then)
    for pause, produced, placed, chatty in steps:
        now += pause
        end += produced
        hear(lag, clock, end if produced or chatty or not moments else None, now + skew, now)
        moments.append((now + skew, end))
        held = min(end, held + placed)
        lag.mirror_at(held)
        whole = [at for at, high_watermark in moments if high_watermark <= held]
        assert lag.records(held) == end - held
        assert lag.caught_up == (held == end)
        if whole:
            assert lag.milliseconds(now) == now + skew - max(whole)
        else:
            assert lag.milliseconds(now) == -1


def test_an_idle_topic_ages_only_since_the_last_word_of_the_source() -> None:
    lag, clock = MirrorLag(), SourceClock()
    hear(lag, clock, 7, source=500, here=1_000)
    lag.mirror_at(7)
    for beacon in range(1, 100):
        hear(lag, clock, None, source=500 + 500 * beacon, here=1_000 + 500 * beacon)
    assert lag.milliseconds(1_000 + 500 * 99 + 20) == 20


def test_a_silent_source_makes_the_lag_grow() -> None:
    lag, clock = MirrorLag(), SourceClock()
    hear(lag, clock, 7, source=500, here=1_000)
    lag.mirror_at(7)
    assert lag.milliseconds(61_000) == 60_000


def test_without_a_word_of_the_source_nothing_is_known() -> None:
    assert MirrorLag().records(5) == -1
    assert MirrorLag().milliseconds(9) == -1
    assert not MirrorLag().caught_up


def test_moments_are_bounded_and_the_lag_never_reads_too_small() -> None:
    lag, clock = MirrorLag(), SourceClock()
    for at in range(10 * MOMENTS_MAX):
        hear(lag, clock, at + 1, source=at, here=at)
    now = 10 * MOMENTS_MAX - 1
    for held in range(0, now, 100):
        lag.mirror_at(held)
        found = lag.milliseconds(now)
        assert found == -1 or found >= now - held + 1
    lag.mirror_at(now + 1)
    assert lag.milliseconds(now) == 0


def test_a_source_that_comes_back_with_less_is_believed() -> None:
    lag, clock = MirrorLag(), SourceClock()
    hear(lag, clock, 10, source=1, here=1)
    hear(lag, clock, 4, source=2, here=2)
    lag.mirror_at(4)
    assert lag.caught_up
    assert lag.records(4) == 0


def test_bytes_are_what_the_source_has_and_what_is_not_held_yet() -> None:
    lag, clock = MirrorLag(), SourceClock()
    assert lag.bytes() == -1
    hear(lag, clock, 10, source=1, here=1, bytes_ahead=1_000)
    assert lag.bytes() == 1_000
    lag.received(4, 400)
    hear(lag, clock, 10, source=2, here=2, bytes_ahead=600)
    assert lag.bytes() == 1_000, "received is not held"
    lag.mirror_at(3)
    assert lag.bytes() == 1_000
    lag.mirror_at(4)
    assert lag.bytes() == 600
    lag.received(8, 500)
    lag.subscribed(4)
    assert lag.bytes() == 600, "it will come again"
    hear(lag, clock, 10, source=3, here=3)
    assert lag.bytes() == -1


def test_the_lag_behind_the_origin_is_the_sources_own_and_the_age_of_what_is_held() -> None:
    lag, clock = MirrorLag(), SourceClock()
    hear(lag, clock, 5, source=100, here=1_000, origin_lag_ms=40)
    lag.mirror_at(5)
    assert behind_origin(lag, 1_000) == 40
    hear(lag, clock, 9, source=200, here=1_100, origin_lag_ms=10)
    lag.mirror_at(7)
    assert lag.milliseconds(1_100) == 100
    assert behind_origin(lag, 1_100) == 140, "what is held is of the time before"
    lag.mirror_at(9)
    assert behind_origin(lag, 1_100) == 10
    hear(lag, clock, 9, source=5_200, here=6_100, origin_lag_ms=5_000)
    lag.mirror_at(9)
    assert behind_origin(lag, 6_100) == 5_000, "nothing new comes to the source itself"
    hear(lag, clock, 9, source=5_300, here=6_200, origin_lag_ms=-1)
    lag.mirror_at(9)
    assert behind_origin(lag, 6_200) == -1


def test_behind_the_origin_records_and_bytes_are_the_sources_own_and_what_it_lacks_itself() -> None:
    lag, clock = MirrorLag(), SourceClock()
    clock.update(1, 1)
    lag.source_at(1, OffsetBounds(0, 10, 10, 700, BehindOrigin(5, 3, 200)), clock)
    assert lag.behind_origin(6, 1)[1:] == (4 + 3, 700 + 200, False)
    clock.update(2, 2)
    lag.source_at(
        2, OffsetBounds(0, 10, 10, 700, BehindOrigin(5, 3, -1, is_lower_bound=True)), clock
    )
    assert lag.behind_origin(6, 2)[1:] == (4 + 3, -1, True)


def test_where_nobody_tells_any_more_the_clock_stands_still_and_the_rest_is_a_lower_bound() -> None:
    lag, clock = MirrorLag(), SourceClock()
    assert not lag.is_lower_bound, "it is unknown"
    hear(lag, clock, 7, source=500, here=1_000)
    lag.mirror_at(7)
    lag.freeze()
    hear(lag, clock, None, source=60_500, here=61_000)  # of another partition
    assert (lag.records(7), lag.is_lower_bound) == (0, True)
    assert (lag.milliseconds(61_000), lag.since_told(61_000), lag.moment()) == (60_000, 60_000, 500)
    hear(lag, clock, 9, source=61_500, here=62_000)
    assert (lag.records(7), lag.is_lower_bound) == (2, False)
    assert lag.milliseconds(62_000) == 61_000, "what was between is not known to be held"
    lag.mirror_at(9)
    assert (lag.milliseconds(62_000), lag.moment()) == (0, 61_500)
