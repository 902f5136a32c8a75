"""An exception of a request that only reads ends its connection; of another one, it is the node's."""

import pytest

from brokers.effects import Changed, Effect, Hangup
from brokers.events import Request
from brokers.ids import Instant
from brokers.node.read_only import READ_ONLY, contained
from brokers.wire.messages.api_keys import ApiKey
from tests.unit.brokers.api.whole import NOW


def raising(request: Request, now: Instant) -> list[Effect]:
    raise KeyError("no such entry")


def asked(key: ApiKey) -> list[Effect]:
    return contained({key: raising})[key](Request(7, key, 0, "client", "host", None), NOW)


@pytest.mark.parametrize("key", sorted(READ_ONLY))
def test_one_that_only_reads_ends_its_connection_and_is_told_with_its_trace(key: ApiKey) -> None:
    changed, hangup = asked(key)
    assert isinstance(changed, Changed) and isinstance(hangup, Hangup)
    assert (changed.what, changed.to) == ("request", "failed")
    assert "KeyError: 'no such entry'" in changed.why and "in raising" in changed.why
    assert (hangup.ticket, hangup.reason) == (7, f"{key.name} raised KeyError('no such entry')")


@pytest.mark.parametrize("key", [ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.OFFSET_COMMIT])
def test_one_that_changes_something_is_not_kept_from_ending_the_node(key: ApiKey) -> None:
    with pytest.raises(KeyError):
        asked(key)
