"""What keeps a broker's process from starting, said before anything is touched."""

import asyncio
import gc
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from brokers.config.broker_config import ConfigError, from_settings
from brokers.effects import Changed, Serve
from brokers.ids import Peer
from brokers.shell.binding import bind
from brokers.shell.clock import Clock
from brokers.shell.memory import collector_paused
from brokers.shell.node import Node
from brokers.shell.process import NoServices, open_when_serving, run_node
from brokers.storage.storage import Storage
from tests.sim.files import SimFiles
from tests.unit.brokers.shell.test_node import Recorder


@pytest.mark.parametrize("listener", ["link.listener", "admin.listener"])
def test_a_listener_that_nobody_would_serve_is_refused(tmp_path: Path, listener: str) -> None:
    directory = tmp_path / "data"
    settings = {"node.id": 1, "log.dirs": str(directory), listener: "127.0.0.1:0"}
    with pytest.raises(ConfigError, match=f"{listener}: only `causeway node run`"):
        asyncio.run(run_node(from_settings(settings), NoServices))
    assert not directory.exists()


def test_a_port_in_use_is_refused_by_the_setting_that_names_it(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listener = f"PLAINTEXT://127.0.0.1:{taken.getsockname()[1]}"
        settings = {"node.id": 1, "log.dirs": str(tmp_path / "data"), "listeners": listener}
        with pytest.raises(ConfigError, match=r"listeners: can't listen"):
            asyncio.run(run_node(from_settings(settings), NoServices))
    assert not (tmp_path / "data").exists()


def test_port_0_becomes_the_one_that_clients_are_told(tmp_path: Path) -> None:
    settings = {
        "node.id": 1,
        "log.dirs": str(tmp_path),
        "listeners": "PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:0",
    }
    bound, config = bind(from_settings(settings))
    with bound["PLAINTEXT"], bound["CONTROLLER"]:
        assert config.advertised_address == bound["PLAINTEXT"].getsockname()
        assert config.controller_address == bound["CONTROLLER"].getsockname()
        assert config.voters == (Peer(1, *bound["CONTROLLER"].getsockname()),)
        assert config.advertised_address.port > 0


def test_no_port_is_kept_when_one_is_refused(tmp_path: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        socket.create_server(("127.0.0.1", 0)) as free,
    ):
        port = free.getsockname()[1]
        free.close()
        listeners = f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{taken.getsockname()[1]}"
        settings = {"node.id": 1, "log.dirs": str(tmp_path / "data"), "listeners": listeners}
        with pytest.raises(ConfigError, match=r"listeners: can't listen on CONTROLLER"):
            bind(from_settings(settings))
        socket.create_server(("127.0.0.1", port)).close()


def test_the_listener_is_open_before_anybody_can_hear_that_the_node_serves(tmp_path: Path) -> None:
    settings = {
        "node.id": 1,
        "log.dirs": str(tmp_path),
        "listeners": "PLAINTEXT://127.0.0.1:0",
    }
    bound, config = bind(from_settings(settings))
    told = Changed("controller", "told")  # in the same step

    async def play() -> None:
        node = Node(Recorder(lambda event: [Serve(), told]), Storage(SimFiles()), Clock())
        open_when_serving(node, [bound["PLAINTEXT"]], 10)
        node.perform[Changed] = lambda _: socket.create_connection(
            config.advertised_address
        ).close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(config.advertised_address)
        node.feed("go on")
        assert node.serving.done() and not node.stopped.done()
        await node.stop()

    with bound["PLAINTEXT"]:
        asyncio.run(play())


def test_a_node_loads_nothing_that_only_its_cleaners_need() -> None:
    program = "import sys, federation.shell.node; print('LOADED', *{'numpy'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["LOADED"]


def test_the_collector_rests_while_modules_are_loaded_and_no_longer() -> None:
    with collector_paused():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_the_collector_goes_on_where_a_module_cannot_be_loaded() -> None:
    with pytest.raises(ImportError), collector_paused():
        raise ImportError
    assert gc.isenabled()
