"""MetadataPublisher change nothing by themselves, and a result fits what was asked."""

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from brokers.errors import Refusal
from brokers.metadata.commands.commands import Command
from brokers.metadata.image.snapshot import records_of
from tests.playbooks.metadata.asks import commands
from tests.unit.brokers.metadata.images import Region


@given(st.lists(commands, min_size=1, max_size=8))
def test_deciding_changes_nothing_until_the_records_are_replayed(asked: list[Command]) -> None:
    region = Region()
    for command in asked:
        before = list(records_of(region.image))
        with suppress(Refusal):
            region.decide(command)
        assert list(records_of(region.image)) == before
        with suppress(Refusal):
            region.do(command)


@given(commands)
def test_a_refusal_names_an_error_and_says_why(command: Command) -> None:
    region = Region()
    refusals = []
    try:
        region.decide(command)
    except Refusal as refusal:
        refusals.append(refusal)
    assert all(refusal.error and refusal.because for refusal in refusals)
