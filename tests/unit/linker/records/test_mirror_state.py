"""The tables of a mirror topic's life, and its record."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from linker.errors import MIRROR_HINTS, MirrorError
from linker.records.link_state import LinkState
from linker.records.mirror_record import (
    TRANSITION_ERRORS_MAX,
    Asked,
    Cut,
    CutKind,
    CutPartition,
    MirrorRecord,
    RestorePoint,
    TopicSpec,
    TransitionError,
    decode_mirror,
)
from linker.records.mirror_state import (
    CATEGORIES,
    LIVE,
    SHOWN,
    STORED,
    TRANSITIONS,
    MirrorState,
    MirrorTrigger,
)

NUMBERS = st.integers(-1, 2**62)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
CUTS = st.builds(
    Cut,
    st.sampled_from(CutKind),
    NUMBERS,
    st.lists(st.builds(CutPartition, NUMBERS, NUMBERS, NUMBERS, NUMBERS), max_size=3).map(tuple),
)
RECORDS = st.builds(
    MirrorRecord,
    topic=TEXT,
    link=TEXT,
    source_topic=TEXT,
    source_topic_id=st.uuids(),
    created_at=NUMBERS,
    state=st.sampled_from(STORED),
    since=NUMBERS,
    generation=NUMBERS,
    error=st.sampled_from(MirrorError),
    reason=TEXT,
    stop=st.none() | st.sampled_from(CutKind),
    stop_by=NUMBERS,
    fenced_at=NUMBERS,
    known_at=NUMBERS,
    source_generation=NUMBERS,
    spec=st.builds(TopicSpec, st.lists(st.tuples(TEXT, TEXT), max_size=2).map(tuple), NUMBERS),
    cut=st.none() | CUTS,
    asked=st.none() | st.builds(Asked, TEXT, NUMBERS, TEXT, TEXT),
    restore=st.lists(st.builds(RestorePoint, NUMBERS, NUMBERS, NUMBERS), max_size=3).map(tuple),
    transition_errors=st.lists(st.builds(TransitionError, NUMBERS, TEXT, TEXT), max_size=3).map(
        tuple
    ),
)


@given(RECORDS)
def test_a_record_comes_back_as_it_was(record: MirrorRecord) -> None:
    assert decode_mirror(record.topic, record.encode()) == record


def test_every_stored_state_is_shown_under_every_state_of_the_link() -> None:
    assert set(SHOWN) == {(state, link) for state in STORED for link in LinkState}
    assert set(CATEGORIES) == set(MirrorState)
    assert set(MIRROR_HINTS) == set(MirrorError)


def test_only_stored_states_are_entered_and_left() -> None:
    assert {state for state, _ in TRANSITIONS} | set(TRANSITIONS.values()) == set(STORED)


def test_only_a_restore_or_a_reversal_leads_out_of_stopped() -> None:
    leaving = [trigger for state, trigger in TRANSITIONS if state is MirrorState.STOPPED]
    assert leaving == [MirrorTrigger.REVERSED, MirrorTrigger.RESTORE]


def test_nothing_is_truncated_before_every_tail_is_sealed() -> None:
    entering = [key for key, to in TRANSITIONS.items() if to is MirrorState.PENDING_RESTORE]
    assert entering == [(MirrorState.PENDING_SETUP_FOR_RESTORE, MirrorTrigger.SEALED)]


def test_failover_is_possible_from_every_live_state() -> None:
    assert {state for state, trigger in TRANSITIONS if trigger is MirrorTrigger.FAILOVER} == set(
        LIVE
    )


def test_only_a_cut_makes_a_topic_writable() -> None:
    entering = [key for key, target in TRANSITIONS.items() if target is MirrorState.STOPPED]
    assert entering == [(MirrorState.PENDING_STOPPED, MirrorTrigger.CUT)]


def test_every_stored_state_can_be_reached() -> None:
    reached = {MirrorState.ACTIVE}
    while more := {to for (state, _), to in TRANSITIONS.items() if state in reached} - reached:
        reached |= more
    assert reached == set(STORED)


def test_the_newest_transition_errors_are_kept() -> None:
    record = MirrorRecord(
        topic="t",
        link="l",
        source_topic="t",
        source_topic_id=UUID(int=1),
        created_at=0,
        state=MirrorState.ACTIVE,
        since=0,
    )
    for at in range(25):
        record = record.with_error(TransitionError(at, "TIMEOUT_ERROR", "late"))
    kept = [one.at for one in record.transition_errors]
    assert kept == list(range(25 - TRANSITION_ERRORS_MAX, 25))


def test_what_is_missing_beyond_a_cut_is_unknown_where_the_source_never_spoke() -> None:
    assert CutPartition(5, -1, -1, 1).missing == -1
    assert CutPartition(5, 9, 0, 1).missing == 4
    assert CutPartition(5, 3, 0, 1).missing == 0
