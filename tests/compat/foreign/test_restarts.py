"""All that other people's clients were told is stored is read at its place, whoever ends under them."""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.compat.events import TIMEOUT_S, Program, places
from tests.compat.foreign import clients
from tests.process.ledger import create_topic
from tests.process.members import Members

NODES, PARTITIONS = 3, 3
COUNT, PAUSE_MS = 1_500, 4


@pytest.fixture(scope="module")
def region(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Members]:
    members = Members(tmp_path_factory.mktemp("region"), NODES)
    members.up()
    yield members
    members.down()


# kafkajs' consumer gives up now and then on a busy machine, and begins anew after a while: not a thing for CI.
CLIENTS = [clients.franz, pytest.param(clients.kafkajs, marks=pytest.mark.soak)]


@pytest.mark.parametrize("client", CLIENTS)
def test_what_is_acknowledged_is_read_while_leaders_end(
    region: Members, client: Callable[[], list[str]], tmp_path: Path
) -> None:
    try:
        command = client()
    except clients.Unavailable as reason:
        pytest.skip(str(reason))
    topic = f"for-{client.__name__}"
    create_topic(region.bootstrap, topic, PARTITIONS, replicas=NODES, min_insync_replicas="2")
    region.wait_in_sync(topic, PARTITIONS)
    words = [region.bootstrap, topic, f"{topic}-readers", str(COUNT), str(PAUSE_MS)]
    program = Program(tmp_path, client.__name__, [*command, *words])
    try:
        program.wait_for("producer_send_success", COUNT // 5)
        for done, how in ((2, signal.SIGKILL), (3, signal.SIGTERM)):
            leader = region.leader(topic, 0)
            region.end(leader, how)
            region.leader(topic, 0, other_than=leader)
            program.wait_for("producer_send_success", COUNT * done // 5)
            region.up()
            region.wait_in_sync(topic, PARTITIONS)
        assert program.process.wait(TIMEOUT_S) == 0, program.complaints
    finally:
        program.process.kill()
    sent = program.events("producer_send_success")
    assert program.events("producer_send_error") == []
    assert sorted(int(event["value"]) for event in sent) == list(range(COUNT))
    read = places(program.events("record_data"))
    assert places(sent) == read
    assert all(len(found) == 1 for found in read.values())
