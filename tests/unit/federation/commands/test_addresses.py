"""How commands are told which region they speak to: what is wrong is refused before anybody is asked."""

import socket
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from brokers.errors import KafkaError
from brokers.wire.messages.cluster import DescribeClusterResponse
from federation.cli import main
from federation.commands.region.client import Client
from linker.shell.administrator import find_endpoint
from linker.shell.discovery import DiscoveryError
from tests.unit.federation.commands.broker_double import broker_double

ASKS_KAFKA = ("region", "describe")
ASKS_ADMINISTRATION = ("link", "list")
both = pytest.mark.parametrize("command", [ASKS_KAFKA, ASKS_ADMINISTRATION])
WRONG = ["127.0.0.1", "127.0.0.1:port", "127.0.0.1:99999", "127.0.0.1:0", ":9092", "h:1,h", "", ","]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@both
@pytest.mark.parametrize("address", WRONG)
def test_an_address_that_is_none_was_asked_wrongly(command: tuple[str, ...], address: str) -> None:
    ran = run(*command, "--bootstrap-server", address)
    assert ran.exit_code == 2
    assert "is not HOST:PORT." in ran.output


@both
@pytest.mark.parametrize("address", ["127.0.0.1:1", " 127.0.0.1:1 , 127.0.0.1:1,", "[::1]:1"])
def test_an_address_where_nobody_listens_does_not_answer(
    command: tuple[str, ...], address: str
) -> None:
    assert run(*command, "--bootstrap-server", address).exit_code == 4


@both
@pytest.mark.parametrize("name", ["--dir", "--region"])
def test_half_of_another_region_beside_an_address_is_refused(
    command: tuple[str, ...], name: str, tmp_path: Path
) -> None:
    ran = run(*command, "--bootstrap-server", "127.0.0.1:1", name, str(tmp_path))
    assert ran.exit_code == 2, "it would have been ignored, and another region changed"
    assert "Give --bootstrap-server, or --dir and --region." in ran.output


def test_who_accepts_and_never_answers_is_given_up_for_the_next() -> None:
    with socket.create_server(("127.0.0.1", 0)) as frozen:
        address = f"127.0.0.1:{frozen.getsockname()[1]}"
        with pytest.raises(DiscoveryError) as failure:
            find_endpoint(f"{address},127.0.0.1:1", timeout_seconds=0.05)
    assert f"{address} does not answer within 0.05 s; 127.0.0.1:1 does not accept" in str(
        failure.value
    )


def test_a_broker_that_is_frozen_is_given_up_for_the_next_before_it_is_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as frozen, broker_double({}) as broker:
        bootstrap = f"127.0.0.1:{frozen.getsockname()[1]},{broker.bootstrap}"
        with Client(bootstrap, connect_seconds=0.05) as client:
            assert client.address == broker.bootstrap


def test_a_broker_that_is_too_old_and_a_controller_are_told_apart() -> None:
    """Both answer, and neither describes a region to clients."""
    mismatch = DescribeClusterResponse(error_code=KafkaError.MISMATCHED_ENDPOINT_TYPE)
    with broker_double({}) as old, broker_double({60: (2, lambda _: mismatch)}) as controller:
        too_old = old.run("region", "describe")
        no_broker = controller.run("region", "describe")
    assert (too_old.exit_code, no_broker.exit_code) == (1, 1)
    assert "Next: upgrade it; this needs Kafka 2.8 or newer" in too_old.output
    assert "not the one for controllers" in no_broker.output
