"""A clean shutdown says whose it was, once, and never after a crash."""

import pytest

from brokers.effects import KeepBrokerEpoch
from brokers.log.checkpoints import CLEAN_SHUTDOWN, parse_clean_shutdown
from brokers.log.storage import Storage
from tests.sim.files import SimFiles


def test_the_next_start_knows_under_which_broker_epoch_it_ended() -> None:
    files = SimFiles()
    first = Storage(files)
    assert first.previous_broker_epoch == -1
    first.perform(KeepBrokerEpoch(41), 0)
    first.perform(KeepBrokerEpoch(77), 0)
    assert not files.exists(CLEAN_SHUTDOWN)
    first.close()
    assert bytes(files.read(CLEAN_SHUTDOWN, 0, 100)) == b'{"version":0,"brokerEpoch":77}'
    second = Storage(files)
    assert second.previous_broker_epoch == 77
    assert Storage(files).previous_broker_epoch == -1  # the second never got to its end


def test_a_shutdown_under_no_broker_epoch_says_so() -> None:
    files = SimFiles()
    Storage(files).close()
    assert Storage(files).previous_broker_epoch == -1


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"{}", b'{"brokerEpoch":"7"}', b"\xff"])
def test_a_marker_that_names_no_broker_epoch_names_none(data: bytes) -> None:
    assert parse_clean_shutdown(data) == -1
