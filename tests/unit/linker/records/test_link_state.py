"""The table of a link's life, and its record."""

from hypothesis import given
from hypothesis import strategies as st

from linker.errors import LINK_HINTS, LinkError
from linker.records.link_state import TRANSITIONS, LinkRecord, LinkState, LinkTrigger, decode_link

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def test_the_table_is_total() -> None:
    assert set(TRANSITIONS) == {(state, trigger) for state in LinkState for trigger in LinkTrigger}
    assert set(LINK_HINTS) == set(LinkError)


def test_a_paused_link_leaves_that_state_by_resuming_only() -> None:
    leaving = [
        trigger
        for trigger in LinkTrigger
        if TRANSITIONS[LinkState.PAUSED, trigger] is not LinkState.PAUSED
    ]
    assert leaving == [LinkTrigger.RESUME]


def test_a_welcome_heals_whatever_was_wrong() -> None:
    for state in (LinkState.UNAVAILABLE, LinkState.FAILED, LinkState.UNKNOWN):
        assert TRANSITIONS[state, LinkTrigger.WELCOMED] is LinkState.ACTIVE


@given(TEXT, TEXT, TEXT, st.dictionaries(TEXT, TEXT, max_size=4), st.integers(0, 2**62))
def test_a_record_comes_back_as_it_was(
    name: str, link_id: str, source: str, configs: dict[str, str], at: int
) -> None:
    record = LinkRecord(name, link_id, source, configs, at)
    assert decode_link(name, record.encode()) == record
